/**
 * Records which run is deleted with one of its step runs. The step run cannot be looked up any more once its run is
 * gone; with this record a repeat of the deletion finds the run and finishes the work.
 */
import { createHash } from "node:crypto";
import type { RunId, StepRunId } from "../../domain/ids.ts";
import type { Aggregate } from "../../stores/ports/aggregates.ts";
import type { TriggeringContext } from "./context.ts";

/** Records the run under each of its step runs; called before anything of the run is removed. Idempotent. */
export async function recordDeletion({ stores, clock }: TriggeringContext, { head, actors }: Aggregate): Promise<void> {
  for (const { kind, id } of actors) {
    if (kind !== "step") continue;
    const key = keyOf(id as StepRunId);
    await stores.idempotency.claim({ key, bodyHash: "deleted", createdId: head.rootId, at: clock.now() });
  }
}

/** The run whose deletion was recorded with this step run; the deletion may be unfinished. */
export async function findDeletion({ stores }: TriggeringContext, id: StepRunId): Promise<RunId | undefined> {
  return (await stores.idempotency.find(keyOf(id)))?.createdId as RunId | undefined;
}

function keyOf(id: StepRunId): string {
  return createHash("sha256").update(`deleted/${id}`).digest("hex");
}
