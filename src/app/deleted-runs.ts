/** What is remembered of runs that were deleted: no repeat of an earlier call brings one back. */
import { createHash } from "node:crypto";
import type { RunId, StepRunId } from "../domain/ids.ts";
import type { RunRecords } from "../stores/run-removal.ts";
import type { AppContext } from "./context.ts";

/** Before anything of the run is removed: whoever repeats the deletion by one of its step runs finds what is left to do. */
export async function rememberDeletion({ stores, clock }: AppContext, run: RunRecords): Promise<void> {
  const createdId = JSON.stringify(run);
  for (const id of [run.runId, ...run.stepRunIds]) {
    await stores.idempotency.claim({ key: keyOf(id), bodyHash: "", createdId, at: clock.now() });
  }
}

/** The run that is deleted, or was to be. */
export async function findDeletion({ stores }: AppContext, id: RunId | StepRunId): Promise<RunRecords | undefined> {
  const found = await stores.idempotency.find(keyOf(id));
  return found && (JSON.parse(found.createdId) as RunRecords);
}

function keyOf(id: string): string {
  return createHash("sha256").update(`deleted/${id}`).digest("hex");
}
