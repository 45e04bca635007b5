/**
 * Stores of aggregates and plans that convert between schemas. Only the adapters see the stored form: these stores
 * answer everything in the newest shape, whatever schema it is stored with, and write with the schema that all living
 * nodes read.
 *
 * Each actor's state carries its own schema, and so does the origin, which is written once. So a save writes only what
 * the turn changed, even the first save after a switch of the schema, and a look-up of one job or step needs no head. A
 * head has the newest schema of its aggregate and never goes back to an older one: by the head alone, an older node
 * knows that it cannot read the aggregate.
 */
import type { RootId } from "../../domain/ids.ts";
import type { JobSpec, RunPlan } from "../../domain/plan.ts";
import {
  type Aggregate,
  type AggregateHead,
  type AggregateStore,
  type ApprovalLocation,
  type JobLocation,
  NO_PIPELINE,
  type OwedRecord,
  type StepLocation,
  type StoredActor,
} from "../ports/aggregates.ts";
import type { EventStore } from "../ports/events.ts";
import type { PlanStore } from "../ports/plans.ts";
import { withDerived, withoutDerived } from "./derived-fields.ts";
import { owedBesideEvents } from "./owed-beside-events.ts";
import {
  APART_SCHEMA,
  fromStored,
  NewerSchemaError,
  PACKED_RECORDS_SCHEMA,
  PUSHED_EVENTS_SCHEMA,
  refuseNewer,
  type StoredFormat,
  toStored,
} from "./stored-format.ts";
import type { StoredState } from "./stored-parts.ts";

/** Actors that are converted in one piece. */
const ACTORS_AT_ONCE = 100;

/**
 * Reads reject with a `NewerSchemaError` for data that a newer version has stored. Only pages of jobs leave such jobs
 * out.
 */
