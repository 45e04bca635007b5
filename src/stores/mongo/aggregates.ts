/**
 * The store of snapshots in MongoDB: one document for each aggregate, with its actors under their ids, changed by one
 * conditional update. Look-ups by job, step and agent read projections (read-models.ts), which are written after the
 * save. A crash between the two leaves projections behind. So the document names the actors that its last save changed,
 * and `load` writes their projections again.
 */
import type { Collection, Document, Filter, Sort, UpdateFilter } from "mongodb";
import type { AgentId, GroupId, JobRunId, PipelineId, RootId, RunId, StepRunId } from "../../domain/ids.ts";
import { FINAL_RUN_STATUSES } from "../../domain/status.ts";
import {
  type Aggregate,
  type AggregateHead,
  type AggregateSave,
  type AggregateSize,
  type AggregateStore,
  type ApprovalFilter,
  type ApprovalLocation,
  type Creation,
  type DueAggregate,
  GROUP_IDS,
  type JobLocation,
  type PartOfRun,
  type RunFilter,
  type RunPage,
  type RunPageRequest,
  type RunSearchPage,
  type StepLocation,
  type StoredActor,
  type StoredBeside,
  NO_PIPELINE,
} from "../ports/aggregates.ts";
import { MAX_COUNTED, type Page, type PlacedPageRequest } from "../ports/pages.ts";
import type { PlanStore } from "../ports/plans.ts";
import { DURABLE } from "./cluster/concerns.ts";
import { type Connection, insertIfAbsent, type Keyed } from "./connection.ts";
import { parsedInPieces } from "./raw-documents.ts";
import { findRuns } from "./runs/find-runs.ts";
import { loadJobs } from "./runs/load-jobs.ts";
import { EndedAttempts } from "./ended-attempts.ts";
import { fitted, isSmall, isTooLarge, unpacked } from "./packed-snapshots.ts";
import {
  type AggregateDocument,
  type HeadDocument,
  HEAD_FIELDS,
  toHead,
  withEnded,
} from "./runs/aggregate-documents.ts";
import { ReadModels } from "./read-models.ts";
import { insertEvents, planStore } from "./runtime.ts";
import { readPage } from "./pages.ts";

/** The projection that leaves the actors out. */
const HEAD_ONLY = { actors: 0, changed: 0, packed: 0, packedActors: 0, endedApart: 0 } as const;
export class MongoAggregateStore implements AggregateStore {
  /** A document is one atomic update; the events are documents of another collection. */
  readonly savesEventsAtOnce = false;
  readonly createsAtOnce = 0;
  readonly seesDeletions = false;
  readonly keepsEndedApart = true;
  readonly takesPushedEvents = true;
  readonly #aggregates: Collection<AggregateDocument>;
  readonly #readModels: ReadModels;
  readonly #ended: EndedAttempts;
  readonly #events: Collection<Keyed>;
  readonly #plans: PlanStore;

  constructor(connection: Connection) {
    this.#aggregates = connection.collection("aggregates");
    this.#readModels = new ReadModels(connection);
    this.#ended = new EndedAttempts(connection);
    this.#events = connection.collection("events");
    this.#plans = planStore(connection);
  }

  async create(
    { head, actors }: Aggregate<RootId>,
    { plan, events = [], packs }: StoredBeside = {},
  ): Promise<Creation> {
    if (plan !== undefined) await this.#plans.put(head.rootId as RunId, plan.graph, plan.jobs, packs);
    const document = toDocument(head);
    const contents = {
      actors: Object.fromEntries(actors.map((actor) => [actor.id, actor])),
      owed: head.owed,
      changed: actors.map(({ id }) => id),
    };
    const inserted = await insertIfAbsent<AggregateDocument>(this.#aggregates, {
      ...document,
      ...(await fitted(contents, document)),
      ...untoldWith(events),
    });
    if (!inserted) return "exists";
    await Promise.all([this.#readModels.write(head, actors), insertEvents(this.#events, events, packs)]);
    return "created";
  }

  async load<Root extends RootId>(rootId: Root): Promise<Aggregate<Root> | undefined> {
    const document = await this.#aggregates.findOne({ _id: rootId });
    if (document === null) return undefined;
    const { actors, owed, changed } = await unpacked(document);
    const head = { ...toHead<Root>(document), owed };
    await this.#readModels.repair(
      head,
      changed.map((id) => actors[id]!),
    );
    const apart = document.endedApart === true ? await this.#ended.load(rootId, head.version) : [];
    return withEnded(head, actors, apart);
  }

