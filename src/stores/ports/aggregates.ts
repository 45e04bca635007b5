/**
 * Snapshots of aggregates, of runs and of groups: the truth of the system. Only the owner of a shard saves an aggregate; anybody may read.
 *
 * The whole guard is `version`: a save names the version that it was decided on and answers `versionConflict` when
 * the store holds another one. A save is atomic: all actors, the owed effects and the head, or nothing. A call that
 * rejects may or may not have been stored: the caller loads again before it goes on.
 */
import type { AgentSelector } from "../../domain/labels.ts";
import type { AgentId, JobRunId, PipelineId, ProjectId, RootId, RunId, StepRunId } from "../../domain/ids.ts";
import type { JobSpec, Pairs, RunPlan } from "../../domain/plan.ts";
import type { OwedEffect } from "../../domain/effects.ts";
import type { RunEvent } from "../../domain/events.ts";
import type { ApprovalStatus, RunStatus } from "../../domain/status.ts";

/** One actor as stored. `state` is JSON made by its `decide`: generated ids and numbers, no key chosen by a user. */
export interface StoredActor {
  readonly kind: "run" | "job" | "step" | "approval" | "group";
  readonly id: string;
  readonly state: unknown;
  /** What lists and look-ups need; kept in step with `state` by the same save. */
  readonly index: ActorIndex;
}

export interface ActorIndex {
  /** Plan position: job index for jobs, step index for steps, 0 for the run. */
  readonly position: number;
  /** The job run that a step belongs to; null for others. */
  readonly jobId: JobRunId | null;
  readonly status: string;
  readonly attempt: number;
  /** The agent that holds the actor now: set while a grant is live, null before and after. */
  readonly agentId: AgentId | null;
  /** Of an approval alone: what lists of them filter and sort by. */
  readonly approval?: ApprovalIndex;
}

export interface ApprovalIndex {
  readonly pipelineId: PipelineId;
  readonly projectId: ProjectId;
  /** Unix milliseconds. */
  readonly requestedAt: number;
}

/** The pipeline of what is no run. */
export const NO_PIPELINE = "" as PipelineId;

/** What lists of runs show and filter by. */
export interface RunSummary {
  readonly pipelineId: PipelineId;
  readonly projectId: ProjectId;
  readonly status: RunStatus;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /** True while a job of the run is bound to an agent; such runs are looked at first after a loss of Redis. */
  readonly bound: boolean;
  /** What it waits for while no job of it is at work; null where its status tells. */
  readonly waits: RunWaits | null;
}

/**
 * `approval`: of what is named for people; `concurrency`: of the run or a job of it; `agent`: the job that has been queued longest
 * waits for one that `selector` matches; `retry`: a job waits to begin anew.
 */
export type RunWaits =
  | { readonly reason: "approval"; readonly gate: string }
  | { readonly reason: "concurrency"; readonly group: string }
  | { readonly reason: "agent"; readonly selector: AgentSelector }
  | { readonly reason: "retry" };

/** What is known from the trigger on and never changes. */
export interface RunOrigin {
  readonly trigger: { readonly kind: "manual" | "cron" | "event"; readonly ref: string };
  readonly variables: Pairs<string>;
  readonly triggeredBy: string;
  /** The authenticated caller, when it acted for another. */
  readonly actor: string;
  readonly revisionId: string;
  readonly commitSha: string;
  /** From 1; a run that is run again is another run, of the next attempt. */
  readonly attempt: number;
  /** The attempt before this one, and the first of all of them; null for a first one. */
  readonly retryOf: RunId | null;
  readonly firstRunId: RunId | null;
}

/**
 * The part of a snapshot that is one row whatever the number of actors. A group has the summary and origin of no run: it is of no
 * pipeline, and lists do not show it.
 */
export interface AggregateHead<Root extends RootId = RunId> {
  readonly rootId: Root;
  readonly shard: number;
  /** The newest schema of what the aggregate consists of (stored-format.ts); whoever creates one need not know. */
  readonly schema: number;
  /** From 1; grows by one with each save. */
  readonly version: number;
  readonly final: boolean;
  /** Final, and owes nothing. */
  readonly settled: boolean;
  /** Number of the newest event. */
  readonly eventNumber: number;
  /** Earliest timer of any actor, Unix milliseconds, or null. */
  readonly nextDueAt: number | null;
  readonly owed: readonly OwedRecord[];
  readonly summary: RunSummary;
  readonly origin: RunOrigin;
}

/** An owed effect; `event` effects carry the number that their event has. `at` is the time of the turn. */
export interface OwedRecord {
  readonly effect: OwedEffect;
  readonly eventNumber: number | null;
  readonly at: number;
}

export interface Aggregate<Root extends RootId = RunId> {
  readonly head: AggregateHead<Root>;
  readonly actors: readonly StoredActor[];
}

