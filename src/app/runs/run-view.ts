/** Runs, jobs and steps as users read them, made from a snapshot and its plan. Pure. */
import { jobName, type JobState, jobStatus, priorityOf } from "../../../actors/job/state.ts";
import type { RunState } from "../../../actors/run/state.ts";
import { type StepState, stepStatus } from "../../../actors/step/state.ts";
import type { z } from "zod";
import type { Agents } from "../../domain/agent-wait.ts";
import { MillraceError } from "../../domain/errors.ts";
import { shownAttempt } from "../../domain/attempts.ts";
import { isAdHocRevision, type JobRunId, type RunId } from "../../domain/ids.ts";
import type { RunPlan } from "../../domain/plan.ts";
import { JOB_STATUS_CODES, RUN_STATUS_CODES, STEP_STATUS_CODES } from "../../domain/status.ts";
import { stepName } from "../../../actors/job/step-name.ts";
import type { Aggregate, AggregateHead, JobInBrief, RunOrigin } from "../../stores/ports/aggregates.ts";
import { approvalsOf, approvalView } from "../approvals/approval-view.ts";
import type { CommitStatusView } from "../commit-statuses/commit-statuses.ts";
import type { WaitFacts } from "./approval-and-group-waits.ts";
import { type StartTiming, StartTimes } from "./start-timing.ts";
import { rfc3339, timing } from "../times.ts";
import type { Pieces } from "../pieces.ts";
import { isChosen, type JobChoice } from "./job-choice.ts";
import type { JobShape, RunDetailShape, RunInBriefShape, RunShape } from "./run-shapes.ts";
import { type CountsByStep, sumOfTests, testsByJob } from "./test-counts.ts";
import { detailedWait, jobWaitingFor, runWaitingFor, stepWaitingFor } from "./waiting.ts";

/** Ids that an error names, at most. */
const SHOWN_IDS = 5;

export type RunView = z.infer<typeof RunShape>;

/** A run as lists show it. */
export function runView({ rootId, summary, origin }: AggregateHead, agents: Agents, now: number): RunView {
  return {
    runId: rootId,
    pipelineId: summary.pipelineId,
    projectId: summary.projectId,
    status: summary.status,
    statusCode: RUN_STATUS_CODES[summary.status],
    trigger: triggerView(origin),
    triggeredBy: origin.triggeredBy,
    actor: origin.actor,
    commitSha: origin.commitSha,
    attempt: origin.attempt,
    retryOf: origin.retryOf,
    adHoc: isAdHocRevision(origin.revisionId),
    waitingFor: runWaitingFor(summary, agents),
    createdAt: rfc3339(summary.createdAt),
    ...timing(summary.startedAt, summary.endedAt, now),
  };
}

export interface DetailSource {
  readonly aggregate: Aggregate;
  readonly plan: RunPlan;
  /** All jobs, when `aggregate` has only those that are shown. */
  readonly jobs?: readonly JobInBrief[] | undefined;
  /** May be empty when no job waits for an agent. */
  readonly agents: Agents;
  readonly waitFacts: WaitFacts;
  readonly allAttempts: boolean;
  /** The jobs to show; all when absent. */
  readonly chosen?: JobChoice | undefined;
  /** Absent for a run whose definition names no test reports. */
  readonly testCounts?: CountsByStep | undefined;
  /** Absent for a run whose host is told nothing. */
  readonly commitStatus?: CommitStatusView | null;
  /** The rerun of this run, or null. */
  readonly retriedBy: RunId | null;
  readonly now: number;
}

/** A run in detail, whose jobs are made one after the other. */
export interface RunParts {
  /** All of the answer but the jobs. */
  readonly run: RunInBrief;
  readonly jobs: Iterable<JobDetail>;
}

export type RunInBrief = z.infer<typeof RunInBriefShape>;
export type JobDetail = z.infer<typeof JobShape>;
export type RunDetail = z.infer<typeof RunDetailShape>;

/**
 * A run with its jobs and their steps in the order of the plan; earlier attempts come before later ones. Only the jobs
 * that are chosen cost more than a look.
 */
