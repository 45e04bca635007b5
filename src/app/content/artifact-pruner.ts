/**
 * Deletes what has expired, and what uploads have left that nobody went on with. Each step is safe to die after: the
 * record is marked, then the content goes, then the record; what is marked is found again.
 */
import { isHeld, type StepState } from "../../../actors/step/state.ts";
import type { ArtifactId, RunId } from "../../domain/ids.ts";
import type { ArtifactSummary } from "../../stores/ports/artifacts.ts";
import type { Stores } from "../../stores/ports/stores.ts";
import type { AppContext } from "../context.ts";
import { Pruner } from "../pruner.ts";

/** After so long it is looked at whether the step still runs that keeps what is being uploaded. */
export const UPLOAD_MS = 600_000;
/** Of one look; the next follows at once while there are more. */
const ARTIFACTS_A_LOOK = 100;

type Ports = Pick<AppContext, "clock" | "log"> & {
  readonly stores: Pick<Stores, "aggregates" | "artifacts" | "blobs">;
};

/** Several nodes may sweep at once: nothing is done twice that matters. */
export function artifactPruner(context: Ports): Pruner {
  const look = async () => (await pruneArtifacts(context, ARTIFACTS_A_LOOK)) === ARTIFACTS_A_LOOK;
  return new Pruner(context.log, "expired artifacts", look);
}

/** Looks at `limit` artifacts at most whose time is over, deletes those that nobody wants, and answers how many it saw. */
export async function pruneArtifacts({ stores, clock, log }: Ports, limit: number): Promise<number> {
  const now = clock.now();
  const due = await stores.artifacts.expired(now, limit);
  for (const artifact of due) {
    const { artifactId, runId, name, state } = artifact;
    if (state === "uploading" && !(await isAbandoned(stores, artifact))) {
      await stores.artifacts.extend(artifactId, now + UPLOAD_MS);
      continue;
    }
    if (!(await stores.artifacts.condemn(artifactId, now))) continue;
    await finishDeletion(stores, artifactId);
    log.info({ artifactId, runId, artifact: name, state }, "an artifact has expired and is deleted");
  }
  return due.length;
}

/** Deletes the uploads of a run whose steps are over. */
export async function dropAbandoned(stores: Ports["stores"], runId: RunId): Promise<void> {
  for (const artifact of await stores.artifacts.ofRun(runId)) {
    if (artifact.state === "uploading" && (await isAbandoned(stores, artifact))) {
      await deleteArtifactNow(stores, artifact.artifactId);
    }
  }
}

/** Deletes all that the steps of a run have kept. What is cut off may be repeated, or is finished by the sweeper. */
export async function dropArtifacts(stores: Pick<Stores, "artifacts" | "blobs">, runId: RunId): Promise<void> {
  for (const { artifactId } of await stores.artifacts.ofRun(runId)) await deleteArtifactNow(stores, artifactId);
}

/** True when the step is over, or was granted to somebody else since. */
async function isAbandoned(
  { aggregates }: Ports["stores"],
  { stepRunId, token }: Pick<ArtifactSummary, "stepRunId" | "token">,
): Promise<boolean> {
  const step = (await aggregates.findStep(stepRunId))?.actor.state as StepState | undefined;
  return step === undefined || !isHeld(step) || step.grant?.token !== token;
}

/** Deletes it whenever it expires. */
export async function deleteArtifactNow(
  stores: Pick<Stores, "artifacts" | "blobs">,
  artifactId: ArtifactId,
): Promise<void> {
  if (await stores.artifacts.condemn(artifactId, Number.MAX_SAFE_INTEGER)) await finishDeletion(stores, artifactId);
}

async function finishDeletion(
  { artifacts, blobs }: Pick<Stores, "artifacts" | "blobs">,
  artifactId: ArtifactId,
): Promise<void> {
  await blobs.delete(artifactId);
  await artifacts.remove(artifactId);
}
