/** Downloads of artifacts: a step gets artifacts that earlier steps of its run uploaded. */
import { MillraceError } from "../../domain/errors.ts";
import type { AgentId } from "../../domain/ids.ts";
import type { ArtifactRecord } from "../../stores/ports/artifacts.ts";
import type { HandoutContext } from "./context.ts";
import { artifactsOfRun, isKept } from "../../app/content/run-artifacts.ts";
import { requireHeldStep, type StepGrant } from "../held-step.ts";

/** The artifact that a step asks for. */
export interface ArtifactSelection extends StepGrant {
  readonly name: string;
  /** Name of a job, or of one of its matrix cells; empty when only one job has an artifact of this name. */
  readonly job: string;
}

/**
 * The newest artifact of that name from the newest attempt of a job of the same run. Throws `conflict` when the agent
 * does not hold the step, and when several jobs have an artifact of that name; `not_found`.
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
    const owner = job === "" ? "no job of this run" : `no job ${JSON.stringify(job)} of this run`;
    throw new MillraceError("not_found", `${owner} has kept an artifact ${JSON.stringify(name)}, or it has expired`);
  }
  return record;
}
