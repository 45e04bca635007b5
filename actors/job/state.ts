/** The state of a job actor: one attempt of one planned job. */
import type { Timer } from "../../src/domain/effects.ts";
import type { AgentWait } from "../../src/domain/agent-wait.ts";
import { type JobRunId, jobRunId, type RunId } from "../../src/domain/ids.ts";
import type { Pairs } from "../../src/domain/pairs.ts";
import { cellName, type DeploymentIndex, type PlannedJob, type RunPlan, type Scalar } from "../../src/domain/plan.ts";
import type { Place } from "../../src/domain/groups.ts";
import type { JobStatus } from "../../src/domain/status.ts";
import type { JobResult } from "../run/messages.ts";
import type { Grant } from "../step/messages.ts";

/**
 * `waiting`: the job lacks only an approval, or a place in its group that it has asked for. `spread`: the job's cells
 * run in its place. `cancelling`: the job has asked the running step to end.
 */
export const JOB_STATES = [
  "pending",
  "waiting",
  "spread",
  "queued",
  "running",
  "cancelling",
  "success",
  "failed",
  "cancelled",
] as const;
export type JobPhase = (typeof JOB_STATES)[number];

/** What a job that is spread knows of one of its cells. */
export interface SpreadCell {
  /** The newest attempt of the cell. */
  readonly attempt: number;
  /** True once the job has told the cell to begin. */
  readonly begun: boolean;
  /** Null while the cell has not ended. */
  readonly result: JobResult | null;
}

export interface JobState {
  readonly runId: RunId;
  readonly jobId: JobRunId;
  /** Position in the plan. */
  readonly index: number;
  /**
   * Position of this cell among the cells of the job at `index`, which was spread when it began; null for every other
   * job.
   */
  readonly cell: number | null;
  /** The values of such a cell; empty for every other job. */
  readonly matrix: Pairs<Scalar>;
  /** The cells of a job that was spread; empty for every other job. */
  readonly cells: readonly SpreadCell[];
  readonly attempt: number;
  /** The attempt before this one, or null. */
  readonly retryOf: JobRunId | null;
  /** How long an agent that holds the job may be silent, milliseconds. */
  readonly leaseMs: number;
  readonly state: JobPhase;
  /**
   * Why the job ended as it did: `matrix`, `matrix_limit`, `cell_failed`, `condition`, `condition_failed`,
   * `expression_limit`, `upstream_failed`, `approval_rejected`, `approval_expired`, `group_invalid`, `group_full`, `superseded`,
   * `step_failed`, `agent_lost`, `dispatch_failed`, `queue_timeout`, `timeout`, `cancelled`, `fail_fast`; else empty.
   */
  readonly reason: string;
  /** The job's place in its group; null before the job has asked for one, and after it has left. */
  readonly place: Place | null;
  /** The run that has, or gets, the job's place in the group; null when no run does. */
  readonly gaveWayTo: RunId | null;
  /** Attempts of this job in the earlier runs that this run repeats; users see `attemptsBefore + attempt`. */
  readonly attemptsBefore: number;
  /** For a reused job: the job run of an earlier run whose result and outputs it has; null for a job that runs. */
  readonly reusedFrom: JobRunId | null;
  readonly stageOpen: boolean;
  /** Indices of needed jobs that have not ended. */
  readonly openNeeds: readonly number[];
  /** True when a job that this job needs, or a job of an earlier stage, has failed. */
  readonly upstreamFailed: boolean;
  readonly paused: boolean;
  /** Set by a user; absent for the priority of the plan. */
  readonly priority?: number;
  /** Since when the job lacks nothing but an agent, Unix milliseconds; set again when a paused run resumes. */
  readonly queuedAt: number | null;
  /** Why no agent takes the job, as the queue watcher reported last; null before its first report. */
  readonly waits: Pick<AgentWait, "reason" | "clause"> | null;
  readonly startedAt: number | null;
  /** What the job deploys to, once it has started; absent before, for a job without a target, and for a reused job. */
  readonly deployment?: DeploymentIndex;
  readonly endedAt: number | null;
  readonly grant: Grant | null;
  /** Names of the quotas in which the job has a place while it is bound to an agent. */
  readonly quotas: readonly string[];
  /** The newest fencing token of this job over all its attempts; a grant takes the next one. */
  readonly fence: number;
  /** Position of the step that runs or runs next; the number of steps when none does. */
  readonly stepIndex: number;
  /** Why the job will end as failed although steps may still run; else empty. */
  readonly failing: "" | "step_failed" | "condition_failed" | "expression_limit";
  /** Attempt of the step at `stepIndex`. */
  readonly stepAttempt: number;
  /** Position of the step that is dispatched first. */
  readonly firstStep: number;
  /** True while a step has been dispatched and has not ended. */
  readonly stepActive: boolean;
  /** `running`: cleanup steps run. `over`: they have run for too long, or a user has cancelled them. See cleanup.ts. */
  readonly cleanup: "none" | "running" | "over";
  /** Generation of the newest timer. A timer of an earlier generation has no effect when it fires. */
  readonly generation: number;
  readonly queueTimer: Timer | null;
  /** What is left of the queue timeout while the run is paused, milliseconds. */
  readonly queueLeftMs: number | null;
  readonly timeoutTimer: Timer | null;
  /** Set while the next attempt of a step, or of the job, waits for its time. */
  readonly retryTimer: Timer | null;
}

