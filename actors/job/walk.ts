/** Walks over the steps of a job to the next one that runs, and skips those before it that do not run. Pure. */
import type { RunPlan } from "../../src/domain/plan.ts";
import { asksBeyondSuccess, decideGate, type Facts } from "../../src/planner/gate.ts";
import { type JobEffect, tellStep } from "./effects.ts";
import type { StepEnded } from "./messages.ts";
import type { JobState } from "./state.ts";

export interface Walk {
  /** The job, whose `stepIndex` is the next step that runs, or the number of steps when none does. */
  readonly job: JobState;
  /** The messages to the steps that do not run. */
  readonly skips: readonly JobEffect[];
}

/** Walks from `job.stepIndex` on. A condition that cannot be evaluated makes the job fail. */
export function walk(job: JobState, plan: RunPlan, facts: Facts): Walk {
  const { steps } = plan.jobs[job.index]!;
  const skips: JobEffect[] = [];
  let { stepIndex, failing } = job;
  for (; stepIndex < steps.length; stepIndex++) {
    const status = statusOf(job, failing);
    const { when } = steps[stepIndex]!;
    const gate = decideGate(when, facts, status);
    if (gate === "open") break;
    if ((gate === "condition_failed" || gate === "expression_limit") && status.success) failing = gate;
    const cause = job.state === "cancelling" ? job.reason : failing;
    const reason = gate !== "upstream_failed" ? gate : asksBeyondSuccess(when) ? "condition" : cause;
    skips.push(tellStep(job, stepIndex, { type: "skip", reason }));
  }
  if (stepIndex === job.stepIndex && failing === job.failing) return { job, skips };
  const stepAttempt = stepIndex === job.stepIndex ? job.stepAttempt : 1;
  return { job: { ...job, stepIndex, stepAttempt, failing }, skips };
}

/**
 * The status that conditions of steps see: a job that has timed out has failed; a cancelled job has neither failed nor
 * succeeded.
 */
function statusOf(
  { state, reason }: Pick<JobState, "state" | "reason">,
  failing: JobState["failing"],
): Parameters<typeof decideGate>[2] {
  const isCancelled = state === "cancelling" && reason !== "timeout";
  const failure = !isCancelled && (state === "cancelling" || failing !== "");
  return { success: !isCancelled && !failure, failure, cancelled: isCancelled };
}

/** True when the walk has found a step that runs. */
export function hasNext({ job }: Walk, plan: RunPlan): boolean {
  return job.stepIndex < plan.jobs[job.index]!.steps.length;
}

/** Walks on from the step that has ended. */
export function walkAfterStep(job: JobState, { outcome }: StepEnded, plan: RunPlan, facts: Facts): Walk {
  const canContinue = outcome === "success" || plan.jobs[job.index]!.steps[job.stepIndex]!.continueOnError;
  const failing = canContinue || job.failing !== "" ? job.failing : "step_failed";
  return walk({ ...job, stepIndex: job.stepIndex + 1, stepAttempt: 1, failing }, plan, facts);
}
