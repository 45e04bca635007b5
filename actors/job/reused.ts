/**
 * Jobs and steps that do not run again: a rerun, or the next attempt of a job, takes them over as they ended, under new
 * ids. Pure.
 */
import { shownAttempt } from "../../src/domain/attempts.ts";
import { jobRunId, type RunId, stepRunId } from "../../src/domain/ids.ts";
import type { Peers } from "../../src/domain/peers.ts";
import type { RunPlan } from "../../src/domain/plan.ts";
import { keptOf, newStep, type StepState } from "../step/state.ts";
import { type JobState, nextAttempt } from "./state.ts";

/** The job as it ended, as the first attempt of run `runId`. */
export function reuseJob(job: JobState, runId: RunId): JobState {
  const { deployment: _, ...ended } = job;
  return {
    ...ended,
    runId,
    jobId: jobRunId(runId, job.index, 1, job.cell),
    cells: job.cells.map((cell) => ({ ...cell, attempt: 1 })),
    attempt: 1,
    attemptsBefore: shownAttempt(job) - 1,
    reusedFrom: job.reusedFrom ?? job.jobId,
    place: null,
  };
}

/**
 * The step as it ended, as the first attempt within `job`. It keeps its grant, because the store finds its outputs by
 * the grant's token.
 */
export function reuseStep(step: StepState, job: JobState): StepState {
  const { eventsThrough: _, ...ended } = step;
  return {
    ...ended,
    runId: job.runId,
    jobId: job.jobId,
    stepRunId: stepRunId(job.runId, job.jobId, step.index, 1),
    jobAttempt: shownAttempt(job),
    attempt: 1,
    attemptsBefore: shownAttempt(step) - 1,
    reusedFrom: step.reusedFrom ?? step.stepRunId,
  };
}

/**
 * The job as it is after its first steps, which are reused: the first step that is not reused comes next, and a failure
 * among the reused steps counts.
 */
export function startAfterReused(job: JobState, reused: readonly StepState[], plan: RunPlan): JobState {
  const { steps } = plan.jobs[job.index]!;
  const failures = reused.flatMap(({ state, reason, index }): JobState["failing"][] => {
    if (state === "skipped") return reason === "condition_failed" || reason === "expression_limit" ? [reason] : [];
    return state === "success" || steps[index]!.continueOnError ? [] : ["step_failed"];
  });
  return { ...job, stepIndex: reused.length, failing: failures[0] ?? "" };
}

export interface NextAttempt {
  readonly job: JobState;
  readonly steps: readonly StepState[];
  /** The actors of the aggregate, with these steps among them. */
  readonly peers: Peers;
}

/** The next attempt of a job, not yet queued. It reuses the steps that the attempt before has reused. */
export function makeNextAttempt(job: JobState, plan: RunPlan, peers: Peers): NextAttempt {
  const next = nextAttempt(job);
  const steps = plan.jobs[job.index]!.steps.map((_, index): StepState => {
    const before = peers.state(stepRunId(job.runId, job.jobId, index, 1)) as StepState;
    if (before.reusedFrom !== null) return reuseStep(before, next);
    return { ...newStep(next, index), ...keptOf(before) };
  });
  const reused = steps.filter(({ reusedFrom }) => reusedFrom !== null);
  const made = new Map<string, unknown>(steps.map((step) => [step.stepRunId, step]));
  return {
    job: startAfterReused(next, reused, plan),
    steps,
    peers: { ...peers, state: (id) => made.get(id) ?? peers.state(id) },
  };
}
