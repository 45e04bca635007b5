/** Runs, jobs and steps as users read them, made from a snapshot and its plan. Pure. */
import { jobName, type JobState, jobStatus } from "../../../actors/job/state.ts";
import type { RunState } from "../../../actors/run/state.ts";
import { type StepState, stepStatus } from "../../../actors/step/state.ts";
import type { Agents } from "../../domain/agent-wait.ts";
import { shownAttempt } from "../../domain/attempts.ts";
import { isAdHocRevision, type JobRunId, type RunId } from "../../domain/ids.ts";
import type { RunPlan } from "../../domain/plan.ts";
import { JOB_STATUS_CODES, RUN_STATUS_CODES, STEP_STATUS_CODES } from "../../domain/status.ts";
import type { Aggregate, AggregateHead } from "../../stores/ports/aggregates.ts";
import { approvalsOf, approvalView } from "../approvals/approval-view.ts";
import type { WaitFacts } from "./approval-and-group-waits.ts";
import { type StartTiming, StartTimes } from "./start-timing.ts";
import { rfc3339, timing } from "../times.ts";
import { detailedWait, jobWaitingFor, runWaitingFor, stepWaitingFor } from "./waiting.ts";

export type RunView = ReturnType<typeof runView>;
export type RunDetail = ReturnType<typeof runDetail>;

/** A run as lists show it. */
export function runView({ rootId, summary, origin }: AggregateHead, agents: Agents, now: number) {
  return {
    runId: rootId,
    pipelineId: summary.pipelineId,
    projectId: summary.projectId,
    status: summary.status,
    statusCode: RUN_STATUS_CODES[summary.status],
    trigger: origin.trigger,
    triggeredBy: origin.triggeredBy,
    actor: origin.actor,
    commitSha: origin.commitSha,
    attempt: origin.attempt,
    retryOf: origin.retryOf,
    /** True for a run with a definition of its own, which is no definition of the pipeline. */
    adHoc: isAdHocRevision(origin.revisionId),
    waitingFor: runWaitingFor(summary, agents),
    createdAt: rfc3339(summary.createdAt),
    ...timing(summary.startedAt, summary.endedAt, now),
  };
}

interface DetailSource {
  readonly aggregate: Aggregate;
  readonly plan: RunPlan;
  /** May be empty when no job waits for an agent. */
  readonly agents: Agents;
  readonly waitFacts: WaitFacts;
  readonly allAttempts: boolean;
  /** The rerun of this run, or null. */
  readonly retriedBy: RunId | null;
  readonly now: number;
}

/** A run with its jobs and their steps in the order of the plan; earlier attempts come before later ones. */
export function runDetail({ aggregate, plan, agents, waitFacts, allAttempts, retriedBy, now }: DetailSource) {
  const { run, jobs, steps } = statesByKind(aggregate);
  const stepsByJob = new Map<JobRunId, Linked<StepState>[]>();
  for (const step of selectAttempts(steps, "stepRunId", allAttempts)) {
    const siblings = stepsByJob.get(step.jobId);
    if (siblings === undefined) stepsByJob.set(step.jobId, [step]);
    else siblings.push(step);
  }
  const starts = new StartTimes(aggregate.head, plan, jobs, now);
  const view = runView(aggregate.head, agents, now);
  const jobViews = selectAttempts(jobs, "jobId", allAttempts)
    // A job with a matrix is shown by its cells.
    .filter(({ cells }) => cells.length === 0)
    .sort((a, b) => a.index - b.index || (a.cell ?? 0) - (b.cell ?? 0) || a.attempt - b.attempt)
    .map((job) => {
      const ofJob = jobView(job, plan, { agents, waitFacts }, now);
      const stepsOfJob = (stepsByJob.get(job.jobId) ?? []).sort((a, b) => a.index - b.index || a.attempt - b.attempt);
      return {
        ...ofJob,
        steps: stepsOfJob.map((step, at) => ({
          ...stepView(step, starts.of(step, job, stepsOfJob[at - 1]), plan, now),
          waitingFor: stepWaitingFor(step, job, plan, ofJob.waitingFor),
        })),
      };
    });
  return {
    ...view,
    waitingFor: run === undefined ? view.waitingFor : detailedWait(view.waitingFor, run, jobViews, plan, waitFacts),
    retriedBy,
    variables: Object.fromEntries(aggregate.head.origin.variables),
    reason: run?.reason ?? "",
    approvals: approvalsOf(aggregate).map((approval) => approvalView(approval, plan)),
    jobs: jobViews,
  };
}

/** True when a job of the run is queued: the agents tell why. */
export function waitsForAgent({ actors }: Aggregate): boolean {
  return actors.some(({ kind, index }) => kind === "job" && index.status === "queued");
}

/** An attempt with the id of the next attempt, or null for the newest one. */
export type Linked<S> = S & { readonly retriedBy: string | null };

/** The newest attempt of each, or all attempts. */
export function selectAttempts<S extends { readonly retryOf: string | null }, K extends keyof S>(
  attempts: readonly S[],
  id: K,
  all: boolean,
): Linked<S>[] {
  const next = new Map(attempts.map((attempt) => [attempt.retryOf, attempt[id] as string]));
  return attempts
    .map((attempt) => ({ ...attempt, retriedBy: next.get(attempt[id] as string) ?? null }))
    .filter(({ retriedBy }) => all || retriedBy === null);
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
    /** The run that has, or will get, the place that this job gave up in its group. */
    gaveWayTo: job.gaveWayTo,
    waitingFor: jobWaitingFor(job, plan, agents, waitFacts),
    queuedAt: rfc3339(job.queuedAt),
    ...timing(job.startedAt, job.endedAt, now),
  };
}

function stepView(step: Linked<StepState>, start: StartTiming, plan: RunPlan, now: number) {
  const status = stepStatus(step.state);
  return {
    stepRunId: step.stepRunId,
    name: plan.jobs[step.jobIndex]?.steps[step.index]?.name ?? "",
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
