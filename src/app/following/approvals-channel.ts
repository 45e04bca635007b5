/** All approvals that the client may see: the state of each, whenever it changes. */
import { z } from "zod";
import type { ApprovalState } from "../../../actors/approval/state.ts";
import { asId, type ProjectId, type TenantId } from "../../domain/ids.ts";
import { APPROVAL_STATUSES } from "../../domain/status.ts";
import { voteView } from "../approvals/approval-view.ts";
import { rfc3339 } from "../times.ts";
import { someOf } from "../shapes.ts";
import { idParam, liveChannel, type LiveMessage, revisionParam, SUBSCRIBED } from "./live-channel.ts";
import { projectSight } from "./project-sight.ts";
import { followStates, type StateUpdate } from "./state-updates.ts";

export const APPROVALS_CHANNEL = liveChannel({
  name: "approvals",
  about: "Follows the approvals that the caller may see: those that wait for a decision, then each change.",
  params: z.strictObject({
    tenantId: idParam.optional(),
    projectId: idParam.optional(),
    pipelineId: idParam.optional(),
    status: someOf(APPROVAL_STATUSES).optional(),
    after: revisionParam.optional(),
  }),
  async *follow({ context, approvals }, caller, { params, abort }) {
    const { tenantId, projectId, pipelineId, status: wanted, after = "" } = params;
    const sees = projectSight(context, caller, "readApprovals", {
      tenantId: tenantId === undefined ? undefined : asId<TenantId>(tenantId),
      projectId: projectId === undefined ? undefined : asId<ProjectId>(projectId),
    });
    const updates = followStates(approvals, {
      revision: after,
      abort,
      keyOf: ({ approvalId }) => approvalId,
      isOver: ({ state }) => state !== "pending",
      sees: (approval) => (pipelineId === undefined || approval.pipelineId === pipelineId) && sees(approval.projectId),
      wants: wanted === undefined ? undefined : ({ state }) => wanted.has(state),
    });
    yield SUBSCRIBED;
    for await (const update of updates) yield messageOf(update);
  },
});

function messageOf(update: StateUpdate<ApprovalState>): LiveMessage {
  const { revision: after } = update;
  if (update.type !== "change") return { type: update.type, json: "null", after };
  const { state: approval, isRemoved } = update.change;
  const { approvalId } = approval;
  if (isRemoved) return { type: "removed", json: JSON.stringify({ approvalId }), after };
  return { type: "approval", json: JSON.stringify(viewOf(approval)), after };
}

/** Without what only the plan of the run says: a plan may be large, and a feed follows the approvals of many runs. */
function viewOf({ approvalId, runId, pipelineId, projectId, state, message, ...approval }: ApprovalState) {
  return {
    approvalId,
    runId,
    pipelineId,
    projectId,
    status: state,
    message,
    requestedAt: rfc3339(approval.requestedAt),
    expiresAt: rfc3339(approval.expiryTimer?.dueAt ?? null),
    endedAt: rfc3339(approval.endedAt),
    approvals: approval.approvals.map(voteView),
    rejection: approval.rejection === null ? null : voteView(approval.rejection),
  };
}
