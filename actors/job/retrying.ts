/**
 * The next attempt of a step, by the same agent in the same workspace; and the wait before the next attempt of a step
 * or job. Pure.
 */
import { stepRunId } from "../../src/domain/ids.ts";
import type { Peers } from "../../src/domain/peers.ts";
import type { PlannedRetry, RunPlan } from "../../src/domain/plan.ts";
import { keptOf, newStep, type StepState } from "../step/state.ts";
import { dispatchStep, type JobDecision, moved, publishRetry, schedule } from "./effects.ts";
import type { StepEnded } from "./messages.ts";
import type { JobState } from "./state.ts";

/** True when another attempt of the current step follows this end. */
export function isRetried(job: JobState, { outcome, exitCode }: StepEnded, plan: RunPlan): boolean {
  const { retry } = plan.jobs[job.index]!.steps[job.stepIndex]!;
  if (retry === null || job.stepAttempt >= retry.attempts) return false;
  if (outcome !== "failed" && outcome !== "timeout") return false;
  if (!retry.on.includes(outcome)) return false;
  return outcome === "timeout" || retry.exitCodes.length === 0 || retry.exitCodes.includes(exitCode ?? -1);
}

/** Makes the next attempt of the current step. It is dispatched when its wait is over and the run is not paused. */
export function retryStep(job: JobState, now: number, plan: RunPlan, peers: Peers): JobDecision {
  const { retry } = plan.jobs[job.index]!.steps[job.stepIndex]!;
  const failed = peers.state(stepRunId(job.runId, job.jobId, job.stepIndex, job.stepAttempt)) as StepState;
  const step: StepState = { ...newStep(job, job.stepIndex, job.stepAttempt + 1), ...keptOf(failed) };
  const delayMs = delayBefore(step.attempt, retry!);
  const generation = job.generation + 1;
  const next: JobState = {
    ...job,
    stepAttempt: step.attempt,
    stepActive: delayMs === 0 && !job.paused,
    generation,
    retryTimer: delayMs === 0 ? null : { generation, dueAt: now + delayMs },
  };
  return moved(next, [
    { type: "spawn", actor: { kind: "step", id: step.stepRunId }, state: step },
    publishRetry(next, step),
    ...schedule(next, "retry", next.retryTimer),
    ...(next.stepActive ? [dispatchStep(next)] : []),
  ]);
}

/** Sets the timer of the next attempt of a job, which is queued when the timer fires (`dueAt`, Unix milliseconds). */
export function waitForRetry(job: JobState, dueAt: number): JobDecision {
  const generation = job.generation + 1;
  const next: JobState = { ...job, generation, retryTimer: { generation, dueAt } };
  return moved(next, schedule(next, "retry", next.retryTimer));
}

/** Dispatches the next attempt of a step, whose wait is over, unless the run is paused. */
export function resumeRetry(job: JobState): JobDecision {
  const next: JobState = { ...job, retryTimer: null, stepActive: !job.paused };
  return moved(next, next.stepActive ? [dispatchStep(next)] : []);
}

/** Milliseconds to wait before this attempt, which is at least the second. */
export function delayBefore(attempt: number, { delayMs, backoff, maxDelayMs }: PlannedRetry<string>): number {
  return Math.min(maxDelayMs, Math.round(delayMs * backoff ** (attempt - 2)));
}
