/**
 * What the page shows of a run, and how events change it: one reducer for the live view, the replay and the tests. Pure.
 *
 * A view begins with a snapshot, which names the newest event in it. Each later event follows by its number: an event
 * that the view has is ignored, and after a missing one the view says `reload` and stays as it is. Events carry statuses,
 * attempts, causes and moments. What only a snapshot has (the facts of a wait, the parts of a start) stays as it was
 * until the next snapshot, or is cleared when it cannot hold any more.
 */
import type { Schemas } from "../../../clients/typescript/src/api-types.ts";
import { msOf } from "./moments.ts";
import type { RunEvent } from "./run-event.ts";

export type Run = Schemas["RunDetail"];
export type Job = Schemas["Job"];
export type Step = Schemas["Step"];
export type Approval = Schemas["Approval"];
export type Wait = NonNullable<Job["waitingFor"]>;
/** The run without its jobs. */
export type RunHead = Omit<Run, "jobs" | "eventNumber">;

/** The attempts of one job of the plan, the oldest first. There is at least one. */
export interface PlannedJob {
  readonly key: string;
  readonly newest: Job;
  readonly earlier: readonly Job[];
}

export interface RunView {
  readonly head: RunHead;
  /** In the order of the plan. */
  readonly jobs: readonly PlannedJob[];
  /** Number of the newest event in the view. */
  readonly number: number;
  /** An event is missing or cannot be placed: read a snapshot again. */
  readonly reload: boolean;
  readonly lastEvent: RunEvent | null;
}

const ENDED_RUN = new Set<string>(["success", "failed", "cancelled", "partial"]);
const ENDED_JOB = new Set<string>(["success", "failed", "cancelled"]);
const ENDED_STEP = new Set<string>(["success", "failed", "cancelled", "timeout", "skipped"]);
const STATUS_CODES = {
  run: ["pending", "running", "success", "failed", "cancelled", "paused", "partial"],
  job: ["pending", "queued", "running", "success", "failed", "cancelled"],
  step: ["pending", "queued", "running", "success", "failed", "cancelled", "timeout", "skipped"],
} as const;

export const hasEnded = (view: RunView): boolean => ENDED_RUN.has(view.head.status);
export const jobHasEnded = (job: Job): boolean => ENDED_JOB.has(job.status);
export const stepHasEnded = (step: Step): boolean => ENDED_STEP.has(step.status);

const codeOf = (kind: keyof typeof STATUS_CODES, status: string): number =>
  (STATUS_CODES[kind] as readonly string[]).indexOf(status) + 1;

/** A view of a snapshot. `run.jobs` may have all attempts, or the newest ones alone. */
export function viewOf(run: Run): RunView {
  const { jobs, eventNumber, ...head } = run;
  return { head, jobs: planned(jobs), number: eventNumber, reload: false, lastEvent: null };
}

function planned(jobs: readonly Job[]): readonly PlannedJob[] {
  const places = new Map<string, number>();
  const list: Job[][] = [];
  for (const job of jobs) {
    const before = job.retryOf === null ? undefined : places.get(job.retryOf);
    const place = before ?? list.push([]) - 1;
    list[place]!.push(job);
    places.set(job.jobId, place);
  }
  return list.map((attempts) => {
    const sorted = attempts.toSorted((a, b) => a.attempt - b.attempt);
    return { key: sorted[0]!.jobId, newest: sorted.at(-1)!, earlier: sorted.slice(0, -1) };
  });
}

/** The same plan before anything has happened: where a replay begins. The ids of later attempts are not in it. */
export function viewBefore(view: RunView): RunView {
  const jobs = view.jobs.map(({ key, newest, earlier }) => {
    const first = earlier[0] ?? newest;
    // What a rerun reuses has ended before the run begins, and no event tells of it.
    if (first.reusedFrom !== null) return { key, newest: first, earlier: [] };
    return { key, newest: unstarted(first, firstAttempts(first.steps)), earlier: [] };
  });
  const head: RunHead = {
    ...view.head,
    status: "pending",
    statusCode: 1,
    startTime: null,
    endTime: null,
    duration: 0,
    waitingFor: null,
    reason: "",
    approvals: [],
  };
  return { head, jobs, number: 0, reload: false, lastEvent: null };
}

