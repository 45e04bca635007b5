/**
 * The port of snapshots: the stored state of aggregates (runs and concurrency groups), which is the truth of the
 * system. Only the owner of a shard saves its aggregates; every process may read them.
 *
 * The `version` of an aggregate guards its saves: a save names the version that its turn was decided on, and answers
 * `versionConflict` when the store holds another version. A save is atomic: it stores the head with its owed effects
 * and all changed actors, or nothing. When a call rejects, its change may or may not be stored: the caller loads the
 * aggregate again before it continues.
 */
import type { ListKey, Page, PlacedPageRequest } from "./pages.ts";
import type { GivenUpload } from "../../domain/artifacts.ts";
import type { AgentSelector } from "../../domain/labels.ts";
import type {
  AgentId,
  DeliveryId,
  GroupId,
  JobRunId,
  PipelineId,
  ProjectId,
  RootId,
  RunId,
  StepRunId,
} from "../../domain/ids.ts";
import type { Pairs } from "../../domain/pairs.ts";
import type { DeploymentIndex, JobSpec, RunPlan } from "../../domain/plan.ts";
import type { ScheduledTime } from "../../domain/schedules.ts";
import type { OwedEffect } from "../../domain/effects.ts";
import type { RunEvent } from "../../domain/events.ts";
import type { ApprovalStatus, JobStatus, RunStatus } from "../../domain/status.ts";

/**
 * One actor as it is stored. `state` is JSON that the actor's `decide` returns; its keys are fixed, none is chosen by a
 * user.
 */
export interface StoredActor {
  readonly kind: "run" | "job" | "step" | "approval" | "group" | "schedule" | "timetable";
  readonly id: string;
  readonly state: unknown;
  /** The fields that lists and look-ups need. The save that stores `state` stores these too. */
  readonly index: ActorIndex;
}

export type Creation = "created" | "amidDeletion" | "exists";

export interface ActorIndex {
  /** Position in the plan: the job's index, the step's index within its job, 0 for the run. */
  readonly position: number;
  /** The job run that a step belongs to; null for every other kind of actor. */
  readonly jobId: JobRunId | null;
  readonly status: string;
  readonly attempt: number;
  /** The agent that holds the job or step: set while its grant is live, null before and after. */
  readonly agentId: AgentId | null;
  /** Set for approvals only: the fields that lists of approvals filter and sort by. */
  readonly approval?: ApprovalIndex;
  /** Set for jobs that deploy, from their start on. */
  readonly deployment?: DeploymentIndex;
}

export interface ApprovalIndex {
  readonly pipelineId: PipelineId;
  readonly projectId: ProjectId;
  /** Unix milliseconds. */
  readonly requestedAt: number;
}

/** The `pipelineId` of an aggregate that is not a run: a concurrency group, a schedule or a timetable. */
export const NO_PIPELINE = "" as PipelineId;

/** Ids of groups, and of no other aggregate, are above `from` and below `to`. */
export const GROUP_IDS = { from: "grp_", to: "grp`" } as const;

/** The fields that lists of runs show and filter by. Times are Unix milliseconds. */
export interface RunSummary {
  readonly pipelineId: PipelineId;
  readonly projectId: ProjectId;
  readonly status: RunStatus;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /**
   * True while a job of the run is bound to an agent. After a loss of Redis, the owner of the shard checks these runs
   * first.
   */
  readonly bound: boolean;
  /** What the run waits for while none of its jobs is at work; null when the status says it already. */
  readonly waits: RunWaits | null;
}

/**
 * `approval`: an approval of the gate that users see as `gate` (`stage deploy`). `concurrency`: a place in the
 * concurrency group `group`, for the run or one of its jobs. `agent`: an agent that `selector` matches; the selector is
 * that of the job that has been queued longest. `retry`: the delay before a job starts again.
 */
export type RunWaits =
  | { readonly reason: "approval"; readonly gate: string }
  | { readonly reason: "concurrency"; readonly group: string }
  | { readonly reason: "agent"; readonly selector: AgentSelector }
  | { readonly reason: "retry" };

