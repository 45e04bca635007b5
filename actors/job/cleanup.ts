/**
 * Cleanup steps: after a job was cancelled or has timed out, the steps whose conditions say so (`always()`) still run.
 * Pure.
 */
import type { RunPlan } from "../../src/domain/plan.ts";
import type { Facts } from "../../src/planner/gate.ts";
import { dispatchStep, type JobDecision, moved, schedule, tellStep } from "./effects.ts";
import type { JobMessage } from "./messages.ts";
import { hasNext, type Walk, walk } from "./walk.ts";
import type { JobState } from "./state.ts";

/** How long all cleanup steps of a job may take together, milliseconds. The bound makes sure that every stop ends. */
const CLEANUP_MS = 300_000;

type Ending = JobMessage & { readonly type: "cancel" | "superseded" | "timer" };

/**
 * The reason with which a job ends after this message. A stop and a timeout of the run count as a cancel of the job.
 */
export function causeOf(message: Ending): "cancelled" | "fail_fast" | "superseded" | "timeout" {
  if (message.type === "superseded") return message.type;
  if (message.type === "timer") return "timeout";
  return message.reason === "fail_fast" ? message.reason : "cancelled";
}

/** True when a cleanup step is to run next. */
export function hasCleanup(job: JobState, message: JobMessage, plan: RunPlan, facts: Facts): boolean {
  if (job.cleanup === "over") return false;
  if (message.type === "stepEnded" && message.outcome === "lost") return false;
  return hasNext(walkToCleanup(job, message, plan, facts), plan);
}

/** Dispatches the next cleanup step. The first one starts the timer that bounds the cleanup. */
export function cleanUp(job: JobState, message: JobMessage, now: number, plan: RunPlan, facts: Facts): JobDecision {
  const { job: walked, skips } = walkToCleanup(job, message, plan, facts);
  const begun: JobState = { ...walked, cleanup: "running", stepActive: true, retryTimer: null };
  if (job.cleanup === "running") return moved(begun, [...skips, dispatchStep(begun)]);
  const generation = job.generation + 1;
  const next: JobState = { ...begun, generation, timeoutTimer: { generation, dueAt: now + CLEANUP_MS } };
  return moved(next, [...skips, dispatchStep(next), ...schedule(next, "timeout", next.timeoutTimer)]);
}

/**
 * Ends the cleanup, because it has taken too long or a user cancels it: the step is asked to end, and no other step
 * begins.
 */
export function endCleanup(job: JobState, reason: "timeout" | "cancelled", plan: RunPlan): JobDecision {
  const { cancelGraceMs } = plan.jobs[job.index]!;
  const next: JobState = { ...job, cleanup: "over", timeoutTimer: null };
  return moved(next, [tellStep(job, job.stepIndex, { type: "cancel", reason, graceMs: cancelGraceMs })]);
}

/**
 * Walks on from the step that has ended; for a job that was not ending before, from the step that would have run next.
 */
function walkToCleanup(job: JobState, message: JobMessage, plan: RunPlan, facts: Facts): Walk {
  if (job.state === "cancelling") return walk({ ...job, stepIndex: job.stepIndex + 1, stepAttempt: 1 }, plan, facts);
  return walk({ ...job, state: "cancelling", reason: causeOf(message as Ending) }, plan, facts);
}