/** One attempt of each step. `retryOf` of a first attempt is null, or names a step of the run that this run repeats. */
function firstAttempts(steps: readonly Step[]): readonly Step[] {
  const ids = new Set(steps.map(({ stepRunId }) => stepRunId));
  return steps.filter(({ retryOf }) => retryOf === null || !ids.has(retryOf));
}

function unstarted(job: Job, steps: readonly Step[]): Job {
  return {
    ...job,
    status: "pending",
    statusCode: 1,
    agentId: null,
    reason: "",
    retriedBy: null,
    waitingFor: null,
    queuedAt: null,
    startTime: null,
    endTime: null,
    duration: 0,
    tests: null,
    steps: steps.map((step) => (step.reusedFrom === null ? unstartedStep(step) : step)),
  };
}

function unstartedStep(step: Step): Step {
  return {
    ...step,
    status: "pending",
    statusCode: 1,
    retriedBy: null,
    exitCode: null,
    reason: "",
    lastLine: null,
    usage: null,
    startTime: null,
    endTime: null,
    duration: 0,
    waitingFor: null,
  };
}

/** The view after the event. The view itself is returned for an event that it has. */
export function applyEvent(view: RunView, event: RunEvent): RunView {
  if (view.reload || event.number <= view.number) return view;
  if (event.number !== view.number + 1) return { ...view, reload: true };
  const after: RunView = { ...view, number: event.number, lastEvent: event };
  if (event.isPushed) return after;
  switch (event.object) {
    case "pipeline":
      return { ...after, head: changeRun(view.head, event) };
    case "approval":
      return { ...after, ...changeApproval(view, event) };
    case "job":
      return changeJob(after, event);
    case "step":
      return changeStepOf(after, event);
  }
  return after;
}

function changeRun(head: RunHead, event: RunEvent): RunHead {
  const status = event.status as RunHead["status"];
  const isOver = ENDED_RUN.has(status);
  return {
    ...head,
    status,
    statusCode: codeOf("run", status),
    reason: event.reason,
    startTime: head.startTime ?? (event.lifecycle === "started" ? event.time : null),
    endTime: isOver ? event.time : null,
    duration: isOver ? durationOf(head.startTime, event.time) : head.duration,
    waitingFor:
      event.lifecycle === "waiting"
        ? waitOf(event)
        : event.lifecycle === "paused"
          ? { reason: "paused", text: "waits for a person who resumes the run" }
          : null,
  };
}

function waitOf(event: RunEvent): Wait {
  return { reason: event.waitingFor ?? "worker", text: event.text } as Wait;
}

/** The list of approvals grows by a request that names only its id: what it asks for comes with the next snapshot. */
function changeApproval(view: RunView, event: RunEvent): Pick<RunView, "head" | "reload"> {
  const known = view.head.approvals.find(({ approvalId }) => approvalId === event.approvalId);
  // A replay has no approvals before they are asked for, and needs none: the jobs say what they wait for.
  if (known === undefined) return { head: view.head, reload: false };
  const approval: Approval = {
    ...known,
    status:
      event.lifecycle === "approved" && event.status === "pending" ? "pending" : (event.status as Approval["status"]),
    endedAt: event.status === "pending" ? null : event.time,
  };
  const approvals = view.head.approvals.map((one) => (one === known ? approval : one));
  return { head: { ...view.head, approvals }, reload: false };
}

function changeJob(view: RunView, event: RunEvent): RunView {
  if (event.lifecycle === "retried") return beginAttempt(view, event);
  return changePlanned(view, event.jobId, (job) => {
    const status = event.status as Job["status"];
    const isOver = ENDED_JOB.has(status);
    const startTime = event.lifecycle === "started" ? event.time : job.startTime;
    return {
      ...job,
      status,
      statusCode: codeOf("job", status),
      reason: event.reason,
      agentId: event.agentId ?? job.agentId,
      queuedAt: event.lifecycle === "queued" ? event.time : job.queuedAt,
      startTime,
      endTime: isOver ? event.time : null,
      duration: isOver ? durationOf(startTime, event.time) : job.duration,
      waitingFor: event.lifecycle === "waiting" ? waitOf(event) : null,
    };
  });
}

