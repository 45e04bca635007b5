/** The last gates before a job is queued: an approval, and a place in its concurrency group. Pure. */
import { type GroupMember, groupNameOf } from "../../src/domain/groups.ts";
import { approvalId } from "../../src/domain/ids.ts";
import type { Peers } from "../../src/domain/peers.ts";
import type { PlannedGroup, RunPlan } from "../../src/domain/plan.ts";
import { WorkUsedUp } from "../../src/domain/work/work-budget.ts";
import type { Facts } from "../../src/planner/gate.ts";
import { resolveMessage, resolveOutput } from "../../src/planner/deferred-texts.ts";
import { requestApproval } from "../approval/decide.ts";
import { type ApprovalState, gateName, gateOfJob } from "../approval/state.ts";
import { enterGroup, leaveGroup } from "../group/membership.ts";
import { type JobDecision, type JobEffect, moved, publishWait } from "./effects.ts";
import type { ClosedGate, JobMessage } from "./messages.ts";
import type { JobState } from "./state.ts";

/**
 * The state of the approval of the job. The cells of a job that was spread need no approval: the job itself was
 * approved.
 */
export function approvalOf(
  job: JobState,
  plan: RunPlan,
  peers: Peers,
): "open" | "pending" | Extract<ClosedGate, `approval_${string}`> {
  if (plan.jobs[job.index]!.approval === null || job.cell !== null) return "open";
  switch (findApproval(job, plan, peers)?.state) {
    case undefined:
    case "pending":
      return "pending";
    case "approved":
      return "open";
    case "expired":
      return "approval_expired";
    case "rejected":
    case "cancelled":
      return "approval_rejected";
  }
}

/**
 * The group in which the job needs a place, with its name evaluated; `invalid` when the name cannot be evaluated or is
 * not valid; null for a job without a group.
 */
export function groupOf(job: JobState, plan: RunPlan, facts: Facts): PlannedGroup | "invalid" | null {
  const { group } = plan.jobs[job.index]!;
  if (group === null) return null;
  let name: string | undefined;
  try {
    name = groupNameOf(resolveOutput(group.name, facts));
  } catch (error) {
    if (!(error instanceof WorkUsedUp)) throw error;
  }
  return name === undefined ? "invalid" : { ...group, name };
}

/**
 * Lets the job wait for its approval first, then for its place. The first cell of a matrix that needs the approval
 * requests it.
 */
export function waitAtGate(job: JobState, now: number, plan: RunPlan, peers: Peers, facts: Facts): JobDecision {
  const waiting: JobState = { ...job, state: "waiting" };
  if (approvalOf(job, plan, peers) === "pending") {
    const text = gateName(gateOfJob(job.index, plan), plan);
    const published = publishWait(waiting, "approval", text);
    if (findApproval(job, plan, peers) !== undefined) return moved(waiting, [published]);
    return moved(waiting, [...requestFor(job, now, plan, facts), published]);
  }
  const group = groupOf(job, plan, facts) as PlannedGroup;
  const { place, effect } = enterGroup(memberOf(job), plan.projectId, group);
  const next: JobState = { ...waiting, place };
  return moved(next, [effect, publishWait(next, "concurrency", place.name)]);
}

/**
 * Withdraws the job from its group, or from its approval. A job that is still `pending` leaves its approval too: another cell of
 * its matrix may have requested the approval, and this job may be the last that needed it.
 */
export function leaveGates(job: JobState, plan: RunPlan, peers: Peers): readonly JobEffect[] {
  if (job.place !== null) return leaveGroup(job.place, memberOf(job));
  if (job.state !== "waiting" && job.state !== "pending") return [];
  if (plan.jobs[job.index]!.approval === null) return [];
  if (findApproval(job, plan, peers)?.state !== "pending") return [];
  const id = approvalId(job.runId, gateOfJob(job.index, plan));
  return [{ type: "send", to: { kind: "approval", id }, message: { type: "withdraw" } }];
}

/** Why a gate refuses the job; and the job, with the run that has its place in the group where that is the reason. */
export function refusalOf(
  job: JobState,
  message: JobMessage,
  plan: RunPlan,
  peers: Peers,
): { readonly reason: string; readonly job: JobState } {
  if (message.type === "placeRefused") return { reason: "group_full", job: { ...job, gaveWayTo: message.by } };
  if (message.type === "stageClosed") return { reason: message.gate, job };
  const approval = approvalOf(job, plan, peers);
  if (approval !== "open" && approval !== "pending") return { reason: approval, job };
  return { reason: peers.work?.isUsedUp === true ? "expression_limit" : "group_invalid", job };
}

function findApproval(job: JobState, plan: RunPlan, peers: Peers): ApprovalState | undefined {
  return peers.state(approvalId(job.runId, gateOfJob(job.index, plan))) as ApprovalState | undefined;
}

function requestFor({ runId, index }: JobState, now: number, plan: RunPlan, facts: Facts): readonly JobEffect[] {
  const { message, timeoutMs } = plan.jobs[index]!.approval!;
  const request = { runId, gate: gateOfJob(index, plan), message: resolveMessage(message, facts), timeoutMs };
  return requestApproval(request, now, plan);
}

function memberOf({ runId, index, cell }: JobState): GroupMember {
  return { runId, job: index, cell };
}
