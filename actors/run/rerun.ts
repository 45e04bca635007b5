/** Which jobs of a run are run again, and which stand as they ended. Pure. */
import type { RunId, StepRunId } from "../../src/domain/ids.ts";
import type { Peers } from "../../src/domain/peers.ts";
import type { PlannedJob, RunPlan } from "../../src/domain/plan.ts";
import { newestJob, newestStep } from "../job/facts.ts";
import type { JobState } from "../job/state.ts";
import type { StepState } from "../step/state.ts";

/** A run that has ended. */
export interface EndedRun extends Pick<Peers, "state"> {
  readonly runId: RunId;
  readonly plan: RunPlan;
}

/** `failed`: what did not succeed, with all that depends on it; `step`: from that step on, of whichever attempt it is. */
export type RerunScope = { readonly kind: "all" | "failed" } | { readonly kind: "step"; readonly stepRunId: StepRunId };

export interface Rerun {
  /** Positions of the jobs that are run again. */
  readonly again: ReadonlySet<number>;
  /** The step with which one of them begins; the others begin with their first one. */
  readonly from: StepState | null;
}

/**
 * `plan_differs`: what is planned now has other jobs or steps than the run had. `nothing_failed`. `late_cell`: the step is of a
 * job that is spread when it begins, of which the cells are not known before. `never_ran`: the step was passed over.
 */
export type RerunRefusal = "plan_differs" | "nothing_failed" | "late_cell" | "never_ran";

/** `plan`: that of the new run. Throws for a step that is not of the run. */
export function chooseRerun(ended: EndedRun, plan: RunPlan, scope: RerunScope): Rerun | RerunRefusal {
  if (scope.kind === "all") return { again: new Set(plan.jobs.map(({ index }) => index)), from: null };
  if (!isSamePlan(ended.plan, plan)) return "plan_differs";
  if (scope.kind === "step") return chooseFrom(ended, plan, scope.stepRunId);
  const unsuccessful = plan.jobs.filter(({ index }) => newestJob(ended.runId, index, ended)?.state !== "success");
  if (unsuccessful.length === 0) return "nothing_failed";
  return { again: withDependents(unsuccessful, plan), from: null };
}

/** The position in the plan of the ended run at which each job of `plan` stood; undefined where it had no such job. */
export function counterparts({ plan: before }: EndedRun, plan: RunPlan): readonly (number | undefined)[] {
  const positions = new Map(before.jobs.map((job) => [sketchOf(job, before), job.index]));
  return plan.jobs.map((job) => positions.get(sketchOf(job, plan)));
}

function isSamePlan(before: RunPlan, plan: RunPlan): boolean {
  const sketch = (each: RunPlan) => each.jobs.map((job) => sketchOf(job, each));
  return JSON.stringify(sketch(before)) === JSON.stringify(sketch(plan));
}

function sketchOf({ name, stage, steps }: PlannedJob, { stages }: RunPlan): string {
  return JSON.stringify([stages[stage]!.name, name, steps.map((step) => step.name)]);
}

function chooseFrom(ended: EndedRun, plan: RunPlan, stepRunId: StepRunId): Rerun | RerunRefusal {
  const { runId } = ended;
  const asked = ended.state(stepRunId) as StepState | undefined;
  if (asked === undefined) throw new Error(`step run ${stepRunId} is not of run ${runId}`);
  if ((ended.state(asked.jobId) as JobState).cell !== null) return "late_cell";
  const job = newestJob(runId, asked.jobIndex, ended)!;
  const from = newestStep(runId, job.jobId, asked.index, ended)!;
  // Only then is it known that what stands before it lets it run.
  if (from.grant === null) return "never_ran";
  return { again: withDependents([plan.jobs[job.index]!], plan), from };
}

/** With what needs them, and with all jobs of the stages behind the first of theirs. */
function withDependents(jobs: readonly PlannedJob[], plan: RunPlan): ReadonlySet<number> {
  const firstStage = jobs.reduce((first, { stage }) => Math.min(first, stage), Infinity);
  const again = new Set(jobs.map(({ index }) => index));
  // What is added while the set is walked is walked too.
  for (const index of again) for (const dependent of plan.jobs[index]!.dependents) again.add(dependent);
  for (const { index, stage } of plan.jobs) if (stage > firstStage) again.add(index);
  return again;
}