function beginAttempt(view: RunView, event: RunEvent): RunView {
  const place = view.jobs.findIndex(({ newest }) => newest.jobId === event.retryOf);
  const old = view.jobs[place];
  if (old === undefined || event.jobId === null) return { ...view, reload: true };
  const steps = firstAttempts(old.newest.steps)
    // The steps of the new attempt tell their ids with their first events.
    .map((step) => ({ ...unstartedStep(step), stepRunId: "", attempt: 1, retryOf: null }));
  const newest: Job = {
    ...unstarted(old.newest, []),
    steps,
    jobId: event.jobId,
    status: event.status as Job["status"],
    statusCode: codeOf("job", event.status),
    attempt: event.attempt,
    retryOf: event.retryOf,
    reason: event.reason,
  };
  const ended: Job = { ...old.newest, retriedBy: event.jobId };
  return withPlanned(view, place, { ...old, newest, earlier: [...old.earlier, ended] });
}

function changeStepOf(view: RunView, event: RunEvent): RunView {
  let isPlaced = true;
  const after = changePlanned(view, event.jobId, (job) => {
    const place = stepPlace(job, event);
    if (place === null) {
      isPlaced = false;
      return job;
    }
    const steps = place.isNew
      ? job.steps.toSpliced(place.at + 1, 0, changeStep(nextAttempt(job.steps[place.at]!, event), event))
      : job.steps.with(place.at, changeStep(job.steps[place.at]!, event));
    return {
      ...job,
      steps: place.isNew ? steps.with(place.at, { ...steps[place.at]!, retriedBy: event.stepRunId }) : steps,
    };
  });
  return isPlaced ? after : { ...view, reload: true };
}

interface StepPlace {
  readonly at: number;
  /** The event begins another attempt of the step at this place. */
  readonly isNew: boolean;
}

function stepPlace(job: Job, event: RunEvent): StepPlace | null {
  const at = job.steps.findIndex(({ stepRunId }) => stepRunId === event.stepRunId);
  if (at !== -1) return { at, isNew: false };
  const before = job.steps.findIndex(({ stepRunId }) => stepRunId !== "" && stepRunId === event.retryOf);
  if (before !== -1) return { at: before, isNew: true };
  const named = job.steps.findIndex(
    ({ stepRunId }, index) => stepRunId === "" && plannedIndex(job.steps, index) === (event.stepIndex ?? -1),
  );
  if (named !== -1) return { at: named, isNew: false };
  const byName = job.steps.findIndex(({ stepRunId, name }) => stepRunId === "" && event.name.endsWith(`/${name}`));
  return byName === -1 ? null : { at: byName, isNew: false };
}

/** Position of the step in the plan of its job: attempts of one step share it. */
function plannedIndex(steps: readonly Step[], at: number): number {
  return firstAttempts(steps.slice(0, at + 1)).length - 1;
}

function nextAttempt(step: Step, event: RunEvent): Step {
  return { ...unstartedStep(step), stepRunId: event.stepRunId ?? "", attempt: event.attempt, retryOf: event.retryOf };
}

function changeStep(step: Step, event: RunEvent): Step {
  const status = event.status as Step["status"];
  const isOver = ENDED_STEP.has(status);
  const startTime = step.startTime ?? (event.lifecycle === "started" ? event.time : null);
  return {
    ...step,
    stepRunId: event.stepRunId ?? step.stepRunId,
    attempt: event.attempt,
    retryOf: event.retryOf,
    status,
    statusCode: codeOf("step", status),
    reason: event.reason,
    exitCode: event.exitCode ?? step.exitCode,
    startTime,
    endTime: isOver && startTime !== null ? event.time : null,
    duration: isOver ? durationOf(startTime, event.time) : step.duration,
    waitingFor: null,
  };
}

function changePlanned(view: RunView, jobId: string | null, change: (job: Job) => Job): RunView {
  const place = view.jobs.findIndex(
    ({ newest, earlier }) => newest.jobId === jobId || earlier.some((job) => job.jobId === jobId),
  );
  const old = view.jobs[place];
  if (old === undefined) return { ...view, reload: true };
  if (old.newest.jobId === jobId) return withPlanned(view, place, { ...old, newest: change(old.newest) });
  const earlier = old.earlier.map((job) => (job.jobId === jobId ? change(job) : job));
  return withPlanned(view, place, { ...old, earlier });
}

function withPlanned(view: RunView, place: number, job: PlannedJob): RunView {
  return { ...view, jobs: view.jobs.with(place, job) };
}

function durationOf(from: string | null, to: string): number {
  return from === null ? 0 : Math.max(0, msOf(to) - msOf(from));
}