/** The facts that the trigger of the run fixes. They never change. */
export interface RunOrigin {
  readonly trigger: {
    readonly kind: "manual" | "cron" | "event";
    readonly ref: string;
    /** The time of the schedule that started the run; absent for a run that no schedule started. */
    readonly scheduled?: ScheduledTime;
    /** The event that has started the run; absent for another kind. A rerun takes that of the run before. */
    readonly event?: StartingEvent;
  };
  readonly variables: Pairs<string>;
  /**
   * The variables of the tenant and the project at the time of the trigger; absent without any. A rerun takes those of the
   * run before.
   */
  readonly inherited?: Pairs<string>;
  /**
   * The uploads that the trigger gave, by the names under which steps read them; absent without any. A rerun takes those of
   * the run before.
   */
  readonly uploads?: Pairs<GivenUpload>;
  /** The W3C `traceparent` of the call that has triggered the run; absent without one. */
  readonly traceparent?: string;
  readonly triggeredBy: string;
  /** The authenticated caller, when that caller acted for another user. */
  readonly actor: string;
  readonly revisionId: string;
  readonly commitSha: string;
  /** From 1. Running a run again makes another run, with the next attempt. */
  readonly attempt: number;
  /** The run of the attempt before this one, and the run of the first attempt; both null for a first attempt. */
  readonly retryOf: RunId | null;
  readonly firstRunId: RunId | null;
}

/** A delivery of a hook that has started a run. The delivery is kept as long as the run. */
export interface StartingEvent {
  readonly deliveryId: DeliveryId;
  /** Which event of the delivery, from 0. */
  readonly index: number;
  /** Name of the trigger, or its number. */
  readonly trigger: string;
  /** The commit; empty for none. */
  readonly sha: string;
  /** True for an event from a fork: the run gets no secrets and no tokens, and writes no shared cache. */
  readonly untrusted: boolean;
}

/** True for a run that gets no secrets, because anyone may have written what it builds. */
export function isUntrusted({ trigger }: Pick<RunOrigin, "trigger">): boolean {
  return trigger.event?.untrusted === true;
}

/**
 * The part of a snapshot that is one row, however many actors the aggregate has. The head of a concurrency group has a
 * placeholder summary and origin: its pipeline is {@link NO_PIPELINE}, and lists of runs leave it out.
 */
export interface AggregateHead<Root extends RootId = RunId> {
  readonly rootId: Root;
  readonly shard: number;
  /**
   * The newest schema among the stored parts of the aggregate (stored-format.ts). The versioned store sets it: the
   * creator of an aggregate may pass any value.
   */
  readonly schema: number;
  /** From 1; grows by one with each save. */
  readonly version: number;
  readonly final: boolean;
  /** True when the aggregate is final and owes no effect. */
  readonly settled: boolean;
  /** Number of the newest event; 0 before the first one. */
  readonly eventNumber: number;
  /** When the earliest timer of any of its actors is due, Unix milliseconds; null without timers. */
  readonly nextDueAt: number | null;
  readonly owed: readonly OwedRecord[];
  readonly summary: RunSummary;
  readonly origin: RunOrigin;
}

/**
 * An owed effect. `eventNumber` is the number of the event that a `publish` effect publishes, null for other effects.
 * `at` is the time of the turn, Unix milliseconds.
 */
export interface OwedRecord {
  readonly effect: OwedEffect;
  readonly eventNumber: number | null;
  readonly at: number;
  /** True for an effect that is still left to the creator of the aggregate, once something else was saved. */
  readonly leftToCreator?: boolean;
}

export interface Aggregate<Root extends RootId = RunId> {
  readonly head: AggregateHead<Root>;
  readonly actors: readonly StoredActor[];
  /** Ids of those actors that are stored apart from the snapshot; absent for none. */
  readonly apart?: readonly string[];
}

/**
 * The result of a turn. `head.version` is `expectedVersion + 1`. Actors that `changed` does not list stay as they are.
 * `events` are the events that the turn publishes: the store holds them once the save answers `saved`, and writes them
 * with the snapshot or right after it. When the save rejects, the snapshot may be stored without its events; its owed
 * effects still name them.
 */
