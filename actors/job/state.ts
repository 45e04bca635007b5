/** What a job actor remembers: one attempt of one planned job. */
import type { AgentId, JobRunId, RunId } from "../../src/domain/ids.ts";
import type { JobStatus } from "../../src/domain/status.ts";
import type { Timer } from "../../src/domain/timer.ts";

/** `cancelling`: the running step has been asked to end. */
export const JOB_STATES = ["pending", "queued", "running", "cancelling", "success", "failed", "cancelled"] as const;
export type JobPhase = (typeof JOB_STATES)[number];

export interface JobGrant {
  readonly agentId: AgentId;
  readonly bootId: string;
  readonly requestId: string;
  readonly token: number;
}

export interface JobState {
  readonly runId: RunId;
  readonly jobId: JobRunId;
  /** Position in the plan. */
  readonly index: number;
  readonly attempt: number;
  /** The attempt before this one, or null. */
  readonly retryOf: JobRunId | null;
  readonly state: JobPhase;
  /** Why it ended as it did: `upstream_failed`, `agent_lost`, `queue_timeout`, `timeout`, `cancelled`; else empty. */
  readonly reason: string;
  readonly stageOpen: boolean;
  /** Indices of needed jobs that have not ended. */
  readonly openNeeds: readonly number[];
  readonly paused: boolean;
  readonly queuedAt: number | null;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly grant: JobGrant | null;
  /** The step that runs, or will run next. */
  readonly stepIndex: number;
  /** True while a step has been dispatched and has not ended. */
  readonly stepActive: boolean;
  /** Timers of earlier generations are void. */
  readonly generation: number;
  readonly queueTimer: Timer | null;
  /** What is left of the queue timeout while the run is paused, milliseconds. */
  readonly queueLeftMs: number | null;
  readonly timeoutTimer: Timer | null;
}

/** The status word that users see. */
export function jobStatus(state: JobPhase): JobStatus {
  return state === "cancelling" ? "running" : state;
}
