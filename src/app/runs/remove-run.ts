/** The removal of a run with all that it has left, whoever wants it: a user, or the rules of retention. */
import { adHocRevisionId, type ApprovalId, type JobRunId, type RunId, type StepRunId } from "../../domain/ids.ts";
import type { Aggregate } from "../../stores/ports/aggregates.ts";
import type { Removal } from "../../stores/ports/removals.ts";
import { dropArtifacts } from "../content/artifact-pruner.ts";
import type { WithStores } from "../context.ts";
import type { RunsContext } from "./context.ts";
import { findSuccessor, successionKey } from "./succession.ts";

/** What the removal of a run uses. */
type RemovalStores = WithStores<"artifacts" | "blobs" | "idempotency" | "inbox" | "pipelines" | "removals" | "removeRun">;

/**
 * Removes a settled run that no other one needs. Nobody sees a part of it: it is there, or it is not. What is cut off is
 * finished by the sweeper of retention, since it is noted before anything goes.
 */
export async function removeRun(context: Pick<RunsContext, "clock"> & RemovalStores, aggregate: Aggregate): Promise<void> {
  const removal = await removalOf(context, aggregate);
  await context.stores.removals.begin(removal);
  await finishRemoval(context, removal);
}

/** May be repeated, also by several at once. */
export async function finishRemoval({ stores }: RemovalStores, removal: Removal): Promise<void> {
  const { runId, succession } = removal;
  await stores.removeRun(removal);
  // After the run, so that nobody sees a part of it, and before its removal counts as finished.
  await Promise.all([
    dropArtifacts(stores, runId),
    stores.inbox.forgetAnswered(runId, Number.MAX_SAFE_INTEGER),
    // Of a rerun there is none: it has that of the first one.
    stores.pipelines.dropRevision(adHocRevisionId(runId)),
    stores.idempotency.remove(succession.key),
    succession.runId === runId ? undefined : stores.removals.drop(succession.runId),
  ]);
  await stores.removals.finish(runId);
}

/** No repeat of the call that has made it may make it again. */
export async function isRemoved({ stores }: WithStores<"removals">, runId: RunId): Promise<boolean> {
  return (await stores.removals.find(runId)) !== undefined;
}

async function removalOf(context: Pick<RunsContext, "clock"> & RemovalStores, { head, actors }: Aggregate): Promise<Removal> {
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