export interface AggregateSave<Root extends RootId = RunId> {
  readonly expectedVersion: number;
  readonly head: AggregateHead<Root>;
  readonly changed: readonly StoredActor[];
  readonly events: readonly RunEvent[];
  /**
   * Actors of ended attempts, as an earlier save has stored them, that leave the snapshot with this save and are stored
   * apart from it. Their states are final. None of them is in `changed`. Only for a store that `keepsEndedApart`.
   */
  readonly ended?: readonly StoredActor[];
  /** True when every living node reads packed records. */
  readonly packs?: boolean;
  /** True when the status in the summary is the one that `expectedVersion` has. Indexes of statuses need no change then. */
  readonly keepsStatus?: boolean;
}

/** What `create` stores together with a new aggregate. */
export interface StoredBeside {
  /** Stored as `PlanStore.put` does. Absent when the plan is stored already, or when the aggregate has none. */
  readonly plan?: { readonly graph: RunPlan; readonly jobs: readonly JobSpec[] };
  readonly events?: readonly RunEvent[];
  /** True when every living node reads packed records. */
  readonly packs?: boolean;
}

export interface RunFilter {
  readonly pipelineId?: PipelineId;
  readonly projectId?: ProjectId;
  /** Only runs of these projects; absent for all. */
  readonly projectIds?: readonly ProjectId[];
  readonly status?: RunStatus;
}

/** Which runs a search finds; what is absent excludes none. */
export interface RunSearch {
  readonly pipelineId?: PipelineId | undefined;
  readonly projectIds?: readonly ProjectId[] | undefined;
  readonly statuses?: readonly RunStatus[] | undefined;
  readonly triggeredBy?: string | undefined;
  readonly ref?: string | undefined;
  readonly trigger?: RunOrigin["trigger"]["kind"] | undefined;
  /** Created at this time or later, Unix milliseconds. */
  readonly from?: number | undefined;
  /** Created before this time, Unix milliseconds. */
  readonly before?: number | undefined;
}

export interface RunSearchPlace {
  readonly limit: number;
  readonly after?: ListKey | undefined;
  /** Runs that the caller knows: they may be left out, so that nothing is read of them but their ids. */
  readonly isKnown?: ((runId: RunId) => boolean) | undefined;
}

export interface RunSearchPage {
  readonly list: readonly AggregateHead[];
  /** The place behind which the next page begins; null on the last page. */
  readonly next: ListKey | null;
}

export interface ApprovalFilter {
  readonly status: ApprovalStatus;
  readonly pipelineId?: PipelineId;
  readonly projectId?: ProjectId;
  /** Only approvals of these projects; absent for all. */
  readonly projectIds?: readonly ProjectId[];
}

export interface RunPageRequest extends PlacedPageRequest {
  readonly after?: ListKey | undefined;
}

export interface RunPage extends Page<AggregateHead> {
  /** False when there are more than {@link MAX_COUNTED}, which `total` is then. */
  readonly totalIsExact: boolean;
}

/** A step run, with the ids of its run and its job. */
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

/** What those who choose jobs of a run see of each attempt of each job. The stored names are the same in every schema. */
export interface JobInBrief {
  readonly jobId: JobRunId;
  /** Position in the plan. */
  readonly index: number;
  /** Position among the cells that the planned job was spread into; null for a job that is no such cell. */
  readonly cell: number | null;
  readonly attempt: number;
  /** Unix milliseconds; null before the end. */
  readonly endedAt: number | null;
}

/** A run with some of its jobs. */
export interface PartOfRun {
  /** The run itself, its approvals, the chosen jobs and their steps, in the order of `load`. */
  readonly aggregate: Aggregate;
  /** Every attempt of every job, by position and attempt. */
  readonly jobs: readonly JobInBrief[];
}

export interface AggregateSize {
  readonly version: number;
  readonly actors: number;
}

