/**
 * Deletes artifacts that have expired, and uploads that were abandoned. A node may die after each step of a deletion:
 * the record is marked first, then the content is deleted, then the record; a later pass finds marked records.
 */
import { isHeld, type StepState } from "../../../actors/step/state.ts";
import type { ArtifactId, RunId } from "../../domain/ids.ts";
import type { ArtifactSummary } from "../../stores/ports/artifacts.ts";
import type { Stores } from "../../stores/ports/stores.ts";
import type { WithStores } from "../context.ts";
import type { ContentContext } from "./context.ts";
import { type Ages, Pruner } from "../pruner.ts";

/** Time between two checks whether the step of an unfinished upload still runs. */
export const UPLOAD_CHECK_MS = 600_000;
/** Artifacts of one pass. */
const ARTIFACTS_PER_PASS = 100;

/** The expiry of what is being deleted. */
const BEGUN = 0;

type PrunerContext = Pick<ContentContext, "clock" | "log"> & WithStores<"aggregates" | "artifacts" | "blobs">;

/** Deletes expired artifacts on every node. Several nodes may prune at once: every step of a deletion is idempotent. */
export function artifactPruner(context: PrunerContext, ages: Ages): Pruner {
  const prune = async () =>
    (await pruneArtifacts(context, ARTIFACTS_PER_PASS, await ages.mayDelete())) === ARTIFACTS_PER_PASS;
  return new Pruner(context.log, "expired artifacts", prune);
}

/**
 * One pass over at most `limit` artifacts whose time is over: deletes each, except an upload whose step still runs,
 * which gets more time. Without `byAge` it only finishes deletions that have begun. Answers how many artifacts it found.
 */
export async function pruneArtifacts(
  { stores, clock, log }: PrunerContext,
  limit: number,
  byAge = true,
): Promise<number> {
  const now = clock.now();
  const due = await stores.artifacts.expired(byAge ? now : BEGUN, limit);
  for (const artifact of due) {
    const { artifactId, runId, name, state } = artifact;
    if (state === "uploading" && !(await isAbandoned(stores, artifact))) {
      await stores.artifacts.extend(artifactId, now + UPLOAD_CHECK_MS);
      continue;
    }
    if (!(await stores.artifacts.markDeleting(artifactId, now))) continue;
    await finishDeletion(stores, artifactId);
    log.info({ artifactId, runId, artifact: name, state }, "an artifact has expired and is deleted");
  }
  return due.length;
}

/** Deletes the unfinished uploads of a run whose steps no longer run. */
export async function deleteAbandonedUploads(stores: PrunerContext["stores"], runId: RunId): Promise<void> {
  for (const artifact of await stores.artifacts.ofRun(runId)) {
    if (artifact.state === "uploading" && (await isAbandoned(stores, artifact))) {
      await deleteArtifactNow(stores, artifact.artifactId);
    }
  }
}

/** Deletes all artifacts of a run. A call that was cut off may be repeated; else the pruner finishes it. */
export async function deleteArtifactsOfRun(stores: Pick<Stores, "artifacts" | "blobs">, runId: RunId): Promise<void> {
  for (const { artifactId } of await stores.artifacts.ofRun(runId)) await deleteArtifactNow(stores, artifactId);
}

/** True when the step is over, or is granted under another token now. */
async function isAbandoned(
  { aggregates }: PrunerContext["stores"],
  { stepRunId, token }: Pick<ArtifactSummary, "stepRunId" | "token">,
): Promise<boolean> {
  const step = (await aggregates.findStep(stepRunId))?.actor.state as StepState | undefined;
  return step === undefined || !isHeld(step) || step.grant?.token !== token;
}

/** Deletes an artifact before its expiry. Idempotent. */
export async function deleteArtifactNow(
  stores: Pick<Stores, "artifacts" | "blobs">,
  artifactId: ArtifactId,
): Promise<void> {
  if (await stores.artifacts.markDeleting(artifactId, Number.MAX_SAFE_INTEGER))
    await finishDeletion(stores, artifactId);
}

async function finishDeletion(
  { artifacts, blobs }: Pick<Stores, "artifacts" | "blobs">,
  artifactId: ArtifactId,
): Promise<void> {
  await blobs.delete(artifactId);
  await artifacts.remove(artifactId);
}