/**
 * A turn's result. `head.version` is `expectedVersion + 1`; actors not named stay as they are. `events` are what the turn
 * publishes: in the store when the save is answered, with the snapshot or right after it. When the call rejects they may
 * be missing beside a stored snapshot; its owed effects name them.
 */
export interface AggregateSave<Root extends RootId = RunId> {
  readonly expectedVersion: number;
  readonly head: AggregateHead<Root>;
  readonly changed: readonly StoredActor[];
  readonly events: readonly RunEvent[];
}

/** What is stored together with a new aggregate. */
export interface StoredBeside {
  /** As `PlanStore.put` stores them; without them, the plan is there already. */
  readonly plan?: { readonly graph: RunPlan; readonly jobs: readonly JobSpec[] };
  readonly events?: readonly RunEvent[];
}

export interface RunFilter {
  readonly pipelineId?: PipelineId;
  readonly projectId?: ProjectId;
  readonly status?: RunStatus;
}

export interface ApprovalFilter {
  readonly status: ApprovalStatus;
  readonly pipelineId?: PipelineId;
  readonly projectId?: ProjectId;
}

export interface Page<T> {
  readonly list: readonly T[];
  readonly total: number;
}

export interface PageRequest {
  /** From 1. */
  readonly page: number;
  /** 1 to 100. */
  readonly pageSize: number;
  readonly descending: boolean;
}

/** A live grant: a step that an agent has been given and that has not ended, or is next in a bound job. */
export interface StepLocation {
  readonly runId: RunId;
  readonly jobId: JobRunId;
  readonly stepRunId: StepRunId;
  readonly actor: StoredActor;
}

export interface JobLocation {
  readonly runId: RunId;
  readonly jobId: JobRunId;
  readonly actor: StoredActor;
}

export interface ApprovalLocation {
  readonly runId: RunId;
  readonly actor: StoredActor;
}

export interface DueAggregate {
  readonly rootId: RootId;
  readonly nextDueAt: number;
}

export interface AggregateStore {
  /**
   * Stores a new aggregate with version 1, its plan before it or with it, and its events as a save does; `exists` when the
   * id is taken, and then nothing is changed.
   */
  create(aggregate: Aggregate<RootId>, beside?: StoredBeside): Promise<"created" | "exists">;
  /** The newest snapshot with all its actors in an order that is stable, or undefined. */
  load<Root extends RootId>(rootId: Root): Promise<Aggregate<Root> | undefined>;
  loadHead(rootId: RunId): Promise<AggregateHead | undefined>;
  /** The head with those of these actors that there are, all of one snapshot, whose size does not matter. */
  loadActors(rootId: RunId, ids: readonly string[]): Promise<Aggregate | undefined>;
  save(change: AggregateSave<RootId>): Promise<"saved" | "versionConflict">;

  /** Ids (ascending, after `after`) of aggregates of a shard that owe effects. */
  pageOwing(shard: number, after: string, limit: number): Promise<readonly RootId[]>;
  /** Aggregates of a shard whose `nextDueAt` is at or before `dueAt`, earliest first (id as tie-break), after `after`. */
  pageDue(shard: number, dueAt: number, after: DueAggregate | null, limit: number): Promise<readonly DueAggregate[]>;
  /** Ids (ascending, after `after`) of unsettled aggregates of a shard, either those with bound jobs or the others. */
  pageUnsettled(shard: number, bound: boolean, after: string, limit: number): Promise<readonly RootId[]>;
  /** Jobs of a shard that are bound to an agent (`index.agentId` is set), ids ascending after `after`. */
  pageBoundJobs(shard: number, after: string, limit: number): Promise<readonly JobLocation[]>;

  /** Jobs of a shard whose `index.status` is `queued`, ids ascending after `after`. */
  pageQueuedJobs(shard: number, after: string, limit: number): Promise<readonly JobLocation[]>;

  /** Steps with `index.agentId` equal to `agentId`: what the plane believes that agent holds. */
  stepsHeldBy(agentId: AgentId): Promise<readonly StepLocation[]>;
  /** Jobs with `index.agentId` equal to `agentId`. */
  jobsHeldBy(agentId: AgentId): Promise<readonly JobLocation[]>;
  findStep(stepRunId: StepRunId): Promise<StepLocation | undefined>;
  findJob(jobId: JobRunId): Promise<JobLocation | undefined>;

  /** Heads of runs (of no group) that match, by time of creation (id as tie-break). */
  listRuns(filter: RunFilter, page: PageRequest): Promise<Page<AggregateHead>>;
  /** Approvals of all runs that match, by the time at which they were asked for (id as tie-break). */
  listApprovals(filter: ApprovalFilter, page: PageRequest): Promise<Page<ApprovalLocation>>;
  /** The newest run of each of the pipelines that has one. */
  newestRuns(pipelineIds: readonly PipelineId[]): Promise<ReadonlyMap<PipelineId, AggregateHead>>;
  /** Ids of runs of a pipeline that are not final. */
  liveRuns(pipelineId: PipelineId, limit: number): Promise<readonly RunId[]>;
}
