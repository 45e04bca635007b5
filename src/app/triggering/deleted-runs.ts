/** Which run was deleted by one of its step runs: a repeat of the call finds what is left to do. */
import { createHash } from "node:crypto";
import type { RunId, StepRunId } from "../../domain/ids.ts";
import type { Aggregate } from "../../stores/ports/aggregates.ts";
import type { TriggeringContext } from "./context.ts";

/** Before anything of the run is removed. */
export async function rememberDeletion({ stores, clock }: TriggeringContext, { head, actors }: Aggregate): Promise<void> {
  for (const { kind, id } of actors) {
    if (kind !== "step") continue;
    const key = keyOf(id as StepRunId);
    await stores.idempotency.claim({ key, bodyHash: "deleted", createdId: head.rootId, at: clock.now() });
  }
}

/** The run that is deleted, or was to be. */
export async function findDeletion({ stores }: TriggeringContext, id: StepRunId): Promise<RunId | undefined> {
  return (await stores.idempotency.find(keyOf(id)))?.createdId as RunId | undefined;
}

function keyOf(id: StepRunId): string {
  return createHash("sha256").update(`deleted/${id}`).digest("hex");
}
