/** What still runs after a job was cancelled or ran out of time: steps whose conditions ask for it. Pure. */
import type { RunPlan } from "../../src/domain/plan.ts";
import type { Facts } from "../../src/planner/gate.ts";
import { dispatchStep, type JobDecision, moved, schedule, tellStep } from "./effects.ts";
import type { JobMessage } from "./messages.ts";
import { hasNext, type Walk, walk } from "./walk.ts";
import type { JobState } from "./state.ts";

/** For how long, milliseconds: so that every stop ends. */
const CLEANUP_MS = 300_000;

type Ending = JobMessage & { readonly type: "cancel" | "superseded" | "timer" };

/** Why a job ends that is told so; what ends the run ends the job as if it were asked to end itself. */
export function causeOf(message: Ending): "cancelled" | "fail_fast" | "superseded" | "timeout" {
  if (message.type === "superseded") return message.type;
  if (message.type === "timer") return "timeout";
  return message.reason === "fail_fast" ? message.reason : "cancelled";
}

/** True when a step is still to run although the job ends. */
export function hasCleanup(job: JobState, message: JobMessage, plan: RunPlan, facts: Facts): boolean {
  if (job.cleanup === "over") return false;
  if (message.type === "stepEnded" && message.outcome === "lost") return false;
  return hasNext(walkOn(job, message, plan, facts), plan);
}

/** Goes on with the next one of them. */
export function cleanUp(job: JobState, message: JobMessage, now: number, plan: RunPlan, facts: Facts): JobDecision {
  const { job: walked, passed } = walkOn(job, message, plan, facts);
  const begun: JobState = { ...walked, cleanup: "running", stepActive: true, retryTimer: null };
  if (job.cleanup === "running") return moved(begun, [...passed, dispatchStep(begun)]);
  const generation = job.generation + 1;
  const next: JobState = { ...begun, generation, timeoutTimer: { generation, dueAt: now + CLEANUP_MS } };
  return moved(next, [...passed, dispatchStep(next), ...schedule(next, "timeout", next.timeoutTimer)]);
}

/** It has taken too long, or a user has had enough of it: the step is ended, and no other begins. */
export function endCleanup(job: JobState, reason: "timeout" | "cancelled", plan: RunPlan): JobDecision {
  const { cancelGraceMs } = plan.jobs[job.index]!;
  const next: JobState = { ...job, cleanup: "over", timeoutTimer: null };
  return moved(next, [tellStep(job, job.stepIndex, { type: "cancel", reason, graceMs: cancelGraceMs })]);
}

/** From the step that has ended, or from the one that was to come. */
function walkOn(job: JobState, message: JobMessage, plan: RunPlan, facts: Facts): Walk {
  if (job.state === "cancelling") return walk({ ...job, stepIndex: job.stepIndex + 1, stepAttempt: 1 }, plan, facts);
  return walk({ ...job, state: "cancelling", reason: causeOf(message as Ending) }, plan, facts);
}
