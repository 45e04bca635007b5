/** Removes a run with everything that it has left, for a user or for retention. */
import { adHocRevisionId, type ApprovalId, type JobRunId, type RunId, type StepRunId } from "../../domain/ids.ts";
import type { Aggregate } from "../../stores/ports/aggregates.ts";
import type { Removal } from "../../stores/ports/removals.ts";
import { deleteArtifactsOfRun } from "../content/artifact-pruner.ts";
import { removeWithObjects } from "../content/cold-logs.ts";
import type { WithStores } from "../context.ts";
import type { RunRemovalContext } from "./context.ts";
import { findSuccessor, successionKey } from "./succession.ts";

/**
 * Removes a settled run that no other run needs. Readers see either the whole run or no run. The removal is recorded
 * before anything is deleted, so the retention pruner finishes a removal that was cut off.
 */
export async function removeRun(context: RunRemovalContext, aggregate: Aggregate): Promise<void> {
  const removal = await removalOf(context, aggregate);
  await context.stores.removals.begin(removal);
  await finishRemoval(context, removal);
}

/**
 * Deletes what a recorded removal names, and marks the removal as finished. Idempotent; several nodes may call it at
 * once.
 */
export async function finishRemoval({ stores }: Pick<RunRemovalContext, "stores">, removal: Removal): Promise<void> {
  const { runId, succession } = removal;
  await removeWithObjects({ stores }, removal.stepRunIds, () => stores.removeRun(removal));
  // After the run, so that no reader sees a part of it, and before the removal counts as finished.
  await Promise.all([
    deleteArtifactsOfRun(stores, runId),
    stores.uploads.forgetRun(runId),
    stores.inbox.forgetAnswered(runId, Number.MAX_SAFE_INTEGER),
    // Changes nothing for a rerun, which has no ad-hoc revision of its own.
    stores.pipelines.dropRevision(adHocRevisionId(runId)),
    stores.idempotency.remove(succession.key),
    succession.runId === runId ? undefined : stores.removals.drop(succession.runId),
  ]);
  await stores.removals.finish(runId);
}

/** True when the run was removed: a repeat of the call that created it must not create it again. */
export async function isRunRemoved({ stores }: WithStores<"removals">, runId: RunId): Promise<boolean> {
  return (await stores.removals.find(runId)) !== undefined;
}

async function removalOf(context: RunRemovalContext, { head, actors }: Aggregate): Promise<Removal> {
  const idsOf = <Id extends string>(kind: string): readonly Id[] =>
    actors.flatMap((actor) => (actor.kind === kind ? [actor.id as Id] : []));
  const successor = await findSuccessor(context, head);
  return {
    runId: head.rootId,
    jobIds: idsOf<JobRunId>("job"),
    stepRunIds: idsOf<StepRunId>("step"),
    approvalIds: idsOf<ApprovalId>("approval"),
    at: context.clock.now(),
    isRepeat: head.origin.retryOf !== null,
    succession: { key: successionKey(head), runId: successor?.runId ?? head.rootId },
  };
}
