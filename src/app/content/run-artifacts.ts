/** The artifacts of a run: what its steps have kept, and what those have kept in an earlier run that were not run again. */
import { jobName, type JobState } from "../../../actors/job/state.ts";
import type { StepState } from "../../../actors/step/state.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { ArtifactId, JobRunId, RunId } from "../../domain/ids.ts";
import type { ArtifactRecord, ArtifactSummary } from "../../stores/ports/artifacts.ts";
import { readBlob } from "./content.ts";
import type { WithStores } from "../context.ts";
import { noRun } from "../find.ts";

export interface RunArtifact {
  readonly artifact: ArtifactSummary;
  readonly jobId: JobRunId;
  /** Of a matrix with the values of the cell. */
  readonly jobName: string;
  /** As the definition names the job. */
  readonly baseName: string;
  readonly stepName: string;
  /** No later attempt of the job has been made. */
  readonly isNewest: boolean;
}

/** By the time of their beginning; also what is uploading or has expired. Throws `not_found` when there is no such run. */
export async function artifactsOfRun({ stores }: WithStores<"aggregates" | "plans" | "artifacts">, runId: RunId): Promise<readonly RunArtifact[]> {
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
        stepName: planned.steps[step.index]?.name ?? "",
        isNewest: !retried.has(job.jobId),
      },
    ];
  });
}

/** True when it is whole and nobody has to delete it yet. */
export function isKept({ state, expiresAt }: ArtifactSummary, now: number): boolean {
  return state === "stored" && expiresAt > now;
}

export function noArtifact(artifactId: ArtifactId, runId: RunId): MillraceError {
  const text = `there is no artifact ${JSON.stringify(artifactId)} in run ${JSON.stringify(runId)}: it may have expired`;
  return new MillraceError("not_found", text);
}

/** A part of the content of all files, in at least one piece, which may be empty. Throws `not_found` when it is not there. */
export function readContent(
  { stores }: WithStores<"blobs">,
  { artifactId, name }: ArtifactRecord,
  from: number,
  length: number,
): AsyncGenerator<Uint8Array, void, void> {
  return readBlob(stores.blobs, { blobId: artifactId, what: `artifact ${JSON.stringify(name)}` }, from, length);
}
