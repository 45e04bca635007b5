/** The state of a run actor. */
import type { Timer } from "../../src/domain/effects.ts";
import type { ApprovalId, PipelineId, ProjectId, RunId, ScheduleId } from "../../src/domain/ids.ts";
import type { RunStatus } from "../../src/domain/status.ts";
import type { Place } from "../../src/domain/groups.ts";

/** `stopping`: a stop or the pipeline's timeout is cancelling the jobs. */
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
  /** The schedule that has started the run; absent without one. */
  readonly scheduleId?: ScheduleId;
  readonly state: RunPhase;
  /** Why the run stops, or why it failed, for people; empty while there is nothing to say. */
  readonly reason: string;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /** Position of the open stage in the plan; -1 before the first one opens. */
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
  /**
   * Newest attempt of each job that has more than one, by job index. The stored form leaves the list out, because it
   * grows with the run: a load derives it from the jobs.
   */
  readonly attempts: readonly (readonly [index: number, attempt: number])[];
  /** Events in the log of the run that agents have pushed about its steps; absent for none. */
  readonly pushedEvents?: number;
  /** The run's place in its group; null without a group, before it has asked, and after it has left. */
  readonly place: Place | null;
  /** The approval that the run waits for: its own while it is pending, else that of the stage after the open one; or null. */
  readonly stageApproval: ApprovalId | null;
  readonly startTimer: Timer | null;
  readonly timeoutTimer: Timer | null;
}

/** The status word that users see. */
export function runStatus(state: RunPhase): RunStatus {
  return state === "stopping" ? "running" : state;
}
