/**
 * Look-ups in the graph of a run that would search all its jobs. A plan never changes, so what is found once is kept as
 * long as the plan is in memory. Pure.
 */
import { type JobRunId, jobRunId, type RunId } from "./ids.ts";
import type { RunPlan } from "./plan.ts";

type Graph = Pick<RunPlan, "jobs">;

interface PlanIndex {
  /** Positions of the jobs with this name in the definition, in the order of the plan. */
  readonly byName: ReadonlyMap<string, readonly number[]>;
  readonly byStage: ReadonlyMap<number, readonly number[]>;
  readonly steps: number;
  /** Ids of first attempts, as far as they were asked for, of the run that asked last. */
  firstAttempts: { readonly runId: RunId; readonly ids: JobRunId[] };
}

const indexes = new WeakMap<RunPlan["jobs"], PlanIndex>();

/** Positions of all cells of the matrix of the job at `index`; of the job alone when it has no matrix. */
export function cellsBeside(index: number, plan: Graph): readonly number[] {
  return jobsNamed(plan.jobs[index]!.baseName, plan);
}

/** Positions of the jobs that have this name in the definition. */
export function jobsNamed(baseName: string, plan: Graph): readonly number[] {
  return indexOf(plan).byName.get(baseName) ?? [];
}

/** Positions of the jobs of the stage at `stage`. */
export function jobsOfStage(stage: number, plan: Graph): readonly number[] {
  return indexOf(plan).byStage.get(stage) ?? [];
}

/** Number of planned steps; a job whose cells are made during the run counts as one cell. */
export function plannedSteps(plan: Graph): number {
  return indexOf(plan).steps;
}

/** The id of the first attempt of the job at `index` in a run of this plan. */
export function firstAttemptId(runId: RunId, index: number, plan: Graph): JobRunId {
  const found = indexOf(plan);
  if (found.firstAttempts.runId !== runId) found.firstAttempts = { runId, ids: [] };
  return (found.firstAttempts.ids[index] ??= jobRunId(runId, index, 1));
}

function indexOf({ jobs }: Graph): PlanIndex {
  let found = indexes.get(jobs);
  if (found === undefined) {
    found = makeIndex(jobs);
    indexes.set(jobs, found);
  }
  return found;
}

function makeIndex(jobs: RunPlan["jobs"]): PlanIndex {
  const byName = new Map<string, number[]>();
  const byStage = new Map<number, number[]>();
  let steps = 0;
  jobs.forEach((job, index) => {
    add(byName, job.baseName, index);
    add(byStage, job.stage, index);
    steps += job.steps.length;
  });
  return { byName, byStage, steps, firstAttempts: { runId: "" as RunId, ids: [] } };
}

function add<Key>(lists: Map<Key, number[]>, key: Key, index: number): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [index]);
  else list.push(index);
}
