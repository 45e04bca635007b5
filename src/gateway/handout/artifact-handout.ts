/** What steps of a run are given of what its earlier steps have kept. */
import { MillraceError } from "../../domain/errors.ts";
import type { AgentId } from "../../domain/ids.ts";
import type { ArtifactRecord } from "../../stores/ports/artifacts.ts";
import type { HandoutContext } from "./context.ts";
import { artifactsOfRun, isKept } from "../../app/content/run-artifacts.ts";
import { requireHeldStep, type StepGrant } from "../held-step.ts";

export interface ArtifactSelection extends StepGrant {
  readonly name: string;
  /** A job, or one cell of a matrix; empty where one job alone keeps something of this name. */
  readonly job: string;
}

/**
 * The newest artifact of that name of the newest attempt of a job of the same run. Throws `conflict` when the agent does
 * not hold the step, or several jobs have kept one; `not_found`.
 */
export async function findKeptArtifact(
  context: HandoutContext,
  agentId: AgentId,
  { name, job, ...grant }: ArtifactSelection,
): Promise<ArtifactRecord> {
  const { runId } = await requireHeldStep(context, agentId, grant);
  const now = context.clock.now();
  const found = (await artifactsOfRun(context, runId)).filter(
    ({ artifact, isNewest, jobName, baseName }) =>
      isNewest &&
      artifact.name === name &&
      isKept(artifact, now) &&
      (job === "" || job === jobName || job === baseName),
  );
  const jobs = [...new Set(found.map(({ jobName }) => jobName))];
  if (jobs.length > 1) {
    const text = `${jobs.length} jobs have kept an artifact ${JSON.stringify(name)}: say which with \`job\`, out of ${jobs.join(", ")}`;
    throw new MillraceError("conflict", text);
  }
  const newest = found.at(-1)?.artifact;
  const record = newest && (await context.stores.artifacts.find(newest.artifactId));
  if (record === undefined) {
    const of = job === "" ? "no job of this run" : `no job ${JSON.stringify(job)} of this run`;
    throw new MillraceError("not_found", `${of} has kept an artifact ${JSON.stringify(name)}, or it has expired`);
  }
  return record;
}
