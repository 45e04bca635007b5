/** Small questions about a run that several views ask. Pure. */
import type { Job, PlannedJob, RunView, Step, Wait } from "./run-view.ts";

/** A job with the step of it that is meant. */
export interface StepPlace {
  readonly job: Job;
  readonly step: Step;
}

/** All step runs in the order of the plan: of each job its newest attempt, and of each step every attempt. */
export function stepsOf(view: RunView): readonly StepPlace[] {
  return view.jobs.flatMap(({ newest }) => newest.steps.map((step) => ({ job: newest, step })));
}

/** The step with this id, in any attempt. */
export function findStep(view: RunView, stepRunId: string): StepPlace | undefined {
  for (const { newest, earlier } of view.jobs) {
    for (const job of [newest, ...earlier]) {
      const step = job.steps.find((one) => one.stepRunId === stepRunId);
      if (step !== undefined) return { job, step };
    }
  }
  return undefined;
}

/** The step before or behind another one in the plan that has a log to show. */
export function nextStep(view: RunView, stepRunId: string, by: 1 | -1): StepPlace | undefined {
  const all = stepsOf(view).filter(
    ({ step }) => step.stepRunId === stepRunId || (step.startTime !== null && step.stepRunId !== ""),
  );
  const at = all.findIndex(({ step }) => step.stepRunId === stepRunId);
  return at === -1 ? undefined : all[at + by];
}

const FAILED = new Set<string>(["failed", "timeout"]);

/** What one wants to see first of a job: the failed step, else the running one, else the last that has begun. */
export function stepToShow(job: Job): Step | undefined {
  const newest = job.steps.filter(({ retriedBy }) => retriedBy === null);
  return (
    newest.find(({ status }) => FAILED.has(status)) ??
    newest.find(({ status }) => status === "running" || status === "queued") ??
    newest.findLast(({ startTime }) => startTime !== null) ??
    newest[0]
  );
}

export const hasFailed = ({ newest }: PlannedJob): boolean => newest.status === "failed";
export const isWaiting = ({ newest }: PlannedJob): boolean =>
  newest.waitingFor !== null && (newest.status === "pending" || newest.status === "queued");

/** The next job of that kind behind the one with this id, and from the beginning after the last. */
export function nextJob(
  view: RunView,
  after: string | null,
  isMeant: (job: PlannedJob) => boolean,
): PlannedJob | undefined {
  const from = view.jobs.findIndex(({ newest }) => newest.jobId === after) + 1;
  return [...view.jobs.slice(from), ...view.jobs.slice(0, from)].find(isMeant);
}

/** A wait for what this page or the definition decides says less than one that a person can end. */
const WEIGHT = [
  "no_agent_matches",
  "no_agent_online",
  "approval",
  "paused",
  "concurrency",
  "quota",
  "all_busy",
  "agent",
  "retry",
];

export interface Waiting {
  readonly wait: Wait;
  /** The job that waits; null for the run itself. */
  readonly job: Job | null;
}

/** The one reason for which the run, or a part of it, does not go on; null when nothing waits for more than its turn. */
export function mainWait(view: RunView): Waiting | null {
  const { waitingFor, status } = view.head;
  const jobs = view.jobs
    .filter(isWaiting)
    .map(({ newest }) => ({ wait: newest.waitingFor!, job: newest }))
    .filter(({ wait }) => WEIGHT.includes(wait.reason))
    .toSorted((a, b) => WEIGHT.indexOf(a.wait.reason) - WEIGHT.indexOf(b.wait.reason));
  if (waitingFor !== null) {
    const same = jobs.find(({ wait }) => wait.reason === waitingFor.reason);
    return same ?? { wait: waitingFor, job: null };
  }
  return status === "running" || status === "pending" || status === "paused" ? (jobs[0] ?? null) : null;
}

/** The end of an id, by which people tell runs apart. */
export function shortId(id: string): string {
  return id.slice(-6).toLowerCase();
}

/** A reason is a text, or a word of the program such as `step_failed`. */
export function reasonText(reason: string): string {
  return /^[a-z]+(_[a-z]+)+$/.test(reason) ? reason.replaceAll("_", " ") : reason;
}