  async loadInPieces<Root extends RootId>(
    rootId: Root,
    pause: () => Promise<void>,
  ): Promise<Aggregate<Root> | undefined> {
    const bytes = await this.#aggregates.findOne<Buffer>({ _id: rootId }, { raw: true });
    if (bytes === null) return undefined;
    const document = await parsedInPieces<AggregateDocument>(bytes, "actors", pause);
    const { actors, owed, changed } = await unpacked(document);
    const head = { ...toHead<Root>(document), owed };
    await this.#readModels.repair(
      head,
      changed.map((id) => actors[id]!),
    );
    await pause();
    const apart = document.endedApart === true ? await this.#ended.load(rootId, head.version) : [];
    await pause();
    return withEnded(head, actors, apart);
  }

  async loadSmall(runIds: readonly RunId[], atMost: number): Promise<readonly Aggregate[]> {
    const isSmall = { $lte: [{ $size: { $objectToArray: "$actors" } }, atMost] };
    const found = await this.#aggregates
      .find({ _id: { $in: [...runIds] }, packedActors: { $exists: false }, $expr: isSmall })
      .toArray();
    return Promise.all(
      found.map(async (document) => {
        const { actors, owed } = await unpacked(document);
        const apart = document.endedApart === true ? await this.#ended.load(document._id, document.version) : [];
        return withEnded<RunId>({ ...toHead<RunId>(document), owed }, actors, apart);
      }),
    );
  }

  loadJobs(...[runId, choose]: Parameters<AggregateStore["loadJobs"]>): Promise<PartOfRun | undefined> {
    return loadJobs({ aggregates: this.#aggregates, ended: this.#ended, whole: () => this.load(runId) }, runId, choose);
  }

  async sizeOf(rootId: RootId, atMost: number): Promise<AggregateSize | undefined> {
    const size = { $size: { $objectToArray: "$actors" } };
    const [found] = await this.#aggregates
      .aggregate<{ version: number; actors: number; isPacked?: boolean; endedApart?: boolean }>([
        { $match: { _id: rootId } },
        { $project: { version: 1, actors: size, isPacked: { $gt: ["$packedActors", null] }, endedApart: 1 } },
      ])
      .toArray();
    if (found === undefined) return undefined;
    const { version, actors, isPacked, endedApart } = found;
    // Packed actors cannot be counted. Only thousands of them are packed.
    if (isPacked === true || actors >= atMost) return { version, actors: atMost };
    const apart = endedApart === true ? await this.#ended.count(rootId, atMost - actors) : 0;
    return { version, actors: actors + apart };
  }

  async loadHead(rootId: RunId): Promise<AggregateHead | undefined> {
    const document = await this.#aggregates.findOne<HeadDocument>({ _id: rootId }, { projection: HEAD_ONLY });
    return document === null ? undefined : toHead(document);
  }

  async loadActors(rootId: RunId, ids: readonly string[]): Promise<Aggregate | undefined> {
    const actorFields = ids.map((id) => [`actors.${id}`, 1] as const);
    const projection = {
      ...HEAD_FIELDS,
      packed: 1,
      packedActors: 1,
      endedApart: 1,
      ...Object.fromEntries(actorFields),
    };
    const document = await this.#aggregates.findOne({ _id: rootId }, { projection });
    if (document === null) return undefined;
    const { actors: named, owed } = await unpacked(document);
    // The answer to a projection leaves out a map without any of the fields.
    const actors: Readonly<Record<string, StoredActor | undefined>> = (named as typeof named | undefined) ?? {};
    const missing = document.endedApart === true ? ids.filter((id) => actors[id] === undefined) : [];
    const ended = await this.#ended.find(rootId, document.version, missing);
    const found = new Map(ended.map((actor) => [actor.id, actor]));
    return { head: { ...toHead(document), owed }, actors: ids.flatMap((id) => actors[id] ?? found.get(id) ?? []) };
  }

  async save({
    expectedVersion,
    head,
    changed,
    events,
    ended = [],
    packs,
  }: AggregateSave<RootId>): Promise<"saved" | "versionConflict"> {
    const { _id, origin: _unchanged, ...fields } = toDocument(head);
    // Before the snapshot loses them.
    await this.#ended.keep(head, expectedVersion, ended);
    const set = {
      ...fields,
      ...untoldWith(events),
      changed: changed.map(({ id }) => id),
      ...(ended.length > 0 && { endedApart: true }),
      ...Object.fromEntries(changed.map((actor) => [`actors.${actor.id}`, actor])),
    };
    const isSaved =
      (isSmall(set, set) && (await this.#saveSmall(_id, expectedVersion, set, ended))) ||
      (await this.#saveFitted(expectedVersion, head, { changed, ended, events }));
    if (!isSaved) return "versionConflict";
    await Promise.all([this.#readModels.write(head, changed), insertEvents(this.#events, events, packs)]);
    return "saved";
  }

  /**
   * False when nothing was saved: for another version, for a packed document, and for one that would become too large.
   */
  async #saveSmall(_id: RootId, version: number, set: Document, ended: readonly StoredActor[]): Promise<boolean> {
    try {
      // The size of a document that was packed once is looked at again in each save.
      const isUnpacked = { packed: { $exists: false }, packedActors: { $exists: false } };
      const update = { $set: set, ...(ended.length > 0 && { $unset: withoutActors(ended) }) };
      return (await this.#aggregates.updateOne({ _id, version, ...isUnpacked }, update)).matchedCount > 0;
    } catch (error) {
      if (isTooLarge(error)) return false;
      throw error;
    }
  }

  /** Saves the change in a form in which the document fits. False when the store holds another version. */
  async #saveFitted(
    version: number,
    head: AggregateHead<RootId>,
    { changed, ended, events }: Pick<Required<AggregateSave>, "changed" | "ended" | "events">,
  ): Promise<boolean> {
    const { _id, origin: _unchanged, ...fields } = toDocument(head);
    const document = await this.#aggregates.findOne({ _id, version });
    if (document === null) return false;
    const { actors: before } = await unpacked(document);
    const left = new Set(ended.map(({ id }) => id));
    const kept = Object.values(before).filter(({ id }) => !left.has(id));
    const contents = {
      actors: Object.fromEntries([...kept, ...changed].map((actor) => [actor.id, actor])),
      owed: head.owed,
      changed: changed.map(({ id }) => id),
    };
    const stored = await fitted(contents, { ...fields, _id, origin: document.origin });
    const changes = Object.fromEntries(changed.map((actor) => [`actors.${actor.id}`, actor]));
    const { actors: _all, ...others } = stored;
    const isWhole = document.packedActors !== undefined || stored.packedActors !== undefined;
    const update: UpdateFilter<AggregateDocument> = {
      $set: {
        ...fields,
        ...others,
        ...untoldWith(events),
        ...(ended.length > 0 && { endedApart: true }),
        ...(isWhole ? { actors: stored.actors } : changes),
      },
      $unset: {
        ...(!isWhole && withoutActors(ended)),
        ...(stored.packed === undefined && { packed: "" as const }),
        ...(stored.packedActors === undefined && { packedActors: "" as const }),
      },
    };
    return (await this.#aggregates.updateOne({ _id, version }, update)).matchedCount > 0;
  }

  async pageOwing(shard: number, after: string, limit: number): Promise<readonly RootId[]> {
    return this.#pageIds({ shard, owes: true, _id: { $gt: after as RootId } }, { _id: 1 }, limit);
  }

  async pageDue(
    shard: number,
    dueAt: number,
    after: DueAggregate | null,
    limit: number,
  ): Promise<readonly DueAggregate[]> {
    const due: Filter<AggregateDocument> = { shard, nextDueAt: { $ne: null, $lte: dueAt } };
    const rest = after && [
      { nextDueAt: after.nextDueAt, _id: { $gt: after.rootId } },
      { nextDueAt: { $gt: after.nextDueAt } },
    ];
    const page = this.#aggregates
      .find<{ _id: RootId; nextDueAt: number }>(rest ? { ...due, $or: rest } : due, { projection: { nextDueAt: 1 } })
      .sort({ nextDueAt: 1, _id: 1 })
      .limit(limit);
    return page.map(({ _id, nextDueAt }) => ({ rootId: _id, nextDueAt })).toArray();
  }

  async pageUnsettled(shard: number, bound: boolean, after: string, limit: number): Promise<readonly RootId[]> {
    const filter = { shard, settled: false, "summary.bound": bound, _id: { $gt: after as RootId } };
    return this.#pageIds(filter, { _id: 1 }, limit);
  }

  async pageLiveGroups(shards: readonly number[], after: GroupId | "", limit: number): Promise<readonly GroupId[]> {
    const _id = { $gt: after || GROUP_IDS.from, $lt: GROUP_IDS.to } as { readonly $gt: RootId; readonly $lt: RootId };
    const filter = { shard: { $in: [...shards] }, settled: false, "summary.bound": false, _id };
    return (await this.#pageIds(filter, { _id: 1 }, limit)) as readonly GroupId[];
  }

  pageBoundJobs(shard: number, after: string, limit: number): Promise<readonly JobLocation[]> {
    return this.#readModels.pageBoundJobs(shard, after, limit);
  }

  pageQueuedJobs(shard: number, after: string, limit: number): Promise<readonly JobLocation[]> {
    return this.#readModels.pageQueuedJobs(shard, after, limit);
  }

  stepsHeldBy(agentId: AgentId): Promise<readonly StepLocation[]> {
    return this.#readModels.stepsHeldBy(agentId);
  }

  jobsHeldBy(agentId: AgentId, limit?: number): Promise<readonly JobLocation[]> {
    return this.#readModels.jobsHeldBy(agentId, limit);
  }

  findStep(stepRunId: StepRunId): Promise<StepLocation | undefined> {
    return this.#readModels.findStep(stepRunId);
  }

  findDurableStep(stepRunId: StepRunId): Promise<StepLocation | undefined> {
    return this.#readModels.findStep(stepRunId, DURABLE);
  }

  findJob(jobId: JobRunId): Promise<JobLocation | undefined> {
    return this.#readModels.findJob(jobId);
  }

  async listRuns(filter: RunFilter, request: RunPageRequest): Promise<RunPage> {
    // A filter by pipeline leaves groups out by itself: their pipeline is empty.
    const query: Filter<AggregateDocument> = { "summary.pipelineId": filter.pipelineId ?? { $ne: NO_PIPELINE } };
    if (filter.projectId !== undefined) query["summary.projectId"] = filter.projectId;
    if (filter.projectIds !== undefined) query.$and = [{ "summary.projectId": { $in: [...filter.projectIds] } }];
    if (filter.status !== undefined) query["summary.status"] = filter.status;
    const order = ["summary.createdAt", "_id"];
    const heads = { collection: this.#aggregates, filter: query, order, projection: HEAD_ONLY };
    const { documents, total } = await readPage<AggregateDocument, HeadDocument>(heads, request);
    return { list: documents.map(toHead), total: Math.min(total, MAX_COUNTED), totalIsExact: total <= MAX_COUNTED };
  }

  listApprovals(filter: ApprovalFilter, page: PlacedPageRequest): Promise<Page<ApprovalLocation>> {
    return this.#readModels.listApprovals(filter, page);
  }

  findRuns(...[search, page]: Parameters<AggregateStore["findRuns"]>): Promise<RunSearchPage> {
    return findRuns(this.#aggregates, search, page);
  }

  async newestRuns(
    pipelineIds: readonly PipelineId[],
    limit: number,
  ): Promise<ReadonlyMap<PipelineId, readonly AggregateHead[]>> {
    const found = await Promise.all(
      pipelineIds.map((pipelineId) =>
        this.#aggregates
          .find<HeadDocument>({ "summary.pipelineId": pipelineId }, { projection: HEAD_ONLY })
          .sort({ "summary.createdAt": -1, _id: -1 })
          .limit(limit)
          .toArray(),
      ),
    );
    const heads = found.map((documents) => documents.map((document) => toHead(document)));
    return new Map(heads.flatMap((some) => (some.length === 0 ? [] : [[some[0]!.summary.pipelineId, some] as const])));
  }

  async liveRuns(pipelineId: PipelineId, limit: number): Promise<readonly RunId[]> {
    return this.#pageIds(
      { "summary.pipelineId": pipelineId, "summary.status": { $nin: [...FINAL_RUN_STATUSES] } },
      { "summary.createdAt": 1, _id: 1 },
      limit,
    );
  }

  async #pageIds<Root extends RootId>(
    filter: Filter<AggregateDocument>,
    sort: Sort,
    limit: number,
  ): Promise<readonly Root[]> {
    const page = this.#aggregates
      .find(filter, { projection: { _id: 1 } })
      .sort(sort)
      .limit(limit);
    return page.map(({ _id }) => _id as Root).toArray();
  }
}

function toDocument({ rootId, ...head }: AggregateHead<RootId>): HeadDocument {
  return { ...head, _id: rootId, owes: head.owed.length > 0 };
}

/** What a save with events adds to the document: see deliveries.ts. */
function untoldWith(events: AggregateSave["events"]): { readonly untold?: true } {
  return events.length > 0 ? { untold: true } : {};
}

/** The operand of `$unset` that removes these actors from a document. */
function withoutActors(actors: readonly StoredActor[]): Readonly<Record<string, "">> {
  return Object.fromEntries(actors.map(({ id }) => [`actors.${id}`, ""]));
}
