/** Which jobs of an ended run a rerun runs again, and which it reuses as they ended. Pure. */
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

/**
 * `failed`: the jobs that did not succeed, and all jobs that depend on them. `step`: the job of this step from the step
 * on, whichever attempt the id names, and all jobs that depend on that job.
 */
export type RerunScope = { readonly kind: "all" | "failed" } | { readonly kind: "step"; readonly stepRunId: StepRunId };

export interface Rerun {
  /** Positions of the jobs that run again. */
  readonly again: ReadonlySet<number>;
  /** The step with which its job begins; every other job begins with its first step. Null when all jobs do. */
  readonly from: StepState | null;
}

/**
 * `plan_differs`: the new plan has other jobs or steps than the run had. `nothing_failed`: every job succeeded.
 * `late_cell`: the step belongs to a cell that is made only when its job begins. `never_ran`: the step was skipped.
 */
export type RerunRefusal = "plan_differs" | "nothing_failed" | "late_cell" | "never_ran";

/**
 * Chooses the jobs that run again; `plan` is the plan of the new run. Throws for a step that the ended run does not
 * have.
 */
export function chooseRerun(ended: EndedRun, plan: RunPlan, scope: RerunScope): Rerun | RerunRefusal {
  if (scope.kind === "all") return { again: new Set(plan.jobs.map(({ index }) => index)), from: null };
  if (!isSamePlan(ended.plan, plan)) return "plan_differs";
  if (scope.kind === "step") return chooseFrom(ended, plan, scope.stepRunId);
  const unsuccessful = plan.jobs.filter(
    ({ index }) => newestJob(ended.runId, index, ended.plan, ended)?.state !== "success",
  );
  if (unsuccessful.length === 0) return "nothing_failed";
  return { again: withDependents(unsuccessful, plan), from: null };
}

/** For each job of `plan`, its position in the plan of the ended run; undefined where the ended run had no such job. */
export function counterparts({ plan: before }: EndedRun, plan: RunPlan): readonly (number | undefined)[] {
  const jobs = new Map(before.jobs.map((job) => [keyOf(job, before), job]));
  return plan.jobs.map((job) => {
    const found = jobs.get(keyOf(job, plan));
    return found !== undefined && hasSameSteps(found, job) ? found.index : undefined;
  });
}

function isSamePlan(before: RunPlan, plan: RunPlan): boolean {
  const isSameJob = (job: PlannedJob, old: PlannedJob): boolean =>
    keyOf(old, before) === keyOf(job, plan) && hasSameSteps(old, job);
  return before.jobs.length === plan.jobs.length && plan.jobs.every((job, at) => isSameJob(job, before.jobs[at]!));
}

/** The name of a job is unique within its run; the stage is compared too. */
function keyOf({ name, stage }: PlannedJob, { stages }: RunPlan): string {
  return JSON.stringify([stages[stage]!.name, name]);
}

/**
 * Whether both jobs have the same steps, by name and order. A plan that an earlier release stored calls a step without
 * a name `step` and its number, from 1: such a name equals every name.
 */
function hasSameSteps(before: PlannedJob, job: PlannedJob): boolean {
  const isSameStep = (name: string, at: number): boolean =>
    before.steps[at]!.name === name || before.steps[at]!.name === `step ${at + 1}`;
  return before.steps.length === job.steps.length && job.steps.every(({ name }, at) => isSameStep(name, at));
}

function chooseFrom(ended: EndedRun, plan: RunPlan, stepRunId: StepRunId): Rerun | RerunRefusal {
  const { runId } = ended;
  const step = ended.state(stepRunId) as StepState | undefined;
  if (step === undefined) throw new Error(`run ${runId} has no step run ${stepRunId}`);
  if ((ended.state(step.jobId) as JobState).cell !== null) return "late_cell";
  const job = newestJob(runId, step.jobIndex, ended.plan, ended)!;
  const from = newestStep(runId, job.jobId, step.index, ended)!;
  // Only a granted step is known to run: for a skipped one, the steps before it may not let it run.
  if (from.grant === null) return "never_ran";
  return { again: withDependents([plan.jobs[job.index]!], plan), from };
}

/** These jobs, the jobs that need them, and all jobs of the stages behind the first of their stages. */
function withDependents(jobs: readonly PlannedJob[], plan: RunPlan): ReadonlySet<number> {
  const firstStage = jobs.reduce((first, { stage }) => Math.min(first, stage), Infinity);
  const again = new Set(jobs.map(({ index }) => index));
  // The loop also visits the jobs that it adds.
  for (const index of again) for (const dependent of plan.jobs[index]!.dependents) again.add(dependent);
  for (const { index, stage } of plan.jobs) if (stage > firstStage) again.add(index);
  return again;
}
