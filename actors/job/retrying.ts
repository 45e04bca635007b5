/** The next attempt of a step, made by the agent that had the one before. Pure. */
import { stepRunId } from "../../src/domain/ids.ts";
import type { Peers } from "../../src/domain/peers.ts";
import type { PlannedRetry, RunPlan } from "../../src/domain/plan.ts";
import { newStep, type StepState } from "../step/state.ts";
import { dispatchStep, type JobDecision, moved, publishRetry, schedule } from "./effects.ts";
import type { StepEnded } from "./messages.ts";
import type { JobState } from "./state.ts";

/** True when this end of the step at hand is to be followed by another attempt. */
export function isRetried(job: JobState, { outcome, exitCode }: StepEnded, plan: RunPlan): boolean {
  const { retry } = plan.jobs[job.index]!.steps[job.stepIndex]!;
  if (retry === null || job.stepAttempt >= retry.attempts) return false;
  if (outcome !== "failed" && outcome !== "timeout") return false;
  if (!retry.on.includes(outcome)) return false;
  return outcome === "timeout" || retry.exitCodes.length === 0 || retry.exitCodes.includes(exitCode ?? -1);
}

/** Makes the attempt; it is dispatched when its wait is over, and while the run is paused it is not. */
export function retryStep(job: JobState, now: number, plan: RunPlan, peers: Peers): JobDecision {
  const { retry } = plan.jobs[job.index]!.steps[job.stepIndex]!;
  const failed = peers.state(stepRunId(job.runId, job.jobId, job.stepIndex, job.stepAttempt)) as StepState;
  const { attemptsBefore } = failed;
  const step: StepState = { ...newStep(job, job.stepIndex, job.stepAttempt + 1), attemptsBefore };
  const waitMs = waitBefore(step.attempt, retry!);
  const generation = job.generation + 1;
  const next: JobState = {
    ...job,
    stepAttempt: step.attempt,
    stepActive: waitMs === 0 && !job.paused,
    generation,
    retryTimer: waitMs === 0 ? null : { generation, dueAt: now + waitMs },
  };
  return moved(next, [
    { type: "spawn", actor: { kind: "step", id: step.stepRunId }, state: step },
    publishRetry(next, step),
    ...schedule(next, "retry", next.retryTimer),
    ...(next.stepActive ? [dispatchStep(next)] : []),
  ]);
}

/** The next attempt of a job, which is queued when its wait is over. */
export function wait(job: JobState, dueAt: number): JobDecision {
  const generation = job.generation + 1;
  const next: JobState = { ...job, generation, retryTimer: { generation, dueAt } };
  return moved(next, schedule(next, "retry", next.retryTimer));
}

/** The wait of a step's next attempt is over. */
export function goOnRetrying(job: JobState): JobDecision {
  const next: JobState = { ...job, retryTimer: null, stepActive: !job.paused };
  return moved(next, next.stepActive ? [dispatchStep(next)] : []);
}

/** Milliseconds before this attempt, which is at least the second. */
export function waitBefore(attempt: number, { delayMs, backoff, maxDelayMs }: PlannedRetry<string>): number {
  return Math.min(maxDelayMs, Math.round(delayMs * backoff ** (attempt - 2)));
}