export function* runParts(source: DetailSource): Pieces<RunParts> {
  const { aggregate, plan, allAttempts, chosen, now } = source;
  const { run, jobs, steps } = statesByKind(aggregate);
  yield;
  const all = source.jobs ?? jobs;
  const listed = listedJobs(all, allAttempts);
  yield;
  const isShown = new Set((chosen === undefined ? listed : choose(listed, all, chosen)).map(({ jobId }) => jobId));
  yield;
  const shown = jobs.filter(({ jobId }) => isShown.has(jobId)).sort(byPlan);
  yield;
  const stepsOfShown = steps.filter(({ jobId }) => isShown.has(jobId));
  const nextSteps = successors(stepsOfShown, "stepRunId");
  yield;
  const stepsByJob = new Map<JobRunId, StepState[]>();
  for (const step of stepsOfShown) {
    if (!allAttempts && nextSteps.has(step.stepRunId)) continue;
    const siblings = stepsByJob.get(step.jobId);
    if (siblings === undefined) stepsByJob.set(step.jobId, [step]);
    else siblings.push(step);
  }
  yield;
  const laterJobs = new Map(all.flatMap((job) => (job.attempt === 1 ? [] : [[attemptKey(job), job.jobId] as const])));
  yield;
  const starts = new StartTimes(aggregate.head, plan, all, now);
  yield;
  const ofListed = new Set(listed.map(({ jobId }) => jobId));
  const tests = testsOf(source, steps);
  yield;
  const brief = {
    ...inBrief(source, run, jobs.filter(({ jobId }) => ofListed.has(jobId)).sort(byPlan)),
    tests: sumOfTests(listedJobs(all, false).map(({ jobId }) => tests.get(jobId))),
    jobCount: listed.length,
  };
  const detailOf = (job: JobState) =>
    jobDetail(
      { ...job, retriedBy: laterJobs.get(attemptKey({ ...job, attempt: job.attempt + 1 })) ?? null },
      (stepsByJob.get(job.jobId) ?? []).map((step) => ({ ...step, retriedBy: nextSteps.get(step.stepRunId) ?? null })),
      source,
      starts,
      tests.get(job.jobId) ?? null,
    );
  return { run: brief, jobs: each(shown, detailOf) };
}

/** The jobs that are shown of a run whose jobs are these. Throws `not_found` for an id that the run does not have. */
export function shownJobs(jobs: readonly JobInBrief[], allAttempts: boolean, chosen: JobChoice): readonly JobRunId[] {
  return choose(listedJobs(jobs, allAttempts), jobs, chosen).map(({ jobId }) => jobId);
}

/** The jobs of an answer that are queued, and the first of all queued ones, in the order of the plan. */
export function queuedJobs({
  aggregate,
  allAttempts,
  chosen,
  jobs,
}: Pick<DetailSource, "aggregate" | "allAttempts" | "chosen" | "jobs">): readonly JobState[] {
  const ofRun = aggregate.actors.filter(({ kind }) => kind === "job");
  const queued = ofRun
    .flatMap(({ index, state }) => (index.status === "queued" ? [state as JobState] : []))
    .sort(byPlan);
  if (chosen === undefined || queued.length === 0) return queued;
  const isShown = new Set(shownJobs(jobs ?? ofRun.map(({ state }) => state as JobState), allAttempts, chosen));
  return queued.filter(({ jobId }, at) => at === 0 || isShown.has(jobId));
}

/** True when any of its jobs, also one that is not shown, may tell what this run waits for. */
export function waitsForAnyJob({ summary }: Pick<AggregateHead, "summary">): boolean {
  const reason = runWaitingFor(summary, { online: null, quotas: [] })?.reason;
  return reason === "approval" || reason === "concurrency";
}

/** One after the other, when it is asked for. */
function* each<S, T>(items: readonly S[], of: (item: S) => T): Generator<T, void, void> {
  for (const item of items) yield of(item);
}

/** `listed`: the jobs that are shown when none are chosen, as far as they are read. */
function inBrief(
  source: DetailSource,
  run: RunState | undefined,
  listed: readonly JobState[],
): Omit<RunInBrief, "jobCount" | "tests"> {
  const { aggregate, plan, agents, waitFacts, retriedBy, commitStatus = null, now } = source;
  const view = runView(aggregate.head, agents, now);
  const waits = each(listed, (job) => ({ waitingFor: jobWaitingFor(job, plan, agents, waitFacts) }));
  return {
    ...view,
    // Nearly always no wait or the first one is asked for.
    waitingFor: run === undefined ? view.waitingFor : detailedWait(view.waitingFor, run, waits, plan, waitFacts),
    revisionId: aggregate.head.origin.revisionId,
    eventNumber: aggregate.head.eventNumber,
    retriedBy,
    variables: Object.fromEntries(aggregate.head.origin.variables),
    inheritedVariables: Object.fromEntries(aggregate.head.origin.inherited ?? []),
    uploads: Object.fromEntries(aggregate.head.origin.uploads ?? []),
    reason: run?.reason ?? "",
    commitStatus,
    approvals: approvalsOf(aggregate).map((approval) => approvalView(approval, plan)),
  };
}

