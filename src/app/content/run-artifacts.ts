/** The artifacts of a run: those of its own steps, and those of the steps that it reuses from an earlier run. */
import { jobName, type JobState } from "../../../actors/job/state.ts";
import type { StepState } from "../../../actors/step/state.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { ArtifactId, JobRunId, RunId } from "../../domain/ids.ts";
import { stepName } from "../../../actors/job/step-name.ts";
import type { ArtifactRecord, ArtifactSummary } from "../../stores/ports/artifacts.ts";
import { readBlob } from "./content.ts";
import type { WithStores } from "../context.ts";
import { noRun } from "../lookups.ts";

export interface RunArtifact {
  readonly artifact: ArtifactSummary;
  readonly jobId: JobRunId;
  /** With the values of the matrix cell, if there is one. */
  readonly jobName: string;
  /** The job's name in the definition. */
  readonly baseName: string;
  readonly stepName: string;
  /** True for the newest attempt of the job. */
  readonly isNewest: boolean;
}

/**
 * Artifacts in the order in which their uploads began, including unfinished uploads and expired artifacts. Throws
 * `not_found` for an unknown run.
 */
export async function artifactsOfRun(
  { stores }: WithStores<"aggregates" | "plans" | "artifacts">,
  runId: RunId,
): Promise<readonly RunArtifact[]> {
  const [aggregate, plan] = await Promise.all([stores.aggregates.load(runId), stores.plans.loadPlan(runId)]);
  if (aggregate === undefined || plan === undefined) throw noRun(runId, undefined);
  const jobs = aggregate.actors.flatMap(({ kind, state }) => (kind === "job" ? [state as JobState] : []));
  const steps = aggregate.actors.flatMap(({ kind, state }) => (kind === "step" ? [state as StepState] : []));
  const jobOf = new Map(jobs.map((job) => [job.jobId, job]));
  const retried = new Set(jobs.map(({ retryOf }) => retryOf));
  const stepOf = new Map(steps.map((step) => [step.reusedFrom ?? step.stepRunId, step]));
  const reused = steps.flatMap(({ reusedFrom }) => (reusedFrom === null ? [] : [reusedFrom]));
  const [own, earlier] = await Promise.all([stores.artifacts.ofRun(runId), stores.artifacts.ofSteps(reused)]);
  return [...earlier, ...own].flatMap((artifact): RunArtifact[] => {
    const step = stepOf.get(artifact.stepRunId);
    const job = step && jobOf.get(step.jobId);
    const planned = job && plan.jobs[job.index];
    if (step === undefined || job === undefined || planned === undefined) return [];
    return [
      {
        artifact,
        jobId: job.jobId,
        jobName: jobName(planned, job),
        baseName: planned.baseName,
        stepName: stepName(planned.steps[step.index], job.matrix),
        isNewest: !retried.has(job.jobId),
      },
    ];
  });
}

/** True when the artifact is uploaded completely and has not expired. */
export function isKept({ state, expiresAt }: ArtifactSummary, now: number): boolean {
  return state === "stored" && expiresAt > now;
}

export function noArtifact(artifactId: ArtifactId, runId: RunId): MillraceError {
  const text = `there is no artifact ${JSON.stringify(artifactId)} in run ${JSON.stringify(runId)}: it may have expired`;
  return new MillraceError("not_found", text);
}

/**
 * `length` bytes of the artifact's files, one after the other, from offset `from`. Throws `not_found` when the content
 * is gone.
 */
export function readContent(
  { stores }: WithStores<"blobs">,
  { artifactId, name }: ArtifactRecord,
  from: number,
  length: number,
): AsyncGenerator<Uint8Array, void, void> {
  return readBlob(stores.blobs, { blobId: artifactId, what: `artifact ${JSON.stringify(name)}` }, from, length);
}
