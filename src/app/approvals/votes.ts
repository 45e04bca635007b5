/** Approve and reject: commands in the inbox of the run, which the approval decides. */
import { z } from "zod";
import { gateName } from "../../../actors/approval/state.ts";
import type { VoteCommand } from "../../domain/commands.ts";
import { MillraceError } from "../../domain/errors.ts";
import { type ApprovalId, newId, type PipelineId, type RunId } from "../../domain/ids.ts";
import { authoriseVote, type Caller, type UserCaller } from "../identity/access.ts";
import type { Vote } from "../identity/voting-rights.ts";
import {
  type ApprovalForCaller,
  approvalForCaller,
  approvalsOf,
  type ApprovalSource,
  votingRule,
} from "./approval-view.ts";
import { verdictOn } from "../commands/commands.ts";
import type { ApprovalsContext } from "./context.ts";
import { isOfPipeline, findPlan, noRun } from "../lookups.ts";
import { reach } from "../reaching.ts";
import { claimRequest } from "../request-ids.ts";

export const voteBody = z.strictObject({
  comment: z.string().max(2_000).optional(),
  requestId: z.string().max(200).optional(),
});

export interface VoteRequest extends z.output<typeof voteBody> {
  /** Absent for a run of any pipeline. */
  readonly pipelineId?: PipelineId;
  readonly runId: RunId;
  readonly approvalId: ApprovalId;
}

/**
 * Answers with the approval after the vote: it is still `pending` while other users have to approve too. A second
 * approval by the same user changes nothing. Throws `not_found`, also for an approval that the run has not requested
 * yet; `forbidden`, which names who may vote; `conflict` with the status when the approval has ended otherwise; and
 * `unavailable` when the approval has not decided within 5 s: the vote is then stored, and safe to repeat with the same
 * `requestId`.
 */
export function approve(context: ApprovalsContext, caller: Caller, input: VoteRequest): Promise<ApprovalForCaller> {
  return vote(context, caller, "approve", input);
}

/** As {@link approve}; one rejection ends the approval, however many users have approved. */
export function reject(context: ApprovalsContext, caller: Caller, input: VoteRequest): Promise<ApprovalForCaller> {
  return vote(context, caller, "reject", input);
}

async function vote(
  context: ApprovalsContext,
  caller: Caller,
  kind: Vote,
  input: VoteRequest,
): Promise<ApprovalForCaller> {
  const { user, found: source } = await reach(context, caller, "decideApprovals", {
    find: () => findApproval(context, input),
    projectOf: ({ approval }) => approval.projectId,
    missing: () => noRun(input.runId, input.pipelineId),
  });
  authoriseVote(user, kind, votingRule(source));
  const { id, repeated } = await claimRequest(context, {
    caller: user,
    scope: `${kind}/${input.approvalId}`,
    requestId: input.requestId,
    body: input,
    freshId: () => newId("cmd"),
  });
  const known = repeated ? await context.stores.inbox.verdict(id) : undefined;
  if (known !== undefined) user.trail?.changedNothing();
  const after = { runId: input.runId, decision: kind };
  const order = { by: user, change: { kind: "approval", id: input.approvalId, after } as const };
  const command = { id, rootId: input.runId, body: bodyOf(kind, input, user), order };
  const verdict = await verdictOn(context, command, known);
  if (verdict.outcome === "refused") {
    const gate = gateName(source.approval.gate, source.plan);
    throw new MillraceError("conflict", `cannot ${kind} ${gate}: its approval is ${verdict.status}`);
  }
  return approvalForCaller(await findApproval(context, input), user);
}

function bodyOf(kind: Vote, { approvalId, comment = "" }: VoteRequest, { userId, name }: UserCaller): VoteCommand {
  return { kind, approvalId, voter: { userId, name }, comment };
}

async function findApproval(
  context: ApprovalsContext,
  { runId, pipelineId, approvalId }: Pick<VoteRequest, "runId" | "pipelineId" | "approvalId">,
): Promise<ApprovalSource> {
  const aggregate = await context.stores.aggregates.load(runId);
  if (aggregate === undefined || !isOfPipeline(aggregate.head, pipelineId)) throw noRun(runId, pipelineId);
  const approval = approvalsOf(aggregate).find((one) => one.approvalId === approvalId);
  if (approval === undefined) {
    throw new MillraceError(
      "not_found",
      `run ${JSON.stringify(runId)} has not asked for an approval ${JSON.stringify(approvalId)}: ` +
        "a run requests an approval when everything before its gate has ended",
    );
  }
  return { approval, plan: await findPlan(context, runId), origin: aggregate.head.origin };
}
