/** Approvals as messages of pipeline.v1. */
import type {
  Approval,
  ApprovalForCaller as ForCallerMessage,
  Vote,
} from "../../../proto/generated/pipeline/v1/pipeline.ts";
import type { ApprovalForCaller, ApprovalView } from "../../app/approvals/approval-view.ts";
import { unixMs } from "./fields.ts";
import { APPROVAL_STATUSES } from "./words.ts";

export function approvalForCallerMessage(approval: ApprovalForCaller): ForCallerMessage {
  const { mayDecide, whyNot } = approval;
  return { approval: approvalMessage(approval), mayDecide, whyNot: whyNot ?? "" };
}

function gateMessage(gate: ApprovalView["gate"]): Approval["gate"] {
  if ("run" in gate) return { $case: "run", value: gate.run };
  return "stage" in gate ? { $case: "stage", value: gate.stage } : { $case: "job", value: gate.job };
}

export function approvalMessage(approval: ApprovalView): Approval {
  const { gate, missing, allowed, rejection } = approval;
  return {
    approvalId: approval.approvalId,
    runId: approval.runId,
    pipelineId: approval.pipelineId,
    projectId: approval.projectId,
    gate: gateMessage(gate),
    status: APPROVAL_STATUSES[approval.status],
    message: approval.message,
    requestedAtMs: unixMs(approval.requestedAt),
    expiresAtMs: unixMs(approval.expiresAt),
    endedAtMs: unixMs(approval.endedAt),
    approvals: approval.approvals.map(voteMessage),
    rejection: rejection === null ? undefined : voteMessage(rejection),
    required: [...approval.required],
    count: approval.count,
    missing: missing.count,
    missingUsers: [...missing.users],
    allowedUsers: [...allowed.users],
    allowedRoles: [...allowed.roles],
    preventSelf: approval.preventSelf,
  };
}

function voteMessage({ userId, name, at, comment }: ApprovalView["approvals"][number]): Vote {
  return { userId, name, atMs: unixMs(at), comment };
}
