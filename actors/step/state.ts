/** What a step actor remembers: one attempt of one planned step. */
import { type Attempt, shownAttempt } from "../../src/domain/attempts.ts";
import { type AgentId, type JobRunId, type RunId, stepRunId, type StepRunId } from "../../src/domain/ids.ts";
import type { ResourceUsage } from "../../src/domain/resource-usage.ts";
import type { StepStatus } from "../../src/domain/status.ts";
import type { Grant } from "./messages.ts";

/** `cancelling`: the agent has been asked to end it. */
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
  /** As users count them. */
  readonly jobAttempt: number;
  /** Position in the job. */
  readonly index: number;
  readonly attempt: number;
  readonly retryOf: StepRunId | null;
  readonly state: StepPhase;
  /** Why it ended as it did; empty when there is nothing to say. */
  readonly reason: string;
  readonly grant: Grant | null;
  readonly queuedAt: number | null;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /** Of the process; null when there is none. */
  readonly exitCode: number | null;
  /** Attempts in earlier runs of which this is a rerun; users see `attemptsBefore + attempt`. */
  readonly attemptsBefore: number;
  /** Of a step that was not run again: the one, in an earlier run, whose log, result and outputs it has. */
  readonly reusedFrom: StepRunId | null;
  /** It has written outputs, which are stored under the token of its grant. */
  readonly hasOutputs: boolean;
  /** Number of the last log line, known from the final report; null before. */
  readonly lastLine: number | null;
  /** From the final report, when its agent could tell. */
  readonly usage: ResourceUsage | null;
}

/** The status word that users see. A step that is asked to end before its agent reported the start still shows as running. */
export function stepStatus(state: StepPhase): StepStatus {
  return state === "cancelling" ? "running" : state;
}

/** An attempt of the step at `index` of a job run. */
export function newStep(
  job: Attempt & { runId: RunId; jobId: JobRunId; index: number },
  index: number,
  attempt = 1,
): StepState {
  const idOf = (each: number): StepRunId => stepRunId(job.runId, job.jobId, index, each);
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

/** True while an agent has been given the step and has not ended it. */
export function isHeld(step: StepState): boolean {
  return step.state === "queued" || step.state === "running" || step.state === "cancelling";
}

/** True when the step is or was granted to the agent under this fencing token. */
export function isGrantOf(step: StepState, agentId: AgentId, token: number): boolean {
  return step.grant !== null && step.grant.agentId === agentId && step.grant.token === token;
}
