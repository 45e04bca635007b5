/**
 * The state of an approval actor: one gate of one run. The actor is made when the run or a job begins to wait at the
 * gate.
 */
import type { Timer } from "../../src/domain/effects.ts";
import { type ApprovalId, approvalId, type PipelineId, type ProjectId, type RunId } from "../../src/domain/ids.ts";
import type { PlannedApproval, RunPlan } from "../../src/domain/plan.ts";
import { cellsBeside } from "../../src/planner/plan-index.ts";
import type { ApprovalStatus } from "../../src/domain/status.ts";
import type { Voter } from "./messages.ts";

/** What is behind the gate: the run, or a stage or job by its position in the plan; for a matrix, that of its first cell. */
export type ApprovalGate = { readonly run: true } | { readonly stage: number } | { readonly job: number };

/** What rules of approvals are read from. */
export type GatedPlan = Pick<RunPlan, "approval" | "stages" | "jobs">;

export interface CastVote extends Voter {
  readonly at: number;
  readonly comment: string;
}

export interface ApprovalState {
  readonly approvalId: ApprovalId;
  readonly runId: RunId;
  readonly pipelineId: PipelineId;
  readonly projectId: ProjectId;
  readonly gate: ApprovalGate;
  readonly state: ApprovalStatus;
  /** For approvers: the text of the plan, with its expressions evaluated when the approval was requested. */
  readonly message: string;
  readonly requestedAt: number;
  readonly endedAt: number | null;
  /** In the order in which they came, at most one for each user. */
  readonly approvals: readonly CastVote[];
  readonly rejection: CastVote | null;
  readonly expiryTimer: Timer | null;
}

/** The gate of the job at `index`. All cells of a matrix share the gate of the first cell. */
export function gateOfJob(index: number, plan: Pick<RunPlan, "jobs">): { readonly job: number } {
  return { job: cellsBeside(index, plan)[0]! };
}

/** The name that users see: `the run`, `stage deploy`, `job deploy`. */
export function gateName(gate: ApprovalState["gate"], plan: Pick<RunPlan, "stages" | "jobs">): string {
  if ("run" in gate) return "the run";
  return "stage" in gate ? `stage ${plan.stages[gate.stage]!.name}` : `job ${plan.jobs[gate.job]!.baseName}`;
}

/** The rules of the plan for this gate. */
export function plannedApproval(gate: ApprovalGate, plan: GatedPlan): PlannedApproval {
  if ("run" in gate) return plan.approval!;
  return "stage" in gate ? plan.stages[gate.stage]!.approval! : plan.jobs[gate.job]!.approval!;
}

export interface ApprovalRequest {
  readonly runId: RunId;
  readonly gate: ApprovalGate;
  readonly message: string;
  readonly timeoutMs: number;
}

export function newApproval(
  { runId, gate, message, timeoutMs }: ApprovalRequest,
  now: number,
  { pipelineId, projectId }: Pick<RunPlan, "pipelineId" | "projectId">,
): ApprovalState {
  return {
    approvalId: approvalId(runId, gate),
    runId,
    pipelineId,
    projectId,
    gate,
    state: "pending",
    message,
    requestedAt: now,
    endedAt: null,
    approvals: [],
    rejection: null,
    expiryTimer: { generation: 1, dueAt: now + timeoutMs },
  };
}

/**
 * What is missing for the approval: the users who still have to approve, and the number of approvals, theirs included.
 */
export function missingApprovals(
  { approvals }: Pick<ApprovalState, "approvals">,
  { required, count }: Pick<PlannedApproval, "required" | "count">,
): { readonly users: readonly string[]; readonly count: number } {
  const users = required.filter((user) => !approvals.some(({ userId, name }) => user === userId || user === name));
  return { users, count: Math.max(users.length, count - approvals.length) };
}
