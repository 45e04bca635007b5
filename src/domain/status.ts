/**
 * Status words of runs, jobs and steps with their numeric codes: the vocabulary that users see in HTTP,
 * WebSocket, gRPC and events. Source: SPEC "States and transitions".
 */

export const RUN_STATUS_CODES = {
  pending: 1,
  running: 2,
  success: 3,
  failed: 4,
  cancelled: 5,
  paused: 6,
  partial: 7,
} as const;

export const JOB_STATUS_CODES = {
  pending: 1,
  queued: 2,
  running: 3,
  success: 4,
  failed: 5,
  cancelled: 6,
} as const;

export const STEP_STATUS_CODES = {
  pending: 1,
  queued: 2,
  running: 3,
  success: 4,
  failed: 5,
  cancelled: 6,
  timeout: 7,
  skipped: 8,
} as const;

/** Approvals have status words without numeric codes. */
export const APPROVAL_STATUSES = ["pending", "approved", "rejected", "expired", "cancelled"] as const;

export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];
export type RunStatus = keyof typeof RUN_STATUS_CODES;
export type JobStatus = keyof typeof JOB_STATUS_CODES;
export type StepStatus = keyof typeof STEP_STATUS_CODES;

/** Statuses that a run never leaves. */
export const FINAL_RUN_STATUSES: readonly RunStatus[] = ["success", "failed", "cancelled", "partial"];

/** True for the statuses (codes 1, 2 and 3) in which a step still receives live events. */
export function isActiveStepStatus(status: StepStatus): boolean {
  return STEP_STATUS_CODES[status] <= STEP_STATUS_CODES.running;
}

/** True for a status that a job never leaves. */
export function isFinalJobStatus(status: JobStatus): boolean {
  return JOB_STATUS_CODES[status] >= JOB_STATUS_CODES.success;
}

/** True for a status that a run never leaves. */
export function isFinalRunStatus(status: RunStatus): boolean {
  return FINAL_RUN_STATUSES.includes(status);
}
