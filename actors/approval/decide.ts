/**
 * The approval's decisions: names the situation, looks it up in the transition table, and returns the next state and
 * effects. Pure.
 */
import type { Decision, LocalEffect, OwedEffect } from "../../src/domain/effects.ts";
import type { LifecycleOf } from "../../src/domain/event-table/run-events.ts";
import type { Peers } from "../../src/domain/peers.ts";
import type { RunPlan } from "../../src/domain/plan.ts";
import { cellsBeside, firstAttemptId } from "../../src/planner/plan-index.ts";
import { lookUp } from "../../src/domain/transition-table.ts";
import { APPROVAL_MESSAGE_CHARS } from "../../src/planner/snapshot-size.ts";
import type { JobMessage } from "../job/messages.ts";
import { hasUnended } from "../job/matrix.ts";
import type { JobState } from "../job/state.ts";
import type { RunMessage } from "../run/messages.ts";
import type { ApprovalMessage, ApprovalResult, Vote } from "./messages.ts";
import {
  type ApprovalRequest,
  type ApprovalState,
  type CastVote,
  gateName,
  missingApprovals,
  newApproval,
  plannedApproval,
} from "./state.ts";
import { APPROVAL_TRANSITIONS, type ApprovalInput } from "./transitions.ts";

type ResultMessage = LocalEffect<RunMessage | JobMessage, never>;
type ApprovalDecision = Decision<ApprovalState, OwedEffect | ResultMessage>;

/**
 * Decides one message. `now` is the owner's clock in Unix milliseconds. Throws `IllegalTransition` where the table says
 * `never`.
 */
export function decideApproval(
  approval: ApprovalState,
  message: ApprovalMessage,
  now: number,
  plan: RunPlan,
  peers: Peers,
): ApprovalDecision {
  const voted = message.type === "approve" ? withVote(approval, message, now) : approval;
  const input = inputOf(approval, voted, message, plan, peers);
  const entry = lookUp("approval", APPROVAL_TRANSITIONS, input, approval.state);
  if (entry === "late" || entry === "same") {
    return { entry, next: approval, effects: answer(approval, message, entry === "same") };
  }
  switch (input) {
    case "approve":
      return moved(voted, [publish(voted, "approved", plan, message), ...answer(voted, message, true)]);
    case "lastApproval":
      return end(voted, "approved", message, now, plan, peers);
    case "reject":
      return end({ ...approval, rejection: castOf(message as Vote, now) }, "rejected", message, now, plan, peers);
    case "expire":
      return end(approval, "expired", message, now, plan, peers);
    case "withdraw": {
      const next: ApprovalState = { ...approval, state: "cancelled", endedAt: now, expiryTimer: null };
      return moved(next, [publish(next, "cancelled", plan, message)]);
    }
    case "approveAgain":
    case "stillNeeded":
    case "staleTimer":
      throw new Error(`the transition table of the approval has no target state for ${input}`);
  }
}

/** The effects that request an approval: the actor that waits for the votes, the event, and the timer. */
export function requestApproval(
  request: ApprovalRequest,
  now: number,
  plan: RunPlan,
): readonly (OwedEffect | LocalEffect<never, ApprovalState>)[] {
  // Outputs may make the text longer than a snapshot can hold.
  const message = request.message.slice(0, APPROVAL_MESSAGE_CHARS);
  const approval = newApproval({ ...request, message }, now, plan);
  return [
    { type: "spawn", actor: { kind: "approval", id: approval.approvalId }, state: approval },
    publish(approval, "requested", plan, null),
    ...outstandingApproval(approval),
  ];
}

/** The effects that tell an emptied Redis again what it must hold for this approval: its timer. */
export function outstandingApproval({ approvalId, expiryTimer }: ApprovalState): readonly OwedEffect[] {
  if (expiryTimer === null) return [];
  return [{ type: "schedule", to: { kind: "approval", id: approvalId }, timer: "expiry", ...expiryTimer }];
}

function inputOf(
  approval: ApprovalState,
  voted: ApprovalState,
  message: ApprovalMessage,
  plan: RunPlan,
  peers: Peers,
): ApprovalInput {
  switch (message.type) {
    case "approve":
      if (voted === approval) return "approveAgain";
      return missingApprovals(voted, plannedApproval(approval.gate, plan)).count === 0 ? "lastApproval" : "approve";
    case "reject":
      return "reject";
    case "withdraw":
      return "job" in approval.gate && hasUnended(approval.gate.job, plan, peers) ? "stillNeeded" : "withdraw";
    case "timer":
      return approval.expiryTimer?.generation === message.generation ? "expire" : "staleTimer";
  }
}

/** The approval with this vote; the same object when the voter has approved before. */
function withVote(approval: ApprovalState, vote: Vote, now: number): ApprovalState {
  const { approvals } = approval;
  if (approvals.some(({ userId }) => userId === vote.voter.userId)) return approval;
  return { ...approval, approvals: [...approvals, castOf(vote, now)] };
}

function castOf({ voter, comment }: Vote, now: number): CastVote {
  return { ...voter, at: now, comment };
}

function end(
  approval: ApprovalState,
  result: ApprovalResult,
  message: ApprovalMessage,
  now: number,
  plan: RunPlan,
  peers: Peers,
): ApprovalDecision {
  const next: ApprovalState = { ...approval, state: result, endedAt: now, expiryTimer: null };
  return moved(next, [
    publish(next, result, plan, message),
    ...answer(next, message, true),
    ...tellResult(next, result, plan, peers),
  ]);
}

/**
 * Tells the run, or the jobs that wait at the gate. A job that comes to the gate later reads the state of the approval.
 */
function tellResult(
  approval: ApprovalState,
  result: ApprovalResult,
  plan: RunPlan,
  peers: Peers,
): readonly ResultMessage[] {
  const { gate, runId } = approval;
  if (!("job" in gate)) {
    return [{ type: "send", to: { kind: "run", id: runId }, message: { type: "approvalEnded", result } }];
  }
  return (
    cellsBeside(gate.job, plan)
      // No job begins before its gate opens, so these are first attempts.
      .map((index) => peers.state(firstAttemptId(runId, index, plan)) as JobState)
      .filter(({ state, place }) => state === "waiting" && place === null)
      .map(({ jobId }): ResultMessage => ({
        type: "send",
        to: { kind: "job", id: jobId },
        message: { type: "approvalEnded", result },
      }))
  );
}

function answer(approval: ApprovalState, message: ApprovalMessage, isAccepted: boolean): readonly OwedEffect[] {
  if (!("commandId" in message)) return [];
  const verdict = { outcome: isAccepted ? "accepted" : "refused", status: approval.state } as const;
  return [{ type: "answer", commandId: message.commandId, verdict }];
}

function publish(
  approval: ApprovalState,
  lifecycle: LifecycleOf<"approval">,
  plan: RunPlan,
  message: ApprovalMessage | null,
): OwedEffect {
  const { approvalId, approvals, gate, state } = approval;
  const missing = missingApprovals(approval, plannedApproval(gate, plan));
  const comment = message !== null && "comment" in message ? message.comment : "";
  return {
    type: "publish",
    event: {
      object: "approval",
      lifecycle,
      jobId: null,
      stepRunId: null,
      status: state,
      data: { approvalId, name: gateName(gate, plan), approvals: approvals.length, missing: missing.count, comment },
    },
  };
}

function moved(next: ApprovalState, effects: readonly (OwedEffect | ResultMessage)[]): ApprovalDecision {
  return { entry: "moved", next, effects };
}