/** The name that users see: `test`, or `test (v=1)` for a cell. */
export function jobName(planned: Pick<PlannedJob, "name" | "baseName">, { matrix }: Pick<JobState, "matrix">): string {
  return matrix.length === 0 ? planned.name : cellName(planned.baseName, matrix);
}

/** Jobs with a larger priority are offered first. */
export function priorityOf(
  { index, priority }: Pick<JobState, "index" | "priority">,
  plan: Pick<RunPlan, "jobs">,
): number {
  return priority ?? plan.jobs[index]!.priority;
}

/** The status word that users see. */
export function jobStatus(state: JobPhase): JobStatus {
  if (state === "waiting") return "pending";
  return state === "cancelling" || state === "spread" ? "running" : state;
}

/**
 * The first attempt of a planned job, or (`cell` not null) of one of the cells that the job is spread into. `jobId`: its
 * id, for a caller that knows it.
 */
export function newJob(
  runId: RunId,
  planned: Pick<PlannedJob, "index" | "needs" | "leaseMs">,
  cell: number | null = null,
  matrix: Pairs<Scalar> = [],
  jobId = jobRunId(runId, planned.index, 1, cell),
): JobState {
  return {
    runId,
    jobId,
    index: planned.index,
    cell,
    matrix,
    cells: [],
    attempt: 1,
    retryOf: null,
    leaseMs: planned.leaseMs,
    state: "pending",
    reason: "",
    place: null,
    gaveWayTo: null,
    attemptsBefore: 0,
    reusedFrom: null,
    stageOpen: false,
    openNeeds: planned.needs,
    upstreamFailed: false,
    paused: false,
    queuedAt: null,
    waits: null,
    startedAt: null,
    endedAt: null,
    grant: null,
    quotas: [],
    fence: 0,
    stepIndex: 0,
    failing: "",
    stepAttempt: 1,
    firstStep: 0,
    stepActive: false,
    cleanup: "none",
    generation: 0,
    queueTimer: null,
    queueLeftMs: null,
    timeoutTimer: null,
    retryTimer: null,
  };
}

/** The next attempt of a job that had begun; not yet queued. */
export function nextAttempt(job: JobState): JobState {
  const attempt = job.attempt + 1;
  const fresh = newJob(job.runId, { index: job.index, needs: [], leaseMs: job.leaseMs }, job.cell, job.matrix);
  return {
    ...fresh,
    jobId: jobRunId(job.runId, job.index, attempt, job.cell),
    attempt,
    retryOf: job.jobId,
    stageOpen: true,
    attemptsBefore: job.attemptsBefore,
    place: job.place,
    paused: job.paused,
    ...(job.priority !== undefined && { priority: job.priority }),
    fence: job.fence,
  };
}

/**
 * True for a job that has not ended, and that is queued or bound, waits at its last gate, or waits for its next
 * attempt.
 */
export function isAtWork(job: JobState): boolean {
  return (
    job.state === "waiting" ||
    job.state === "queued" ||
    isBound(job) ||
    (job.state === "pending" && job.retryTimer !== null)
  );
}

/** True while the job is bound to an agent. */
export function isBound(job: JobState): boolean {
  return job.state === "running" || job.state === "cancelling";
}
