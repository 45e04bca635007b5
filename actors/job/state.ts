/** What a job actor remembers: one attempt of one planned job. */
import type { AgentWait } from "../../src/domain/agent-wait.ts";
import { type JobRunId, jobRunId, type RunId } from "../../src/domain/ids.ts";
import { cellName, type Pairs, type PlannedJob, type Scalar } from "../../src/domain/plan.ts";
import type { Place } from "../../src/domain/groups.ts";
import type { JobStatus } from "../../src/domain/status.ts";
import type { Timer } from "../../src/domain/timer.ts";
import type { JobResult } from "../run/messages.ts";
import type { Grant } from "../step/messages.ts";

/**
 * `waiting`: it lacks only an approval, or a place in its group once that is asked for; `spread`: its cells are at work in its
 * place; `cancelling`: the running step has been asked to end.
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

/** A cell of a job that is spread, as that job knows it. */
export interface SpreadCell {
  /** Its newest one. */
  readonly attempt: number;
  /** It has been told to begin. */
  readonly begun: boolean;
  /** Null while it has not ended. */
  readonly result: JobResult | null;
}

export interface JobState {
  readonly runId: RunId;
  readonly jobId: JobRunId;
  /** Position in the plan. */
  readonly index: number;
  /** Which cell it is of the job with that index, which was spread when it began; null for every other job. */
  readonly cell: number | null;
  /** The values of such a cell. */
  readonly matrix: Pairs<Scalar>;
  /** Of a job that was spread. */
  readonly cells: readonly SpreadCell[];
  readonly attempt: number;
  /** The attempt before this one, or null. */
  readonly retryOf: JobRunId | null;
  /** How long an agent that holds the job may be silent, milliseconds. */
  readonly leaseMs: number;
  readonly state: JobPhase;
  /**
   * Why it ended as it did: `matrix`, `matrix_limit`, `cell_failed`, `condition`, `condition_failed`, `upstream_failed`,
   * `approval_rejected`, `approval_expired`, `group_invalid`, `group_full`, `superseded`, `step_failed`, `agent_lost`,
   * `dispatch_failed`, `queue_timeout`, `timeout`, `cancelled`, `fail_fast`; else empty.
   */
  readonly reason: string;
  /** In its group; null while it has not asked, and once it has left. */
  readonly place: Place | null;
  /** The run that has, or gets, its place in the group. */
  readonly gaveWayTo: RunId | null;
  /** Attempts in earlier runs of which this is a rerun; users see `attemptsBefore + attempt`. */
  readonly attemptsBefore: number;
  /** Of a job that was not run again: the one, in an earlier run, whose result and outputs it has. */
  readonly reusedFrom: JobRunId | null;
  readonly stageOpen: boolean;
  /** Indices of needed jobs that have not ended. */
  readonly openNeeds: readonly number[];
  /** A job before it has failed: one that it needs, or one of an earlier stage. */
  readonly upstreamFailed: boolean;
  readonly paused: boolean;
  /** Since when it has lacked nothing but an agent; while the run was paused it lacked more. */
  readonly queuedAt: number | null;
  /** Why nobody has taken it for long, as it was told last; null while there is nothing to tell. */
  readonly waits: Pick<AgentWait, "reason" | "clause"> | null;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly grant: Grant | null;
  /** Names of the quotas in which it has a place while it is bound. */
  readonly quotas: readonly string[];
  /** The newest fencing token of this job over all its attempts; a grant takes the next one. */
  readonly fence: number;
  /** The step that runs, or will run next; the number of steps when none will. */
  readonly stepIndex: number;
  /** Why the job will end as failed although steps may still run; else empty. */
  readonly failing: "" | "step_failed" | "condition_failed";
  /** Which attempt of it. */
  readonly stepAttempt: number;
  /** The step that was, or will be, dispatched first. */
  readonly firstStep: number;
  /** True while a step has been dispatched and has not ended. */
  readonly stepActive: boolean;
  /** Whether steps run, or have run for too long, although the job ends: see cleanup.ts. */
  readonly cleanup: "none" | "running" | "over";
  /** Timers of earlier generations are void. */
  readonly generation: number;
  readonly queueTimer: Timer | null;
  /** What is left of the queue timeout while the run is paused, milliseconds. */
  readonly queueLeftMs: number | null;
  readonly timeoutTimer: Timer | null;
  /** Set while the next attempt of a step waits for its time. */
  readonly retryTimer: Timer | null;
}

/** As users know it: `test (v=1)` for a cell. */
export function jobName(planned: Pick<PlannedJob, "name" | "baseName">, { matrix }: Pick<JobState, "matrix">): string {
  return matrix.length === 0 ? planned.name : cellName(planned.baseName, matrix);
}

/** The status word that users see. */
export function jobStatus(state: JobPhase): JobStatus {
  if (state === "waiting") return "pending";
  return state === "cancelling" || state === "spread" ? "running" : state;
}

/** The first attempt of a planned job, or of one of the cells that it is spread into. */
export function newJob(
  runId: RunId,
  planned: Pick<PlannedJob, "index" | "needs" | "leaseMs">,
  cell: number | null = null,
  matrix: Pairs<Scalar> = [],
): JobState {
  return {
    runId,
    jobId: jobRunId(runId, planned.index, 1, cell),
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
    fence: job.fence,
  };
}

/** True for a job that has begun, begins anew or waits at its last gate, and has not ended. */
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