export interface AggregateStore {
  /**
   * True when the events of a save are stored in its transaction, so that a snapshot is never stored without them. The
   * last save of a run can then settle the run, and one that dispatches a step may leave out of `owed` what publishes these events.
   */
  readonly savesEventsAtOnce: boolean;
  /** An aggregate of up to so many actors is created in one transaction with its events. */
  readonly createsAtOnce: number;
  /**
   * True when a save writes what it names as `ended` apart from the snapshot. False for a store whose snapshot has a row
   * for each actor anyway, and while a node lives that would not find what is stored apart.
   */
  readonly keepsEndedApart: boolean;
  /** True when every living node can take pushed events into the log of a run. */
  readonly takesPushedEvents: boolean;
  /** True when {@link create} looks for a deletion of the run's pipeline, in the transaction that stores the run. */
  readonly seesDeletions: boolean;
  /**
   * Stores a new aggregate with version 1. Its plan is stored before it or with it, and its events as a save stores
   * them. Answers `exists` when the id is taken, and then the stored aggregate does not change; `amidDeletion` when it
   * is stored, and there is a record of a deletion of its pipeline, decided or not.
   */
  create(aggregate: Aggregate<RootId>, beside?: StoredBeside): Promise<Creation>;
  /**
   * The newest snapshot with all its actors, those of ended attempts included, always in the same order; undefined when
   * there is none.
   */
  load<Root extends RootId>(rootId: Root): Promise<Aggregate<Root> | undefined>;
  /**
   * What {@link load} answers, also of one moment, read in pieces: `pause` is awaited after each piece, so that a large
   * aggregate does not hold the event loop. The array of actors belongs to the caller.
   */
  loadInPieces<Root extends RootId>(rootId: Root, pause: () => Promise<void>): Promise<Aggregate<Root> | undefined>;
  /**
   * These runs as {@link load} answers them, without those that do not exist, and without those that have more than
   * `atMost` actors in their snapshot.
   */
  loadSmall(runIds: readonly RunId[], atMost: number): Promise<readonly Aggregate[]>;
  /**
   * What a page of a large run shows: the jobs that `choose` names, with their steps, all from one moment. Costs far less
   * than a load, and `pause` is awaited as there. Rejects with what `choose` throws; undefined when there is no such run.
   */
  loadJobs(
    rootId: RunId,
    choose: (jobs: readonly JobInBrief[]) => readonly JobRunId[],
    pause: () => Promise<void>,
  ): Promise<PartOfRun | undefined>;
  /**
   * The newest version, and how many actors it has, counted up to `atMost`. Reads no actor; undefined when there is no
   * such aggregate.
   */
  sizeOf(rootId: RootId, atMost: number): Promise<AggregateSize | undefined>;
  /** The newest head of a run; undefined when there is none. */
  loadHead(rootId: RunId): Promise<AggregateHead | undefined>;
  /**
   * The head with those of the named actors that exist, all from one snapshot. The cost does not depend on how many
   * actors the aggregate has.
   */
  loadActors(rootId: RunId, ids: readonly string[]): Promise<Aggregate | undefined>;
  /**
   * Stores a turn's result when the stored version is `expectedVersion`. Answers `versionConflict`, and stores nothing,
   * when it is another version or the aggregate is missing; so a repeat of a stored save answers `versionConflict`.
   */
  save(change: AggregateSave<RootId>): Promise<"saved" | "versionConflict">;

  /** Ids (ascending, after `after`) of aggregates of a shard that owe effects. */
  pageOwing(shard: number, after: string, limit: number): Promise<readonly RootId[]>;
  /**
   * Aggregates of a shard whose `nextDueAt` is at or before `dueAt`, earliest first (id as tie-break), after `after`.
   */
  pageDue(shard: number, dueAt: number, after: DueAggregate | null, limit: number): Promise<readonly DueAggregate[]>;
  /** Ids (ascending, after `after`) of unsettled aggregates of a shard, either those with bound jobs or the others. */
  pageUnsettled(shard: number, bound: boolean, after: string, limit: number): Promise<readonly RootId[]>;
  /** Ids (ascending, after `after`) of the groups of these shards that are not settled. */
  pageLiveGroups(shards: readonly number[], after: GroupId | "", limit: number): Promise<readonly GroupId[]>;
  /** Jobs of a shard that are bound to an agent (`index.agentId` is set), by id, ascending, after `after`. */
  pageBoundJobs(shard: number, after: string, limit: number): Promise<readonly JobLocation[]>;

