/** The operations of pipeline.v1 on approvals. */
import type { ApproveRequest, PipelineServer, RejectRequest } from "../../proto/generated/pipeline/v1/pipeline.ts";
import { listApprovals, listApprovalsQuery, listRunApprovals } from "../app/approvals/approvals.ts";
import type { AppContext } from "../app/context.ts";
import { approve, reject, voteBody, type VoteRequest } from "../app/approvals/votes.ts";
import { asId } from "../domain/ids.ts";
import { approvalForCallerMessage } from "./messages/approval-messages.ts";
import { unary } from "./calls.ts";
import { nonEmpty, pageMessage, placedPaging } from "./messages/fields.ts";
import { pipelineFilter } from "./run-calls.ts";
import { parseMessage } from "./messages/parse-message.ts";
import { APPROVAL_STATUSES, wordOf } from "./messages/words.ts";

export function approvalCalls(
  context: AppContext,
): Pick<PipelineServer, "listApprovals" | "listRunApprovals" | "approve" | "reject"> {
  return {
    listApprovals: unary(context, async (request, { caller }) => {
      const query = parseMessage(listApprovalsQuery, {
        ...placedPaging(request),
        sort: nonEmpty(request.sort),
        status: wordOf(APPROVAL_STATUSES, request.status),
        projectId: nonEmpty(request.projectId),
        pipelineId: nonEmpty(request.pipelineId),
      });
      const found = await listApprovals(context, caller, query);
      return { approvals: found.list.map(approvalForCallerMessage), ...pageMessage(found) };
    }),

    listRunApprovals: unary(context, async ({ runId }, { caller }) => {
      const { list } = await listRunApprovals(context, caller, { runId: asId(runId) });
      return { approvals: list.map(approvalForCallerMessage) };
    }),

    approve: unary(context, async (request, { caller }) => ({
      approval: approvalForCallerMessage(await approve(context, caller, readVote(request))),
    })),

    reject: unary(context, async (request, { caller }) => ({
      approval: approvalForCallerMessage(await reject(context, caller, readVote(request))),
    })),
  };
}

function readVote({ runId, approvalId, pipelineId, comment, requestId }: ApproveRequest | RejectRequest): VoteRequest {
  const body = parseMessage(voteBody, { comment: nonEmpty(comment), requestId: nonEmpty(requestId) });
  return { ...body, ...pipelineFilter(pipelineId), runId: asId(runId), approvalId: asId(approvalId) };
}
