/** What a notification needs to know of its run, read from the store. */
import { type ApprovalState, gateName } from "../../../actors/approval/state.ts";
import { jobFacts, newestCells, newestStep } from "../../../actors/job/facts.ts";
import { jobName, type JobState, jobStatus } from "../../../actors/job/state.ts";
import { runStatus, type RunState } from "../../../actors/run/state.ts";
import type { StepState } from "../../../actors/step/state.ts";
import { type JobRunId, jobRunId, type RunId } from "../../domain/ids.ts";
import { MAX_FAILED_JOBS, type RunPlan } from "../../domain/plan.ts";
import { WorkBudget } from "../../domain/work/work-budget.ts";
import type { Facts } from "../../planner/gate.ts";
import { stepName } from "../../../actors/job/step-name.ts";
import type { AggregateHead } from "../../stores/ports/aggregates.ts";
import { type ActorReader, withActors } from "../../stores/ports/reading-actors.ts";
import { withStepOutputs } from "../../stores/ports/reading-outputs.ts";
import { loopShare } from "../loop-share.ts";
import type { NotificationContext } from "./context.ts";
import { type FailedJob, inWords } from "./notification-texts.ts";
import { MAX_NOTIFICATION_WORK } from "./render-notification.ts";

/** The failed jobs of a run with more jobs are counted and not named. */
const NAMED_JOBS = 1_000;
/** Runs among which the one before is sought. */
const COMPARED_RUNS = 100;

export interface Scene {
  readonly head: AggregateHead;
  readonly plan: RunPlan;
  readonly pipeline: string;
  /** Where people see the run; empty while the installation does not know its own address. */
  readonly url: string;
}

/** Undefined for a run that is removed. */
export async function sceneOf(context: NotificationContext, runId: RunId): Promise<Scene | undefined> {
  const { aggregates, plans, pipelines } = context.stores;
  const [head, plan] = await Promise.all([
    aggregates.loadHead(runId),
    plans.loadPlanInPieces(runId, () => loopShare.enter()),
  ]);
  if (head === undefined || plan === undefined) return undefined;
  const { pipelineId } = plan;
  const pipeline = (await pipelines.find(pipelineId))?.name ?? pipelineId;
  const { publicUrl } = context;
  const url = publicUrl === undefined ? "" : `${publicUrl}/api/v1/pipelines/${pipelineId}/runs/${runId}`;
  return { head, plan, pipeline, url };
}

/** Evaluates what reads `jobs`, as of now. */
export function withJobFacts<T>(
  { stores }: NotificationContext,
  { head, plan }: Scene,
  evaluate: (facts: Facts) => T,
): Promise<T> {
  return withActors(stores.aggregates, head.rootId, (state) =>
    withStepOutputs(stores.outputs, (outputs) => {
      const work = new WorkBudget(MAX_NOTIFICATION_WORK);
      return evaluate(jobFacts(head.rootId, plan, { state, outputs, work }));
    }),
  );
}

export interface Failures {
  readonly failed: readonly FailedJob[];
  readonly count: number;
}

/** The jobs of the run that have failed, with what failed in them. */
export async function failuresOf({ stores }: NotificationContext, { head, plan }: Scene): Promise<Failures> {
  const { rootId: runId } = head;
  const isNamed = plan.jobs.length <= NAMED_JOBS;
  return withActors(stores.aggregates, runId, async (state) => {
    if (!isNamed) return { failed: [], count: (state(runId) as RunState | undefined)?.failedJobs ?? 0 };
    const cells = plan.jobs.flatMap(({ index }) => newestCells(runId, index, plan, { state }));
    const failed = cells.filter((job) => job.state === "failed");
    return {
      failed: failed
        .slice(0, MAX_FAILED_JOBS)
        .map((job) => ({ name: nameOf(job, plan), why: whyFailed(job, plan, state) })),
      count: failed.length,
    };
  });
}

export interface JobView {
  readonly name: string;
  readonly status: string;
  readonly reason: string;
  readonly why: string;
  readonly attempt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /** True when another attempt follows, or the job's cells tell how they end. */
  readonly isPassing: boolean;
}

/** Undefined for a job that is not there. */
export function jobOf(
  { stores }: NotificationContext,
  { head, plan }: Scene,
  jobId: JobRunId,
): Promise<JobView | undefined> {
  return withActors(stores.aggregates, head.rootId, async (state) => {
    const job = state(jobId) as JobState | undefined;
    if (job === undefined) return undefined;
    const next = state(jobRunId(job.runId, job.index, job.attempt + 1, job.cell));
    return {
      name: nameOf(job, plan),
      status: jobStatus(job.state),
      reason: job.reason,
      why: job.state === "failed" ? whyFailed(job, plan, state) : "",
      attempt: job.attempt,
      startedAt: job.startedAt,
      endedAt: job.endedAt,
      isPassing: next !== undefined || job.cells.length > 0,
    };
  });
}

export function runOf({ stores }: NotificationContext, { head }: Scene): Promise<{ status: string; reason: string }> {
  return withActors(stores.aggregates, head.rootId, async (state) => {
    const run = state(head.rootId) as RunState | undefined;
    return run === undefined
      ? { status: head.summary.status, reason: "" }
      : { status: runStatus(run.state), reason: run.reason };
  });
}

/** The gate of an approval in words, and its question. */
export function approvalOf(
  { stores }: NotificationContext,
  { head, plan }: Scene,
  id: string,
): Promise<{ readonly gate: string; readonly question: string } | undefined> {
  return withActors(stores.aggregates, head.rootId, async (state) => {
    const approval = state(id) as ApprovalState | undefined;
    return approval && { gate: gateName(approval.gate, plan), question: approval.message };
  });
}

/**
 * Whether the run that had ended last before this one, of the same pipeline and ref, had failed. Runs that were cancelled or
 * ended in part do not count.
 */
export async function hadFailedBefore({ stores }: NotificationContext, { head }: Scene): Promise<boolean> {
  const { summary, origin, rootId } = head;
  const { pipelineId, projectId, endedAt } = summary;
  if (endedAt === null) return false;
  const { list } = await stores.aggregates.findRuns(
    { pipelineId, projectIds: [projectId], ref: origin.trigger.ref, statuses: ["success", "failed"] },
    { limit: COMPARED_RUNS },
  );
  const before = list
    .filter((run) => run.rootId !== rootId && isEarlier(run, head))
    .toSorted((one, other) => (isEarlier(one, other) ? 1 : -1));
  return before[0]?.summary.status === "failed";
}

/** Of two ends at the same time, that of the run with the smaller id counts as earlier. */
function isEarlier(one: AggregateHead, other: AggregateHead): boolean {
  const [a, b] = [one.summary.endedAt ?? Infinity, other.summary.endedAt ?? Infinity];
  return a === b ? one.rootId < other.rootId : a < b;
}

function nameOf(job: JobState, plan: RunPlan): string {
  return jobName(plan.jobs[job.index]!, job);
}

function whyFailed(job: JobState, plan: RunPlan, state: ActorReader): string {
  if (job.reason !== "step_failed") return inWords(job.reason);
  const { steps } = plan.jobs[job.index]!;
  for (const [index, planned] of steps.entries()) {
    if (planned.continueOnError) continue;
    const step = newestStep(job.runId, job.jobId, index, { state }) as StepState | undefined;
    const name = stepName(planned, job.matrix);
    if (step?.state === "timeout") return `step ${name} took too long`;
    if (step?.state !== "failed") continue;
    return step.exitCode === null ? `step ${name} failed` : `step ${name} ended with exit code ${step.exitCode}`;
  }
  return inWords(job.reason);
}
