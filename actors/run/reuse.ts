/**
 * The jobs and steps with which a run begins. Those of a rerun have earlier attempts, or are reused as they ended.
 * Pure.
 */
import { shownAttempt } from "../../src/domain/attempts.ts";
import type { RunId } from "../../src/domain/ids.ts";
import type { PlannedJob, RunPlan } from "../../src/domain/plan.ts";
import { newestCells, newestJob, newestStep, resultOf } from "../job/facts.ts";
import { reuseJob, reuseStep, startAfterReused } from "../job/reused.ts";
import { type JobState, newJob } from "../job/state.ts";
import { firstAttemptId } from "../../src/planner/plan-index.ts";
import { newStep, type StepState } from "../step/state.ts";
import { counterparts, type EndedRun, type Rerun } from "./rerun.ts";

export interface Beginning {
  readonly jobs: readonly JobState[];
  readonly steps: readonly StepState[];
}

/** Every job and step of the plan, pending. */
export function beginFresh(runId: RunId, plan: RunPlan): Beginning {
  const jobs = plan.jobs.map((planned) => newJob(runId, planned, null, [], firstAttemptId(runId, planned.index, plan)));
  return { jobs, steps: jobs.flatMap((job) => newSteps(job, plan)) };
}

/**
 * The jobs and steps of a rerun. A job that runs again is pending and knows how the reused jobs that it needs have
 * ended; every other job is reused as it ended, with its steps.
 */
export function beginAgain(runId: RunId, plan: RunPlan, ended: EndedRun, rerun: Rerun): Beginning {
  const positions = counterparts(ended, plan);
  const jobs: JobState[] = [];
  const steps: StepState[] = [];
  for (const planned of plan.jobs) {
    const position = positions[planned.index];
    const before = position === undefined ? undefined : newestJob(ended.runId, position, ended.plan, ended);
    const begun =
      before !== undefined && !rerun.again.has(planned.index)
        ? reuseWhole(before, runId, ended)
        : runAgain(planned, before, runId, plan, ended, rerun);
    jobs.push(...begun.jobs);
    steps.push(...begun.steps);
  }
  return { jobs, steps };
}

/** Reuses the newest attempts only: of the job, of each of its cells if it was spread, and of their steps. */
function reuseWhole(before: JobState, runId: RunId, ended: EndedRun): Beginning {
  const cells = before.cells.length === 0 ? [] : newestCells(ended.runId, before.index, ended.plan, ended);
  const jobs: JobState[] = [];
  const steps: StepState[] = [];
  for (const old of [before, ...cells]) {
    const job = reuseJob(old, runId);
    jobs.push(job);
    steps.push(...newestSteps(old, ended).flatMap((step) => (step === undefined ? [] : [reuseStep(step, job)])));
  }
  return { jobs, steps };
}

function runAgain(
  planned: PlannedJob,
  before: JobState | undefined,
  runId: RunId,
  plan: RunPlan,
  ended: EndedRun,
  rerun: Rerun,
): Beginning {
  const fresh = newJob(runId, planned);
  if (before === undefined) return { jobs: [fresh], steps: newSteps(fresh, plan) };
  const ends = planned.needs
    .filter((need) => !rerun.again.has(need))
    .map((need) => resultOf(newestJob(ended.runId, need, ended.plan, ended)!, plan));
  const job: JobState = {
    ...fresh,
    attemptsBefore: attemptsOf(before, ended),
    retryOf: before.jobId,
    openNeeds: planned.needs.filter((need) => rerun.again.has(need)),
    upstreamFailed: ends.some((end) => end !== "success" && end !== "tolerated"),
  };
  const firstStep = rerun.from?.jobIndex === planned.index ? rerun.from.index : 0;
  const past = newestSteps(before, ended);
  const steps = newSteps(job, plan).map((step, index): StepState => {
    const last = past[index];
    if (last === undefined) return step;
    if (index < firstStep) return reuseStep(last, job);
    // A step that was skipped has made no attempt.
    return last.grant === null ? step : { ...step, attemptsBefore: shownAttempt(last), retryOf: last.stepRunId };
  });
  return { jobs: [startAfterReused(job, steps.slice(0, firstStep), plan)], steps };
}

/** Attempts of the job so far. For a job that was spread, the most that a cell had: its new cells are not known yet. */
function attemptsOf(job: JobState, ended: EndedRun): number {
  return Math.max(...[job, ...newestCells(ended.runId, job.index, ended.plan, ended)].map(shownAttempt));
}

/** The steps of a job, pending; none for a job that is to be spread, whose cells have the steps. */
function newSteps(job: JobState, plan: RunPlan): readonly StepState[] {
  const { cells, steps } = plan.jobs[job.index]!;
  return cells === null ? steps.map((_, index) => newStep(job, index)) : [];
}

function newestSteps(job: JobState, ended: EndedRun): readonly (StepState | undefined)[] {
  return ended.plan.jobs[job.index]!.steps.map((_, index) => newestStep(ended.runId, job.jobId, index, ended));
}
