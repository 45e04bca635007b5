/** Which step of a job comes next, and which are passed over on the way there. Pure. */
import type { RunPlan } from "../../src/domain/plan.ts";
import { decideGate, type Facts } from "../../src/planner/gate.ts";
import { type JobEffect, tellStep } from "./effects.ts";
import type { StepEnded } from "./messages.ts";
import type { JobState } from "./state.ts";

export interface Walk {
  /** With the next step that runs as `stepIndex`; behind the last one when none does. */
  readonly job: JobState;
  /** What the steps are told that do not run. */
  readonly passed: readonly JobEffect[];
}

/** Goes on from `job.stepIndex`; a step that was to come and cannot be decided makes the job fail. */
export function walk(job: JobState, plan: RunPlan, facts: Facts): Walk {
  const { steps } = plan.jobs[job.index]!;
  const passed: JobEffect[] = [];
  let { stepIndex, failing } = job;
  for (; stepIndex < steps.length; stepIndex++) {
    const status = statusOf({ ...job, failing });
    const gate = decideGate(steps[stepIndex]!.when, facts, status);
    if (gate === "open") break;
    if (gate === "condition_failed" && status.success) failing = gate;
    const cause = job.state === "cancelling" ? job.reason : failing;
    const reason = gate === "upstream_failed" ? cause : gate;
    passed.push(tellStep(job, stepIndex, { type: "skip", reason }));
  }
  const stepAttempt = stepIndex === job.stepIndex ? job.stepAttempt : 1;
  return { job: { ...job, stepIndex, stepAttempt, failing }, passed };
}

/** What conditions of steps are told: a job out of time has failed, one that is cancelled has neither failed nor succeeded. */
function statusOf({
  state,
  reason,
  failing,
}: Pick<JobState, "state" | "reason" | "failing">): Parameters<typeof decideGate>[2] {
  const isCancelled = state === "cancelling" && reason !== "timeout";
  const failure = !isCancelled && (state === "cancelling" || failing !== "");
  return { success: !isCancelled && !failure, failure, cancelled: isCancelled };
}

/** True while a step is still to run. */
export function hasNext({ job }: Walk, plan: RunPlan): boolean {
  return job.stepIndex < plan.jobs[job.index]!.steps.length;
}

/** The job with the step that comes after one that has ended. */
export function afterStep(job: JobState, { outcome }: StepEnded, plan: RunPlan, facts: Facts): Walk {
  const goesOn = outcome === "success" || plan.jobs[job.index]!.steps[job.stepIndex]!.continueOnError;
  const failing = goesOn || job.failing !== "" ? job.failing : "step_failed";
  return walk({ ...job, stepIndex: job.stepIndex + 1, stepAttempt: 1, failing }, plan, facts);
}
