/**
 * Look-ups in the graph of a run that would search all its jobs. A plan never changes, so what is found once is kept as
 * long as the plan is in memory. Pure.
 */
import { type JobRunId, jobRunId, type RunId } from "../domain/ids.ts";
import type { PlannedStep, RunPlan } from "../domain/plan.ts";

type Graph = Pick<RunPlan, "jobs">;

/**
 * Characters of the reasons of steps that a run keeps: of all its step runs together, and at least and at most of one.
 * Agents choose the texts, and a snapshot has to fit into the store.
 */
export const REASON_CHARS = { ofRun: 300_000, least: 20, most: 5_000 } as const;
/** A matrix whose cells are made during the run has at most so many. */
const MOST_CELLS = 1_024;

interface PlanIndex {
  /** Positions of the jobs with this name in the definition, in the order of the plan. */
  readonly byName: ReadonlyMap<string, readonly number[]>;
  readonly byStage: ReadonlyMap<number, readonly number[]>;
  readonly steps: number;
  readonly reasonChars: number;
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

/** How many attempts these steps of a job may have, all together. */
export function stepAttemptsOf(steps: readonly Pick<PlannedStep, "retry">[]): number {
  return steps.reduce((sum, { retry }) => sum + (retry?.attempts ?? 1), 0);
}

/** How many characters of the reason of a step a run of this plan keeps. */
export function reasonChars(plan: Graph): number {
  return indexOf(plan).reasonChars;
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
  let stepRuns = 0;
  jobs.forEach((job, index) => {
    add(byName, job.baseName, index);
    add(byStage, job.stage, index);
    steps += job.steps.length;
    stepRuns += job.retry.attempts * stepAttemptsOf(job.steps) * (job.cells === null ? 1 : MOST_CELLS);
  });
  const { ofRun, least, most } = REASON_CHARS;
  const reasonChars = Math.min(most, Math.max(least, Math.floor(ofRun / stepRuns)));
  return { byName, byStage, steps, reasonChars, firstAttempts: { runId: "" as RunId, ids: [] } };
}

function add<Key>(lists: Map<Key, number[]>, key: Key, index: number): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [index]);
  else list.push(index);
}