function testsOf({ testCounts }: DetailSource, steps: readonly StepState[]): ReturnType<typeof testsByJob> {
  if (testCounts === undefined || testCounts.size === 0) return new Map();
  const next = successors(steps, "stepRunId");
  return testsByJob(steps, testCounts, (stepRunId) => next.has(stepRunId));
}

/** `steps`: those of the job that are shown. */
function jobDetail(
  job: Linked<JobState>,
  steps: Linked<StepState>[],
  source: DetailSource,
  starts: StartTimes,
  tests: JobDetail["tests"],
): JobDetail {
  const { plan, now } = source;
  const ofJob = jobView(job, plan, source, now);
  steps.sort((a, b) => a.index - b.index || a.attempt - b.attempt);
  return {
    ...ofJob,
    tests,
    steps: steps.map((step, at) => ({
      ...stepView(
        step,
        stepName(plan.jobs[step.jobIndex]?.steps[step.index], job.matrix),
        starts.of(step, job, steps[at - 1]),
        now,
      ),
      waitingFor: stepWaitingFor(step, job, plan, ofJob.waitingFor, source.agents),
    })),
  };
}

/** The jobs of an answer in the order of the plan: the newest attempts, or all. A job with a matrix is shown by its cells. */
function listedJobs<J extends JobInBrief>(jobs: readonly J[], allAttempts: boolean): J[] {
  const spread = new Set(jobs.flatMap(({ index, cell }) => (cell === null ? [] : [index])));
  const listed = jobs.filter(({ index, cell }) => cell !== null || !spread.has(index)).sort(byPlan);
  if (allAttempts) return listed;
  // A later attempt comes right behind the one before it.
  return listed.filter((job, at) => {
    const next = listed[at + 1];
    return next === undefined || next.index !== job.index || next.cell !== job.cell;
  });
}

function byPlan(a: JobInBrief, b: JobInBrief): number {
  return a.index - b.index || (a.cell ?? 0) - (b.cell ?? 0) || a.attempt - b.attempt;
}

/** Tells an attempt of a job from every other one of the run. */
function attemptKey({ index, cell, attempt }: Pick<JobInBrief, "index" | "cell" | "attempt">): string {
  return `${index}/${cell ?? ""}/${attempt}`;
}

/**
 * The chosen ones of the listed jobs. A job that is chosen by its id is shown also when a later attempt has followed it.
 * Throws `not_found` for an id that the run does not have.
 */
function choose<J extends JobInBrief>(listed: readonly J[], jobs: readonly J[], chosen: JobChoice): J[] {
  const missing = new Set<string>(chosen.jobIds);
  for (const { jobId } of jobs) missing.delete(jobId);
  if (missing.size > 0) {
    const ids = [...missing].slice(0, SHOWN_IDS).join(", ");
    throw new MillraceError("not_found", `the run has no job ${ids}: GET the run without \`jobs\` lists its jobs`);
  }
  const inOrder = listed.filter(({ jobId }, at) => isChosen(chosen, jobId, at + 1));
  if (chosen.jobIds.size === 0) return inOrder;
  const known = new Set(inOrder);
  return [...inOrder, ...jobs.filter((job) => chosen.jobIds.has(job.jobId) && !known.has(job))].sort(byPlan);
}

/** True when a job of the run is queued, or a step that an agent was granted: the agents tell why. */
export function waitsForAgent({ actors }: Aggregate): boolean {
  return actors.some(({ kind, index }) => (kind === "job" || kind === "step") && index.status === "queued");
}

/** An attempt with the id of the next attempt, or null for the newest one. */
export type Linked<S> = S & { readonly retriedBy: string | null };