  /** Jobs of a shard whose `index.status` is `queued`, by id, ascending, after `after`. */
  pageQueuedJobs(shard: number, after: string, limit: number): Promise<readonly JobLocation[]>;

  /** Steps with `index.agentId` equal to `agentId`: the steps that the agent holds, as the control plane knows it. */
  stepsHeldBy(agentId: AgentId): Promise<readonly StepLocation[]>;
  /** Jobs with `index.agentId` equal to `agentId`, by id, ascending; at most `limit`, if it is given. */
  jobsHeldBy(agentId: AgentId, limit?: number): Promise<readonly JobLocation[]>;
  findStep(stepRunId: StepRunId): Promise<StepLocation | undefined>;
  /** The step as no failure of the store can undo it; it may be older than what `findStep` answers. */
  findDurableStep(stepRunId: StepRunId): Promise<StepLocation | undefined>;
  findJob(jobId: JobRunId): Promise<JobLocation | undefined>;

  /**
   * Heads of runs, without groups, that match the filter, by the time of their creation (id as tie-break). `owed` may be
   * empty in them whatever the run owes: lists show nothing of it.
   */
  listRuns(filter: RunFilter, page: RunPageRequest): Promise<RunPage>;
  /**
   * Heads of runs that the search finds, newest first, as in {@link listRuns}. The cost is bounded: a page ends early, and
   * may be empty, when conditions that no index decides together have excluded many runs.
   */
  findRuns(search: RunSearch, page: RunSearchPlace): Promise<RunSearchPage>;
  /** Approvals of all runs that match the filter, by the time of their request (id as tie-break). */
  listApprovals(filter: ApprovalFilter, page: PlacedPageRequest): Promise<Page<ApprovalLocation>>;
  /** The newest runs of each of these pipelines, at most `limit`, newest first; a pipeline without runs has no entry. */
  newestRuns(
    pipelineIds: readonly PipelineId[],
    limit: number,
  ): Promise<ReadonlyMap<PipelineId, readonly AggregateHead[]>>;
  /** Ids of the runs of a pipeline that are not final, oldest first. */
  liveRuns(pipelineId: PipelineId, limit: number): Promise<readonly RunId[]>;
}

/** A run of a job with a target that has started. */
export interface Deployment extends DeploymentIndex {
  readonly jobId: JobRunId;
  readonly runId: RunId;
  readonly status: JobStatus;
  /** Unix milliseconds; null before the end. */
  readonly endedAt: number | null;
}

/** To what a pipeline deploys. Lists are sorted by these fields, in the order of their bytes. */
export interface EnvironmentKey {
  readonly projectId: ProjectId;
  readonly environment: string;
  readonly pipelineId: PipelineId;
}

/** Which deployments to an environment are meant; what is absent excludes none. */
export interface DeploymentFilter {
  readonly projectId: ProjectId;
  readonly environment: string;
  readonly pipelineId?: PipelineId | undefined;
  readonly status?: JobStatus | undefined;
}

/**
 * The port of deployments. They are projections of the actors of jobs, which the save of a turn writes with these, and end with
 * their run.
 */
export interface DeploymentStore {
  /** The first environment behind a place, which need not exist; undefined behind the last one. Reads one entry of an index. */
  nextEnvironment(after: EnvironmentKey): Promise<EnvironmentKey | undefined>;
  /** The newest first. A status is compared within the index; all other fields are found by it. */
  list(
    filter: DeploymentFilter,
    page: { readonly limit: number; readonly after?: ListKey | undefined },
  ): Promise<readonly Deployment[]>;
}
