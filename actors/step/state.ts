/** The state of a step actor: one attempt of one planned step. */
import { type Attempt, shownAttempt } from "../../src/domain/attempts.ts";
import { type AgentId, type JobRunId, type RunId, stepRunId, type StepRunId } from "../../src/domain/ids.ts";
import type { ResourceUsage } from "../../src/domain/resource-usage.ts";
import type { Pairs } from "../../src/domain/pairs.ts";
import type { StepStatus } from "../../src/domain/status.ts";
import type { Grant } from "./messages.ts";

/** `cancelling`: the agent has been asked to end the step. */
export const STEP_STATES = [
  "pending",
  "queued",
  "running",
  "cancelling",
  "success",
  "failed",
  "cancelled",
  "timeout",
  "skipped",
] as const;
export type StepPhase = (typeof STEP_STATES)[number];

export interface StepState {
  readonly runId: RunId;
  readonly jobId: JobRunId;
  readonly stepRunId: StepRunId;
  readonly jobIndex: number;
  /** Attempt of the job as users count it, earlier runs included. */
  readonly jobAttempt: number;
  /** Position in the job. */
  readonly index: number;
  readonly attempt: number;
  readonly retryOf: StepRunId | null;
  readonly state: StepPhase;
  /** Why the step ended as it did; empty when there is nothing to say. */
  readonly reason: string;
  readonly grant: Grant | null;
  readonly queuedAt: number | null;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /** Exit code of the step's process; null when there is none. */
  readonly exitCode: number | null;
  /** Attempts of this step in the earlier runs that this run repeats; users see `attemptsBefore + attempt`. */
  readonly attemptsBefore: number;
  /**
   * For a reused step: the step run of an earlier run whose log, result and outputs it has; null for a step that runs.
   */
  readonly reusedFrom: StepRunId | null;
  /** True when the step has written outputs, which are stored under the token of its grant. */
  readonly hasOutputs: boolean;
  /** Number of the last log line, known from the final report; null before. */
  readonly lastLine: number | null;
  /** From the final report; null before, and when the agent could not measure it. */
  readonly usage: ResourceUsage | null;
  /** Sequence of the last event in the log of the run that the agent has pushed about the step; absent for none. */
  readonly eventsThrough?: number;
  /** What users have noted of the step run; absent for nothing. */
  readonly metadata?: Pairs<string>;
}

/**
 * The status word that users see. A step that is being cancelled shows as running, even when no start was reported yet.
 */
export function stepStatus(state: StepPhase): StepStatus {
  return state === "cancelling" ? "running" : state;
}

/** An attempt of the step at `index` of a job run. */
export function newStep(
  job: Attempt & { runId: RunId; jobId: JobRunId; index: number },
  index: number,
  attempt = 1,
): StepState {
  const idOf = (nth: number): StepRunId => stepRunId(job.runId, job.jobId, index, nth);
  return {
    runId: job.runId,
    jobId: job.jobId,
    stepRunId: idOf(attempt),
    jobIndex: job.index,
    jobAttempt: shownAttempt(job),
    index,
    attempt,
    retryOf: attempt === 1 ? null : idOf(attempt - 1),
    state: "pending",
    reason: "",
    grant: null,
    queuedAt: null,
    startedAt: null,
    endedAt: null,
    exitCode: null,
    attemptsBefore: 0,
    reusedFrom: null,
    hasOutputs: false,
    lastLine: null,
    usage: null,
  };
}

/** What the next attempt of a step has of the one before. */
export function keptOf({ attemptsBefore, metadata }: StepState): Pick<StepState, "attemptsBefore" | "metadata"> {
  return { attemptsBefore, ...(metadata !== undefined && { metadata }) };
}

/** True from the dispatch of the step to an agent until the step has ended. */
export function isHeld(step: StepState): boolean {
  return step.state === "queued" || step.state === "running" || step.state === "cancelling";
}

/** True when the step is or was granted to the agent under this fencing token. */
export function isGrantOf(step: StepState, agentId: AgentId, token: number): boolean {
  return step.grant !== null && step.grant.agentId === agentId && step.grant.token === token;
}