/** The newest attempt of each, or all attempts. */
export function selectAttempts<S extends { readonly retryOf: string | null }, K extends keyof S>(
  attempts: readonly S[],
  id: K,
  all: boolean,
): Linked<S>[] {
  const next = successors(attempts, id);
  const chosen = all ? attempts : attempts.filter((attempt) => !next.has(attempt[id] as string));
  return chosen.map((attempt) => ({ ...attempt, retriedBy: next.get(attempt[id] as string) ?? null }));
}

/** The id of the attempt that follows, by the id of the attempt before it. */
function successors<S extends { readonly retryOf: string | null }, K extends keyof S>(
  attempts: readonly S[],
  id: K,
): ReadonlyMap<string, string> {
  const next = new Map<string, string>();
  for (const attempt of attempts) if (attempt.retryOf !== null) next.set(attempt.retryOf, attempt[id] as string);
  return next;
}

function jobView(
  job: Linked<JobState>,
  plan: RunPlan,
  { agents, waitFacts }: Pick<DetailSource, "agents" | "waitFacts">,
  now: number,
) {
  const planned = plan.jobs[job.index];
  const status = jobStatus(job.state);
  return {
    jobId: job.jobId,
    name: planned === undefined ? "" : jobName(planned, job),
    stage: plan.stages[planned?.stage ?? -1]?.name ?? "",
    matrix: Object.fromEntries(job.cell === null ? (planned?.matrix ?? []) : job.matrix),
    needs: (planned?.needs ?? []).map((index) => plan.jobs[index]?.name ?? ""),
    status,
    statusCode: JOB_STATUS_CODES[status],
    attempt: shownAttempt(job),
    retryOf: job.retryOf,
    retriedBy: job.retriedBy,
    reusedFrom: job.reusedFrom,
    agentId: job.grant?.agentId ?? null,
    reason: job.reason,
    priority: planned === undefined ? 0 : priorityOf(job, plan),
    gaveWayTo: job.gaveWayTo,
    condition: conditionOf(job, plan),
    waitingFor: jobWaitingFor(job, plan, agents, waitFacts),
    queuedAt: rfc3339(job.queuedAt),
    ...timing(job.startedAt, job.endedAt, now),
  };
}

/** The condition that decides, or has decided, whether the job runs. */
function conditionOf(job: JobState, plan: RunPlan): JobDetail["condition"] {
  const { index, stageOpen, reason, state, queuedAt } = job;
  const planned = plan.jobs[index];
  const ofStage = plan.stages[planned?.stage ?? -1]?.when ?? null;
  const ofJob = planned?.when ?? null;
  const of = ofStage !== null && (!stageOpen || ofJob === null) ? "stage" : "job";
  const when = of === "stage" ? ofStage : ofJob;
  if (when === null) return null;
  const hasHeld = of === "stage" ? stageOpen : queuedAt !== null || state === "waiting" || state === "spread";
  const refused = reason === "condition" ? "false" : reason === "condition_failed" ? "failed" : null;
  return { of, expression: when.written, resolved: when.folded, verdict: refused ?? (hasHeld ? "true" : null) };
}

function stepView(step: Linked<StepState>, name: string, start: StartTiming, now: number) {
  const status = stepStatus(step.state);
  return {
    stepRunId: step.stepRunId,
    name,
    status,
    statusCode: STEP_STATUS_CODES[status],
    attempt: shownAttempt(step),
    retryOf: step.retryOf,
    retriedBy: step.retriedBy,
    reusedFrom: step.reusedFrom,
    exitCode: step.exitCode,
    reason: step.reason,
    lastLine: step.lastLine,
    usage: step.usage,
    ...(step.metadata !== undefined && { metadata: Object.fromEntries(step.metadata) }),
    ...timing(step.startedAt, step.endedAt, now),
    timing: start,
  };
}

/** The states of a run by kind. The casts are safe: `decide` of each kind makes the stored states. */
export function statesByKind({ actors }: Aggregate) {
  const jobs: JobState[] = [];
  const steps: StepState[] = [];
  let run: RunState | undefined;
  for (const { kind, state } of actors) {
    if (kind === "job") jobs.push(state as JobState);
    else if (kind === "step") steps.push(state as StepState);
    else if (kind === "run") run = state as RunState;
  }
  return { run, jobs, steps };
}

function triggerView({ trigger: { kind, ref, event } }: RunOrigin): RunView["trigger"] {
  if (event === undefined) return { kind, ref };
  const { deliveryId, trigger: name, sha, untrusted } = event;
  return { kind, ref, event: { deliveryId, name, sha, untrusted } };
}
