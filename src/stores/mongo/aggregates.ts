/**
 * Snapshots of aggregates in MongoDB: one document each, actors under their generated ids, changed by one conditional
 * update. Look-ups by job, step and agent read projections, which are written after the save and guarded by its
 * version. A crash in between leaves them behind; the document names what its last save changed, and every load
 * writes those projections again.
 */
import type { AnyBulkWriteOperation, Collection, Document, Filter, Sort } from "mongodb";
import type { AgentId, JobRunId, PipelineId, RunId, StepRunId } from "../../domain/ids.ts";
import { FINAL_RUN_STATUSES } from "../../domain/status.ts";
import type {
  Aggregate,
  AggregateHead,
  AggregateSave,
  AggregateStore,
  JobLocation,
  Page,
  PageRequest,
  RunFilter,
  StepLocation,
  StoredActor,
} from "../aggregates.ts";
import { type Connection, guard, insertIfAbsent, isDuplicateKey, type Keyed } from "./connection.ts";

const RANK = { run: 0, job: 1, step: 2 } as const;
const WITHOUT_ACTORS = { actors: 0, lastChanged: 0 } as const;
/** Projections in one round trip. */
const BULK = 1_000;

interface Projection extends Keyed {
  rootId: string;
  shard: number;
  version: number;
  kind: StoredActor["kind"];
  state: unknown;
  index: StoredActor["index"];
}

export class MongoAggregateStore implements AggregateStore {
  readonly #aggregates: Collection<Keyed>;
  readonly #projections: Collection<Projection>;

  constructor(connection: Connection) {
    this.#aggregates = connection.collection("aggregates");
    this.#projections = connection.collection("actors") as unknown as Collection<Projection>;
  }

