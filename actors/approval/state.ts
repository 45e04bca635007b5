/** What an approval actor remembers: one gate of one run, from when something waits for it. */
import { type ApprovalId, approvalId, type PipelineId, type ProjectId, type RunId } from "../../src/domain/ids.ts";
import type { PlannedApproval, RunPlan } from "../../src/domain/plan.ts";
import type { ApprovalStatus } from "../../src/domain/status.ts";
import type { Timer } from "../../src/domain/timer.ts";
import type { Voter } from "./messages.ts";

/** Positions in the plan; of a matrix that of its first cell. */
export type ApprovalGate = { readonly stage: number } | { readonly job: number };

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
  /** For approvers, with the values that it was asked for with. */
  readonly message: string;
  readonly requestedAt: number;
  readonly endedAt: number | null;
  /** In the order in which they came; nobody counts twice. */
  readonly approvals: readonly CastVote[];
  readonly rejection: CastVote | null;
  readonly expiryTimer: Timer | null;
}

/** The gate of a job is that of the first cell of its matrix. */
export function gateOfJob(index: number, plan: Pick<RunPlan, "jobs">): { readonly job: number } {
  const { baseName } = plan.jobs[index]!;
  return { job: plan.jobs.findIndex((job) => job.baseName === baseName) };
}

/** `stage deploy`, `job deploy`. */
export function gateName(gate: ApprovalState["gate"], plan: Pick<RunPlan, "stages" | "jobs">): string {
  return "stage" in gate ? `stage ${plan.stages[gate.stage]!.name}` : `job ${plan.jobs[gate.job]!.baseName}`;
}

/** What the plan says of it. */
export function plannedApproval(gate: ApprovalGate, plan: Pick<RunPlan, "stages" | "jobs">): PlannedApproval {
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

/** What is missing until it is approved: users who have to, and how many approvals in all. */
export function missingApprovals(
  { approvals }: Pick<ApprovalState, "approvals">,
  { required, count }: Pick<PlannedApproval, "required" | "count">,
): { readonly users: readonly string[]; readonly count: number } {
  const users = required.filter((user) => !approvals.some(({ userId, name }) => user === userId || user === name));
  return { users, count: Math.max(users.length, count - approvals.length) };
}