export function versionedAggregates(store: AggregateStore, format: StoredFormat, writes: () => number): AggregateStore {
  return {
    savesEventsAtOnce: store.savesEventsAtOnce,
    createsAtOnce: store.createsAtOnce,
    seesDeletions: store.seesDeletions,
    get keepsEndedApart() {
      return store.keepsEndedApart && writes() >= APART_SCHEMA;
    },
    get takesPushedEvents() {
      return store.takesPushedEvents && writes() >= PUSHED_EVENTS_SCHEMA;
    },
    create({ head, actors }, { plan, events } = {}) {
      const schema = writes();
      const owed = actors.length <= store.createsAtOnce ? owedBesideEvents(head.owed, events ?? []) : head.owed;
      const stored = { head: writtenHead(head, owed, schema), actors: actors.map((actor) => written(actor, schema)) };
      return store.create(stored, {
        packs: schema >= PACKED_RECORDS_SCHEMA,
        ...(events === undefined ? {} : { events }),
        ...(plan === undefined ? {} : { plan: writtenPlan(plan.graph, plan.jobs, format, schema) }),
      });
    },
    async load<Root extends RootId>(rootId: Root) {
      const found = await store.load(rootId);
      return found && readAggregate(found);
    },
    async loadInPieces<Root extends RootId>(rootId: Root, pause: () => Promise<void>) {
      const found = await store.loadInPieces(rootId, pause);
      if (found === undefined) return undefined;
      const head = readHead(found.head);
      // In place: the stored form of each actor can be forgotten at once.
      const actors = found.actors as StoredActor[];
      for (let at = 0; at < actors.length; at++) {
        if (at % ACTORS_AT_ONCE === 0) await pause();
        actors[at] = read(actors[at]!, rootId);
      }
      return { ...found, head, actors: withDerived(actors) };
    },
    async loadSmall(runIds, atMost) {
      return (await store.loadSmall(runIds, atMost)).map(readAggregate);
    },
    async loadJobs(rootId, choose, pause) {
      const found = await store.loadJobs(rootId, choose, pause);
      return found && { ...found, aggregate: readAggregate(found.aggregate) };
    },
    sizeOf: (rootId, atMost) => store.sizeOf(rootId, atMost),
    async loadHead(rootId) {
      const head = await store.loadHead(rootId);
      return head && readHead(head);
    },
    async loadActors(rootId, ids) {
      const found = await store.loadActors(rootId, ids);
      return found && readAggregate(found);
    },
    save({ expectedVersion, head, changed, events, ended, keepsStatus = false }) {
      const schema = Math.max(head.schema, writes());
      const owed = store.savesEventsAtOnce ? owedBesideEvents(head.owed, events) : head.owed;
      return store.save({
        expectedVersion,
        // The origin was written with the creation.
        head: { ...head, schema, owed: format.write("owed", owed, schema) },
        changed: changed.map((actor) => written(actor, schema)),
        events,
        packs: writes() >= PACKED_RECORDS_SCHEMA,
        keepsStatus,
        ...(ended && { ended: ended.map((actor) => written(actor, schema)) }),
      });
    },

    pageOwing: (shard, after, limit) => store.pageOwing(shard, after, limit),
    pageDue: (shard, dueAt, after, limit) => store.pageDue(shard, dueAt, after, limit),
    pageUnsettled: (shard, bound, after, limit) => store.pageUnsettled(shard, bound, after, limit),
    pageLiveGroups: (shards, after, limit) => store.pageLiveGroups(shards, after, limit),
    pageBoundJobs: (shard, after, limit) =>
      readablePage((last, missing) => store.pageBoundJobs(shard, last, missing), after, limit),
    pageQueuedJobs: (shard, after, limit) =>
      readablePage((last, missing) => store.pageQueuedJobs(shard, last, missing), after, limit),

    stepsHeldBy: async (agentId) => (await store.stepsHeldBy(agentId)).map(readLocation),
    jobsHeldBy: async (agentId, limit) => (await store.jobsHeldBy(agentId, limit)).map(readLocation),
    async findStep(stepRunId) {
      const found = await store.findStep(stepRunId);
      return found && readLocation(found);
    },
    async findDurableStep(stepRunId) {
      const found = await store.findDurableStep(stepRunId);
      return found && readLocation(found);
    },
    async findJob(jobId) {
      const found = await store.findJob(jobId);
      return found && readLocation(found);
    },

    async listRuns(filter, page) {
      const { list, ...totals } = await store.listRuns(filter, page);
      return { list: list.map(readHead), ...totals };
    },
    async listApprovals(filter, page) {
      const { list, total } = await store.listApprovals(filter, page);
      return { list: list.map(readLocation), total };
    },
    async findRuns(search, page) {
      const { list, next } = await store.findRuns(search, page);
      return { list: list.map(readHead), next };
    },
    async newestRuns(pipelineIds, limit) {
      const newest = await store.newestRuns(pipelineIds, limit);
      return new Map([...newest].map(([pipelineId, heads]) => [pipelineId, heads.map(readHead)]));
    },
    liveRuns: (pipelineId, limit) => store.liveRuns(pipelineId, limit),
  };

  /**
   * The owner of a shard cannot watch jobs that it cannot read. Leaving them out lets it watch the other jobs of the
   * shard.
   */
  async function readablePage(
    nextPage: (after: string, limit: number) => Promise<readonly JobLocation[]>,
    after: string,
    limit: number,
  ): Promise<readonly JobLocation[]> {
    const readable: JobLocation[] = [];
    for (let last = after; ;) {
      const missing = limit - readable.length;
      const page = await nextPage(last, missing);
      readable.push(...page.flatMap(readIfKnown));
      if (page.length < missing || readable.length === limit) return readable;
      last = page.at(-1)!.jobId;
    }
  }

  function readAggregate<Root extends RootId>({ head, actors, ...others }: Aggregate<Root>): Aggregate<Root> {
    return { ...others, head: readHead(head), actors: withDerived(actors.map((actor) => read(actor, head.rootId))) };
  }

  /** `schema` keeps its stored value, so that the next save writes no older schema. */
  function readHead<Root extends RootId>(head: AggregateHead<Root>): AggregateHead<Root> {
    const what = head.summary.pipelineId === NO_PIPELINE ? `the group ${head.rootId}` : `the run ${head.rootId}`;
    refuseNewer(what, head.schema, format);
    return {
      ...head,
      owed: format.read("owed", head.owed, head.schema),
      origin: fromStored(format, "origin", head.origin, what),
    };
  }

  function writtenHead<Root extends RootId>(
    head: AggregateHead<Root>,
    owed: readonly OwedRecord[],
    schema: number,
  ): AggregateHead<Root> {
    return {
      ...head,
      schema,
      owed: format.write("owed", owed, schema),
      origin: toStored(format, "origin", head.origin, schema),
    };
  }

  function read(actor: StoredActor, rootId: RootId): StoredActor {
    const what = `the ${actor.kind} ${actor.id} of ${rootId}`;
    return { ...actor, state: fromStored(format, actor.kind, actor.state as StoredState, what) };
  }

  function written(actor: StoredActor, schema: number): StoredActor {
    const state = actor.state as StoredState;
    const stored = schema < APART_SCHEMA ? state : withoutDerived(actor.kind, state);
    return { ...actor, state: toStored(format, actor.kind, stored, schema) };
  }

  function readLocation<Location extends JobLocation | StepLocation | ApprovalLocation>(location: Location): Location {
    return { ...location, actor: read(location.actor, location.runId) };
  }

  function readIfKnown(location: JobLocation): readonly JobLocation[] {
    try {
      return [readLocation(location)];
    } catch (error) {
      if (error instanceof NewerSchemaError) return [];
      throw error;
    }
  }
}