  /** Makes the indexes; idempotent. */
  async prepare(): Promise<void> {
    await guard(async () => {
      await this.#aggregates.createIndexes([
        { key: { shard: 1, owes: 1, _id: 1 } },
        { key: { shard: 1, nextDueAt: 1 } },
        { key: { shard: 1, settled: 1, "summary.bound": 1, _id: 1 } },
        { key: { "summary.pipelineId": 1, "summary.createdAt": 1, _id: 1 } },
        { key: { "summary.createdAt": 1, _id: 1 } },
      ]);
      await this.#projections.createIndexes([
        { key: { "index.agentId": 1, kind: 1 } },
        { key: { shard: 1, kind: 1, _id: 1 } },
      ]);
    });
  }

  async create({ head, actors }: Aggregate): Promise<"created" | "exists"> {
    const document = {
      ...toDocument(head),
      origin: head.origin,
      actors: Object.fromEntries(actors.map((actor) => [actor.id, actor])),
      lastChanged: actors.map(({ id }) => id),
    };
    const inserted = await insertIfAbsent(this.#aggregates, document);
    if (inserted) await this.#project(head, actors);
    return inserted ? "created" : "exists";
  }

  async load(rootId: RunId): Promise<Aggregate | undefined> {
    const document = await guard(() => this.#aggregates.findOne({ _id: rootId }));
    if (document === null) return undefined;
    const head = toHead(document);
    const byId = document["actors"] as Record<string, StoredActor>;
    const changed = (document["lastChanged"] as string[]).map((id) => byId[id]!);
    await this.#project(head, changed);
    return { head, actors: Object.values(byId).toSorted(inOrder) };
  }

  async loadHead(rootId: RunId): Promise<AggregateHead | undefined> {
    const document = await guard(() => this.#aggregates.findOne({ _id: rootId }, { projection: WITHOUT_ACTORS }));
    return document === null ? undefined : toHead(document);
  }

  async save({ expectedVersion, head, changed }: AggregateSave): Promise<"saved" | "versionConflict"> {
    const set: Document = { ...toDocument(head), lastChanged: changed.map(({ id }) => id) };
    delete set["_id"];
    for (const actor of changed) set[`actors.${actor.id}`] = actor;
    const result = await guard(() =>
      this.#aggregates.updateOne({ _id: head.rootId, version: expectedVersion }, { $set: set }),
    );
    if (result.matchedCount === 0) return "versionConflict";
    await this.#project(head, changed);
    return "saved";
  }

  async pageOwing(shard: number, after: string, limit: number): Promise<readonly RunId[]> {
    return this.#pageIds({ shard, owes: true, _id: { $gt: after } }, { _id: 1 }, limit);
  }

  async pageDue(shard: number, dueAt: number, limit: number): Promise<readonly RunId[]> {
    return this.#pageIds({ shard, nextDueAt: { $ne: null, $lte: dueAt } }, { nextDueAt: 1 }, limit);
  }

  async pageUnsettled(shard: number, bound: boolean, after: string, limit: number): Promise<readonly RunId[]> {
    return this.#pageIds({ shard, settled: false, "summary.bound": bound, _id: { $gt: after } }, { _id: 1 }, limit);
  }

  async pageBoundJobs(shard: number, after: string, limit: number): Promise<readonly JobLocation[]> {
    const found = await guard(() =>
      this.#projections
        .find({ shard, kind: "job", "index.agentId": { $ne: null }, _id: { $gt: after } } as Filter<Projection>)
        .sort({ _id: 1 })
        .limit(limit)
        .toArray(),
    );
    return found.map(toJobLocation);
  }

  async stepsHeldBy(agentId: AgentId): Promise<readonly StepLocation[]> {
    return (await this.#heldBy(agentId, "step")).map(toStepLocation);
  }

  async jobsHeldBy(agentId: AgentId): Promise<readonly JobLocation[]> {
    return (await this.#heldBy(agentId, "job")).map(toJobLocation);
  }

  async findStep(stepRunId: StepRunId): Promise<StepLocation | undefined> {
    const found = await guard(() => this.#projections.findOne({ _id: stepRunId, kind: "step" }));
    return found === null ? undefined : toStepLocation(found);
  }

  async findJob(jobId: JobRunId): Promise<JobLocation | undefined> {
    const found = await guard(() => this.#projections.findOne({ _id: jobId, kind: "job" }));
    return found === null ? undefined : toJobLocation(found);
  }

  async listRuns(filter: RunFilter, { page, pageSize, descending }: PageRequest): Promise<Page<AggregateHead>> {
    const query: Filter<Keyed> = {};
    if (filter.pipelineId !== undefined) query["summary.pipelineId"] = filter.pipelineId;
    if (filter.projectId !== undefined) query["summary.projectId"] = filter.projectId;
    if (filter.status !== undefined) query["summary.status"] = filter.status;
    const direction = descending ? -1 : 1;
    return guard(async () => {
      const total = await this.#aggregates.countDocuments(query);
      const list = await this.#aggregates
        .find(query, { projection: WITHOUT_ACTORS })
        .sort({ "summary.createdAt": direction, _id: direction })
        .skip((page - 1) * pageSize)
        .limit(pageSize)
        .toArray();
      return { list: list.map(toHead), total };
    });
  }

  async newestRuns(pipelineIds: readonly PipelineId[]): Promise<ReadonlyMap<PipelineId, AggregateHead>> {
    const found = await guard(() =>
      Promise.all(
        pipelineIds.map((pipelineId) =>
          this.#aggregates
            .find({ "summary.pipelineId": pipelineId }, { projection: WITHOUT_ACTORS })
            .sort({ "summary.createdAt": -1, _id: -1 })
            .limit(1)
            .next(),
        ),
      ),
    );
    const heads = found.flatMap((document) => (document === null ? [] : [toHead(document)]));
    return new Map(heads.map((head) => [head.summary.pipelineId, head]));
  }

  async liveRuns(pipelineId: PipelineId, limit: number): Promise<readonly RunId[]> {
    return this.#pageIds(
      { "summary.pipelineId": pipelineId, "summary.status": { $nin: [...FINAL_RUN_STATUSES] } },
      { "summary.createdAt": 1, _id: 1 },
      limit,
    );
  }

  async #pageIds(filter: Filter<Keyed>, sort: Sort, limit: number): Promise<readonly RunId[]> {
    const found = await guard(() =>
      this.#aggregates
        .find(filter, { projection: { _id: 1 } })
        .sort(sort)
        .limit(limit)
        .toArray(),
    );
    return found.map(({ _id }) => _id as RunId);
  }

  #heldBy(agentId: AgentId, kind: "job" | "step"): Promise<Projection[]> {
    return guard(() =>
      this.#projections
        .find({ "index.agentId": agentId, kind } as Filter<Projection>)
        .sort({ _id: 1 })
        .toArray(),
    );
  }

  /** Brings the projections of actors to a version; those of a newer one are left alone. Idempotent. */
  async #project({ rootId, shard, version }: AggregateHead, actors: readonly StoredActor[]): Promise<void> {
    for (let start = 0; start < actors.length; start += BULK) {
      const operations = actors
        .slice(start, start + BULK)
        .map(({ id, kind, state, index }): AnyBulkWriteOperation<Projection> => ({
          updateOne: {
            filter: { _id: id, version: { $lt: version } },
            update: { $set: { rootId, shard, version, kind, state, index } },
            upsert: true,
          },
        }));
      await guard(async () => {
        try {
          await this.#projections.bulkWrite(operations, { ordered: false });
        } catch (error) {
          // An upsert that finds no older version tries to insert: the same or a newer one is there already.
          if (!isDuplicateKey(error)) throw error;
        }
      });
    }
  }
}

function toDocument(head: AggregateHead): Keyed {
  const { rootId, shard, schema, version, final, settled, eventNumber, nextDueAt, owed, summary } = head;
  const owes = owed.length > 0;
  return { _id: rootId, shard, schema, version, final, settled, eventNumber, nextDueAt, owed, owes, summary };
}

function toHead(document: Document): AggregateHead {
  const { _id, shard, schema, version, final, settled, eventNumber, nextDueAt, owed, summary, origin } = document;
  return { rootId: _id, shard, schema, version, final, settled, eventNumber, nextDueAt, owed, summary, origin };
}

function inOrder(a: StoredActor, b: StoredActor): number {
  return (
    RANK[a.kind] - RANK[b.kind] ||
    compare(a.index.jobId ?? "", b.index.jobId ?? "") ||
    a.index.position - b.index.position ||
    a.index.attempt - b.index.attempt
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function toStepLocation({ _id, rootId, kind, state, index }: Projection): StepLocation {
  return {
    runId: rootId as RunId,
    jobId: index.jobId as JobRunId,
    stepRunId: _id as StepRunId,
    actor: { kind, id: _id, state, index },
  };
}

function toJobLocation({ _id, rootId, kind, state, index }: Projection): JobLocation {
  return { runId: rootId as RunId, jobId: _id as JobRunId, actor: { kind, id: _id, state, index } };
}
