/** What a run actor remembers. */
import type { ApprovalId, PipelineId, ProjectId, RunId } from "../../src/domain/ids.ts";
import type { RunStatus } from "../../src/domain/status.ts";
import type { Place } from "../../src/domain/groups.ts";
import type { Timer } from "../../src/domain/timer.ts";

/** `stopping`: jobs are being cancelled, by a stop or by the pipeline's timeout. */
export const RUN_STATES = [
  "pending",
  "running",
  "paused",
  "stopping",
  "success",
  "failed",
  "cancelled",
  "partial",
] as const;
export type RunPhase = (typeof RUN_STATES)[number];

export interface RunState {
  readonly runId: RunId;
  readonly pipelineId: PipelineId;
  readonly projectId: ProjectId;
  /** The run that this one repeats, or null. */
  readonly retryOf: RunId | null;
  readonly state: RunPhase;
  /** Why it stops or failed, for people; empty while there is nothing to say. */
  readonly reason: string;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /** Position in the plan's stages of the one that is open. */
  readonly stage: number;
  /** Jobs of the open stage that have not ended. */
  readonly remainingInStage: number;
  /** Jobs of all stages that have not ended. */
  readonly remaining: number;
  /** Jobs that count as failed for the run. */
  readonly failedJobs: number;
  /** Jobs that failed with `continueOnError`. */
  readonly toleratedJobs: number;
  /** True when `stopping` was caused by the pipeline's timeout, which ends as failed. */
  readonly timedOut: boolean;
  /** Newest attempt of each job that has more than one, by job index. */
  readonly attempts: readonly (readonly [index: number, attempt: number])[];
  /** In its group; null when it has none, and once it has left. */
  readonly place: Place | null;
  /** The approval that the stage after the open one waits for. */
  readonly stageApproval: ApprovalId | null;
  readonly startTimer: Timer | null;
  readonly timeoutTimer: Timer | null;
}

/** The status word that users see. */
export function runStatus(state: RunPhase): RunStatus {
  return state === "stopping" ? "running" : state;
}
