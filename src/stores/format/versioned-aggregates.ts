/**
 * The store of aggregates as everybody but its adapters sees it: whatever schema lies in the store, what comes out is of
 * the newest, and what goes in is written with the schema that all nodes read.
 *
 * Each state carries its own schema, and so does the origin, which is written once: so a save writes only what a turn has
 * changed, also the first save after a switch, and a look-up of one job or step needs no head. A head never goes back to
 * an older schema: it has the newest of its aggregate, so an older node knows by the head alone what it cannot read.
 */
import type { RootId } from "../../domain/ids.ts";
import {
  type Aggregate,
  type AggregateHead,
  type AggregateStore,
  type ApprovalLocation,
  type JobLocation,
  NO_PIPELINE,
  type StepLocation,
  type StoredActor,
} from "../ports/aggregates.ts";
import { writtenPlan } from "./versioned-plans.ts";
import { fromStored, NewerSchemaError, refuseNewer, type StoredFormat, toStored } from "./stored-format.ts";
import type { StoredState } from "./stored-parts.ts";

/** Reads reject with a `NewerSchemaError` for what a newer version has stored; only pages of jobs leave it out. */
export function versionedAggregates(store: AggregateStore, format: StoredFormat, writes: () => number): AggregateStore {
  return {
    create({ head, actors }, { plan, events } = {}) {
      const schema = writes();
      const stored = { head: writtenHead(head, schema), actors: actors.map((actor) => written(actor, schema)) };
      return store.create(stored, {
        ...(events === undefined ? {} : { events }),
        ...(plan === undefined ? {} : { plan: writtenPlan(plan.graph, plan.jobs, format, schema) }),
      });
    },
    async load<Root extends RootId>(rootId: Root) {
      const found = await store.load(rootId);
      return found && readAggregate(found);
    },
    async loadHead(rootId) {
      const head = await store.loadHead(rootId);
      return head && readHead(head);
    },
    async loadActors(rootId, ids) {
      const found = await store.loadActors(rootId, ids);
      return found && readAggregate(found);
    },
    save({ expectedVersion, head, changed, events }) {
      const schema = Math.max(head.schema, writes());
      return store.save({
        expectedVersion,
        head: writtenHead(head, schema),
        changed: changed.map((actor) => written(actor, schema)),
        events,
      });
    },

    pageOwing: (shard, after, limit) => store.pageOwing(shard, after, limit),
    pageDue: (shard, dueAt, after, limit) => store.pageDue(shard, dueAt, after, limit),
    pageUnsettled: (shard, bound, after, limit) => store.pageUnsettled(shard, bound, after, limit),
    pageBoundJobs: (shard, after, limit) =>
      readablePage((last, missing) => store.pageBoundJobs(shard, last, missing), after, limit),
    pageQueuedJobs: (shard, after, limit) =>
      readablePage((last, missing) => store.pageQueuedJobs(shard, last, missing), after, limit),

    stepsHeldBy: async (agentId) => (await store.stepsHeldBy(agentId)).map(readLocation),
    jobsHeldBy: async (agentId) => (await store.jobsHeldBy(agentId)).map(readLocation),
    async findStep(stepRunId) {
      const found = await store.findStep(stepRunId);
      return found && readLocation(found);
    },
    async findJob(jobId) {
      const found = await store.findJob(jobId);
      return found && readLocation(found);
    },

    async listRuns(filter, page) {
      const { list, total } = await store.listRuns(filter, page);
      return { list: list.map(readHead), total };
    },
    async listApprovals(filter, page) {
      const { list, total } = await store.listApprovals(filter, page);
      return { list: list.map(readLocation), total };
    },
    async newestRuns(pipelineIds) {
      const newest = await store.newestRuns(pipelineIds);
      return new Map([...newest].map(([pipelineId, head]) => [pipelineId, readHead(head)]));
    },
    liveRuns: (pipelineId, limit) => store.liveRuns(pipelineId, limit),
  };

  /** Of what it cannot read an owner has nothing to watch: that must not keep it from the rest of its shard. */
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

  function readAggregate<Root extends RootId>({ head, actors }: Aggregate<Root>): Aggregate<Root> {
    return { head: readHead(head), actors: actors.map((actor) => read(actor, head.rootId)) };
  }

  /** `schema` stays what is stored, so that the next save does not fall behind it. */
  function readHead<Root extends RootId>(head: AggregateHead<Root>): AggregateHead<Root> {
    const what = head.summary.pipelineId === NO_PIPELINE ? `the group ${head.rootId}` : `the run ${head.rootId}`;
    refuseNewer(what, head.schema, format);
    return {
      ...head,
      owed: format.read("owed", head.owed, head.schema),
      origin: fromStored(format, "origin", head.origin, what),
    };
  }

  function writtenHead<Root extends RootId>(head: AggregateHead<Root>, schema: number): AggregateHead<Root> {
    return {
      ...head,
      schema,
      owed: format.write("owed", head.owed, schema),
      origin: toStored(format, "origin", head.origin, schema),
    };
  }

  function read(actor: StoredActor, rootId: RootId): StoredActor {
    const what = `the ${actor.kind} ${actor.id} of ${rootId}`;
    return { ...actor, state: fromStored(format, actor.kind, actor.state as StoredState, what) };
  }

  function written(actor: StoredActor, schema: number): StoredActor {
    return { ...actor, state: toStored(format, actor.kind, actor.state as StoredState, schema) };
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