/** Reads reject with a `NewerSchemaError` for a plan that a newer version has stored. */
export function versionedPlans(store: PlanStore, format: StoredFormat, writes: () => number): PlanStore {
  return {
    put(runId, plan, jobs) {
      const schema = writes();
      const written = writtenPlan(plan, jobs, format, schema);
      return store.put(runId, written.graph, written.jobs, schema >= PACKED_RECORDS_SCHEMA);
    },
    async loadPlan(runId) {
      const plan = await store.loadPlan(runId);
      return plan && fromStored(format, "plan", plan, `the plan of the run ${runId}`);
    },
    async loadPlanInPieces(runId, pause) {
      const plan = await store.loadPlanInPieces(runId, pause);
      return plan && fromStored(format, "plan", plan, `the plan of the run ${runId}`);
    },
    async loadPlans(runIds) {
      const plans = await store.loadPlans(runIds);
      return new Map(
        [...plans].map(([runId, plan]) => [runId, fromStored(format, "plan", plan, `the plan of the run ${runId}`)]),
      );
    },
    async loadJob(runId, jobIndex) {
      const job = await store.loadJob(runId, jobIndex);
      return job && fromStored(format, "spec", job, `job ${jobIndex} of the plan of the run ${runId}`);
    },
  };
}

/** Events only ever gain fields, so there is nothing to convert; they are packed once every living node reads that. */
export function packedEvents(store: EventStore, writes: () => number): EventStore {
  return {
    append: (events) => store.append(events, writes() >= PACKED_RECORDS_SCHEMA),
    read: (...call) => store.read(...call),
  };
}

/** A plan and its jobs in the stored form of `schema`. */
function writtenPlan(
  plan: RunPlan,
  jobs: readonly JobSpec[],
  format: StoredFormat,
  schema: number,
): { readonly graph: RunPlan; readonly jobs: readonly JobSpec[] } {
  return {
    graph: toStored(format, "plan", plan, schema),
    jobs: jobs.map((job) => toStored(format, "spec", job, schema)),
  };
}
