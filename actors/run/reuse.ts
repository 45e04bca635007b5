/** The jobs and steps with which a run begins: those of a rerun have a past. Pure. */
import { shownAttempt } from "../../src/domain/attempts.ts";
import type { RunId } from "../../src/domain/ids.ts";
import type { PlannedJob, RunPlan } from "../../src/domain/plan.ts";
import { cellsOf, newestJob, newestStep, resultOf } from "../job/facts.ts";
import { beginAfter, reuseJob, reuseStep } from "../job/reused.ts";
import { type JobState, newJob } from "../job/state.ts";
import { newStep, type StepState } from "../step/state.ts";
import { counterparts, type EndedRun, type Rerun } from "./rerun.ts";

export interface Beginning {
  readonly jobs: readonly JobState[];
  readonly steps: readonly StepState[];
}

/** Every job and step of the plan, waiting. */
export function beginFresh(runId: RunId, plan: RunPlan): Beginning {
  const jobs = plan.jobs.map((planned) => newJob(runId, planned));
  return { jobs, steps: jobs.flatMap((job) => newSteps(job, plan)) };
}

/** What is run again waits, and knows how what it needs has ended; what is not stands as it ended. */
export function beginAgain(runId: RunId, plan: RunPlan, ended: EndedRun, rerun: Rerun): Beginning {
  const positions = counterparts(ended, plan);
  const jobs: JobState[] = [];
  const steps: StepState[] = [];
  for (const planned of plan.jobs) {
    const position = positions[planned.index];
    const before = position === undefined ? undefined : newestJob(ended.runId, position, ended);
    const begun =
      before !== undefined && !rerun.again.has(planned.index)
        ? reused(before, runId, ended)
        : again(planned, before, runId, plan, ended, rerun);
    jobs.push(...begun.jobs);
    steps.push(...begun.steps);
  }
  return { jobs, steps };
}

/** The newest attempts alone: of the job, of each of its cells if it was spread, and of their steps. */
function reused(before: JobState, runId: RunId, ended: EndedRun): Beginning {
  const cells = before.cells.length === 0 ? [] : cellsOf(ended.runId, before.index, ended);
  const jobs: JobState[] = [];
  const steps: StepState[] = [];
  for (const each of [before, ...cells]) {
    const job = reuseJob(each, runId);
    jobs.push(job);
    steps.push(...newestSteps(each, ended).flatMap((step) => (step === undefined ? [] : [reuseStep(step, job)])));
  }
  return { jobs, steps };
}

function again(
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
    .map((need) => resultOf(newestJob(ended.runId, need, ended)!, plan));
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
    // One that was passed over has made no attempt.
    return last.grant === null ? step : { ...step, attemptsBefore: shownAttempt(last), retryOf: last.stepRunId };
  });
  return { jobs: [beginAfter(job, steps.slice(0, firstStep), plan)], steps };
}

/** Of a job that was spread: the most that one of its cells had, since they are not known before they are made again. */
function attemptsOf(job: JobState, ended: EndedRun): number {
  return Math.max(...[job, ...cellsOf(ended.runId, job.index, ended)].map(shownAttempt));
}

/** The steps of a job that is spread when it begins are those of its cells. */
function newSteps(job: JobState, plan: RunPlan): readonly StepState[] {
  const { cells, steps } = plan.jobs[job.index]!;
  return cells === null ? steps.map((_, index) => newStep(job, index)) : [];
}

function newestSteps(job: JobState, ended: EndedRun): readonly (StepState | undefined)[] {
  return ended.plan.jobs[job.index]!.steps.map((_, index) => newestStep(ended.runId, job.jobId, index, ended));
}
