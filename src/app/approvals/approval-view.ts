/** Approvals as users read them, made from their states and the plan of their run. Pure. */
import type { z } from "zod";
import {
  type ApprovalState,
  type CastVote,
  type GatedPlan,
  gateName,
  missingApprovals,
  plannedApproval,
} from "../../../actors/approval/state.ts";
import type { RunPlan } from "../../domain/plan.ts";
import type { Aggregate, RunOrigin } from "../../stores/ports/aggregates.ts";
import type { ActingUser } from "../identity/access.ts";
import { type VotingRule, whyNotVote } from "../identity/voting-rights.ts";
import { rfc3339 } from "../times.ts";
import type { ApprovalForCallerShape, ApprovalShape } from "./approval-shape.ts";

export type ApprovalView = z.infer<typeof ApprovalShape>;
export type ApprovalForCaller = z.infer<typeof ApprovalForCallerShape>;

/** What the views of one approval are made from. */
export interface ApprovalSource {
  readonly approval: ApprovalState;
  readonly plan: RunPlan;
  readonly origin: RunOrigin;
}

export function approvalView(approval: ApprovalState, plan: GatedPlan): ApprovalView {
  const { approvalId, runId, pipelineId, projectId, gate, state, message, rejection, expiryTimer } = approval;
  const planned = plannedApproval(gate, plan);
  const { required, count, users, roles, preventSelf } = planned;
  return {
    approvalId,
    runId,
    pipelineId,
    projectId,
    gate: gateView(approval, plan),
    status: state,
    message,
    requestedAt: rfc3339(approval.requestedAt),
    expiresAt: rfc3339(expiryTimer?.dueAt ?? null),
    endedAt: rfc3339(approval.endedAt),
    approvals: approval.approvals.map(voteView),
    rejection: rejection === null ? null : voteView(rejection),
    required,
    count,
    missing: missingApprovals(approval, planned),
    allowed: { users, roles },
    preventSelf,
  };
}

function gateView({ runId, gate }: ApprovalState, { stages, jobs }: GatedPlan): ApprovalView["gate"] {
  if ("run" in gate) return { run: runId };
  return "stage" in gate ? { stage: stages[gate.stage]!.name } : { job: jobs[gate.job]!.baseName };
}

export function approvalForCaller(source: ApprovalSource, caller: ActingUser): ApprovalForCaller {
  const { approval, plan } = source;
  const whyNot =
    approval.state === "pending" ? whyNotVote(caller, "approve", votingRule(source)) : `it is ${approval.state}`;
  return { ...approvalView(approval, plan), mayDecide: whyNot === null, whyNot };
}

export function votingRule({ approval: { gate }, plan, origin }: ApprovalSource): VotingRule {
  return { gate: gateName(gate, plan), planned: plannedApproval(gate, plan), origin };
}

/** The approvals of a run in the order of their requests. */
export function approvalsOf({ actors }: Pick<Aggregate, "actors">): readonly ApprovalState[] {
  return actors
    .flatMap(({ kind, state }) => (kind === "approval" ? [state as ApprovalState] : []))
    .sort((a, b) => a.requestedAt - b.requestedAt || (a.approvalId < b.approvalId ? -1 : 1));
}

export function voteView({ userId, name, at, comment }: CastVote) {
  return { userId, name, at: rfc3339(at), comment };
}
