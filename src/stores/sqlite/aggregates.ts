/** The store of snapshots in SQLite: one row for the head and one for each actor, saved in one transaction. */
import { setImmediate as nextTurn } from "node:timers/promises";
import {
  type AgentId,
  asId,
  type GroupId,
  type JobRunId,
  type PipelineId,
  type RootId,
  type RunId,
  type StepRunId,
} from "../../domain/ids.ts";
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
  type JobLocation,
  type PartOfRun,
  type RunFilter,
  type RunPage,
  type RunPageRequest,
  type RunSearchPage,
  type StepLocation,
  type StoredActor,
  type StoredBeside,
  GROUP_IDS,
} from "../ports/aggregates.ts";
import { storedState } from "../format/packed-states.ts";
import type { Page, PlacedPageRequest } from "../ports/pages.ts";
import type { Database, ReadNow, Row } from "./database.ts";
import { insertRows } from "./insert-rows.ts";
import { findRuns } from "./runs/find-runs.ts";
import { readPage } from "./pages.ts";
import { LISTED, listRuns, whereOf } from "./runs/list-runs.ts";
import { loadJobs, loadSmall } from "./runs/load-jobs.ts";
import { RANK, toActor, toActorOf, toHead } from "./runs/rows.ts";
import { INSERT_HEAD, UPDATE_HEAD, UPDATE_HEAD_BUT_STATUS, UPSERT_ACTORS, UPSERT_DEPLOYING } from "./runs/writes.ts";
import { appendEvents, insertEvents, insertPlan } from "./runtime.ts";

const FINAL = FINAL_RUN_STATUSES.map((status) => `'${status}'`).join(", ");

/** An aggregate with more actors is created in several transactions. */
const ACTORS_AT_ONCE = 1_000;

/** Pipelines whose newest runs are read in one turn of the event loop. */
const PIPELINES_AT_ONCE = 25;

/** Actors that are read between two pauses. */
const ACTORS_IN_PIECE = 100;

export class SqliteAggregateStore implements AggregateStore {
  readonly savesEventsAtOnce = true;
  readonly createsAtOnce = ACTORS_AT_ONCE;
  readonly seesDeletions = true;
  /** Each actor is a row, and a save writes only the rows that it changes. */
  readonly keepsEndedApart = false;
  readonly takesPushedEvents = true;
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /**
   * Stores a large aggregate in three transactions (plan, snapshot, events), because the process does nothing else
   * during one.
   */
  async create(aggregate: Aggregate<RootId>, beside: StoredBeside = {}): Promise<Creation> {
    if (aggregate.actors.length <= ACTORS_AT_ONCE) return this.#create(aggregate, beside);
    const { plan, events = [], packs } = beside;
    if (plan !== undefined) await this.#db.addition(() => this.#insertPlan(aggregate.head.rootId, plan, packs));
    const outcome = await this.#create(aggregate, {});
    if (outcome !== "exists") await appendEvents(this.#db, events, packs);
    return outcome;
  }

  save({
    expectedVersion,
    head,
    changed,
    events,
    packs = false,
    keepsStatus = false,
  }: AggregateSave<RootId>): Promise<"saved" | "versionConflict"> {
    const { summary } = head;
    return this.#db.transaction(() => {
      const updated = this.#db.runNow(
        keepsStatus ? UPDATE_HEAD_BUT_STATUS : UPDATE_HEAD,
        head.schema,
        head.version,
        Number(head.final),
        Number(head.settled),
        Number(head.owed.length > 0),
        Number(summary.bound),
        head.eventNumber,
        head.nextDueAt,
        JSON.stringify(head.owed),
        summary.startedAt,
        summary.endedAt,
        summary.waits && JSON.stringify(summary.waits),
        ...(keepsStatus ? [] : [summary.status]),
        head.rootId,
        expectedVersion,
      );
      if (updated === 0) return "versionConflict";
      this.#putActors(head, changed, packs);
      insertEvents(this.#db, events, packs);
      return "saved";
    });
  }

  load<Root extends RootId>(rootId: Root): Promise<Aggregate<Root> | undefined> {
    return this.#db.read(() => {
      const head = this.#db.getNow("SELECT * FROM aggregates WHERE root_id = ?", rootId);
      if (head === undefined) return undefined;
      const rows = this.#db.allNow(
        "SELECT * FROM actors WHERE root_id = ? ORDER BY rank, job_id, position, attempt",
        rootId,
      );
      return { head: toHead<Root>(head), actors: rows.map(toActor) };
    });
  }

  loadInPieces<Root extends RootId>(rootId: Root, pause: () => Promise<void>): Promise<Aggregate<Root> | undefined> {
    return this.#db.readInPieces(async (all) => {
      const [head] = all("SELECT * FROM aggregates WHERE root_id = ?", rootId);
      if (head === undefined) return undefined;
      const actors: StoredActor[] = [];
      for (const rank of Object.values(RANK)) {
        let last: Row | undefined;
        do {
          const page = pageOfActors(all, rootId, rank, last);
          for (const row of page) actors.push(toActorOf(rootId, row));
          last = page.length === ACTORS_IN_PIECE ? page.at(-1) : undefined;
          if (last !== undefined) await pause();
        } while (last !== undefined);
      }
      return { head: toHead<Root>(head), actors };
    });
  }

  loadSmall(...[runIds, atMost]: Parameters<AggregateStore["loadSmall"]>): Promise<readonly Aggregate[]> {
    return loadSmall(this.#db, runIds, atMost);
  }

  loadJobs(...[runId, choose, pause]: Parameters<AggregateStore["loadJobs"]>): Promise<PartOfRun | undefined> {
    return loadJobs(this.#db, runId, choose, pause);
  }

  async sizeOf(rootId: RootId, atMost: number): Promise<AggregateSize | undefined> {
    const row = await this.#db.get(
      `SELECT version, (SELECT count(*) FROM (SELECT 1 FROM actors WHERE root_id = ? LIMIT ?)) AS actors
       FROM aggregates WHERE root_id = ?`,
      rootId,
      atMost,
      rootId,
    );
    return row && { version: row["version"] as number, actors: row["actors"] as number };
  }

  async loadHead(rootId: RunId): Promise<AggregateHead | undefined> {
    const row = await this.#db.get("SELECT * FROM aggregates WHERE root_id = ?", rootId);
    return row && toHead(row);
  }

  loadActors(rootId: RunId, ids: readonly string[]): Promise<Aggregate | undefined> {
    return this.#db.read(() => {
      const head = this.#db.getNow("SELECT * FROM aggregates WHERE root_id = ?", rootId);
      if (head === undefined) return undefined;
      const rows = ids.map((id) => this.#db.getNow("SELECT * FROM actors WHERE id = ? AND root_id = ?", id, rootId));
      return { head: toHead(head), actors: rows.flatMap((row) => (row === undefined ? [] : [toActor(row)])) };
    });
  }

  async pageOwing(shard: number, after: string, limit: number): Promise<readonly RootId[]> {
    return toRootIds(
      await this.#db.all(
        "SELECT root_id FROM aggregates WHERE shard = ? AND owes = 1 AND root_id > ? ORDER BY root_id LIMIT ?",
        shard,
        after,
        limit,
      ),
    );
  }

  async pageDue(
    shard: number,
    dueAt: number,
    after: DueAggregate | null,
    limit: number,
  ): Promise<readonly DueAggregate[]> {
    const rows = await this.#db.all(
      `SELECT root_id, next_due_at FROM aggregates
       WHERE shard = ? AND next_due_at BETWEEN ? AND ? AND (next_due_at, root_id) > (?, ?)
       ORDER BY next_due_at, root_id LIMIT ?`,
      shard,
      after?.nextDueAt ?? Number.MIN_SAFE_INTEGER,
      dueAt,
      after?.nextDueAt ?? Number.MIN_SAFE_INTEGER,
      after?.rootId ?? "",
      limit,
    );
    return rows.map((row) => ({ rootId: row["root_id"] as RootId, nextDueAt: row["next_due_at"] as number }));
  }

  async pageUnsettled(shard: number, bound: boolean, after: string, limit: number): Promise<readonly RootId[]> {
    return toRootIds(
      await this.#db.all(
        `SELECT root_id FROM aggregates WHERE shard = ? AND bound = ? AND settled = 0 AND root_id > ?
         ORDER BY root_id LIMIT ?`,
        shard,
        Number(bound),
        after,
        limit,
      ),
    );
  }

  async pageLiveGroups(shards: readonly number[], after: GroupId | "", limit: number): Promise<readonly GroupId[]> {
    const rows = await this.#db.all(
      `SELECT root_id FROM json_each(?1) AS owned CROSS JOIN aggregates
       WHERE shard = owned.value AND bound = 0 AND settled = 0 AND root_id > ?2 AND root_id < ?3
       ORDER BY root_id LIMIT ?4`,
      JSON.stringify(shards),
      after || GROUP_IDS.from,
      GROUP_IDS.to,
      limit,
    );
    return toRootIds(rows);
  }

  async pageBoundJobs(shard: number, after: string, limit: number): Promise<readonly JobLocation[]> {
    const rows = await this.#db.all(
      "SELECT * FROM actors WHERE shard = ? AND kind = 'job' AND agent_id IS NOT NULL AND id > ? ORDER BY id LIMIT ?",
      shard,
      after,
      limit,
    );
    return rows.map(toJobLocation);
  }

  async pageQueuedJobs(shard: number, after: string, limit: number): Promise<readonly JobLocation[]> {
    const rows = await this.#db.all(
      "SELECT * FROM actors WHERE shard = ? AND kind = 'job' AND status = 'queued' AND id > ? ORDER BY id LIMIT ?",
      shard,
      after,
      limit,
    );
    return rows.map(toJobLocation);
  }

  async stepsHeldBy(agentId: AgentId): Promise<readonly StepLocation[]> {
    const rows = await this.#db.all("SELECT * FROM actors WHERE agent_id = ? AND kind = 'step' ORDER BY id", agentId);
    return rows.map(toStepLocation);
  }

  async jobsHeldBy(agentId: AgentId, limit = -1): Promise<readonly JobLocation[]> {
    const text = "SELECT * FROM actors WHERE agent_id = ? AND kind = 'job' ORDER BY id LIMIT ?";
    const rows = await this.#db.all(text, agentId, limit);
    return rows.map(toJobLocation);
  }

  async findStep(stepRunId: StepRunId): Promise<StepLocation | undefined> {
    const row = await this.#db.get("SELECT * FROM actors WHERE id = ? AND kind = 'step'", stepRunId);
    return row && toStepLocation(row);
  }

  /** Every read answers when what it has read is on disk. */
  findDurableStep(stepRunId: StepRunId): Promise<StepLocation | undefined> {
    return this.findStep(stepRunId);
  }

  async findJob(jobId: JobRunId): Promise<JobLocation | undefined> {
    const row = await this.#db.get("SELECT * FROM actors WHERE id = ? AND kind = 'job'", jobId);
    return row && toJobLocation(row);
  }

  async listRuns(filter: RunFilter, page: RunPageRequest): Promise<RunPage> {
    const { rows, ...totals } = await listRuns(this.#db, filter, page);
    return { list: rows.map((row) => toHead(row)), ...totals };
  }

  async listApprovals(filter: ApprovalFilter, request: PlacedPageRequest): Promise<Page<ApprovalLocation>> {
    const { where, values } = whereOf(["kind = 'approval'"], filter);
    const approvals = { table: "actors", columns: "*", where, values, order: ["requested_at", "id"] };
    const { rows, total } = await readPage(this.#db, approvals, request);
    return { list: rows.map((row) => ({ runId: row["root_id"] as RunId, actor: toActor(row) })), total };
  }

  findRuns(...[search, page]: Parameters<AggregateStore["findRuns"]>): Promise<RunSearchPage> {
    return findRuns(this.#db, search, page);
  }

  async newestRuns(
    pipelineIds: readonly PipelineId[],
    limit: number,
  ): Promise<ReadonlyMap<PipelineId, readonly AggregateHead[]>> {
    const newest = new Map<PipelineId, readonly AggregateHead[]>();
    for (const [at, pipelineId] of pipelineIds.entries()) {
      if (at % PIPELINES_AT_ONCE === PIPELINES_AT_ONCE - 1) await nextTurn();
      const rows = await this.#db.all(
        `SELECT ${LISTED} FROM aggregates WHERE pipeline_id = ? ORDER BY created_at DESC, root_id DESC LIMIT ?`,
        pipelineId,
        limit,
      );
      if (rows.length > 0)
        newest.set(
          pipelineId,
          rows.map((row) => toHead(row)),
        );
    }
    return newest;
  }

  async liveRuns(pipelineId: PipelineId, limit: number): Promise<readonly RunId[]> {
    return toRootIds(
      await this.#db.all(
        `SELECT root_id FROM aggregates WHERE pipeline_id = ? AND status NOT IN (${FINAL})
         ORDER BY created_at, root_id LIMIT ?`,
        pipelineId,
        limit,
      ),
    );
  }

  #insertPlan(rootId: RootId, { graph, jobs }: StoredBeside["plan"] & {}, packs?: boolean): void {
    insertPlan(this.#db, { runId: rootId as RunId, plan: graph, jobs, packs });
  }

  #create({ head, actors }: Aggregate<RootId>, { plan, events = [], packs = false }: StoredBeside): Promise<Creation> {
    const { rootId, shard, schema, version, eventNumber, nextDueAt, summary } = head;
    const insert = (): Creation => {
      if (plan !== undefined) this.#insertPlan(rootId, plan, packs);
      const inserted = this.#db.getNow(
        INSERT_HEAD,
        rootId,
        shard,
        schema,
        version,
        Number(head.final),
        Number(head.settled),
        Number(head.owed.length > 0),
        Number(summary.bound),
        eventNumber,
        nextDueAt,
        JSON.stringify(head.owed),
        summary.pipelineId,
        summary.projectId,
        summary.status,
        summary.createdAt,
        summary.startedAt,
        summary.endedAt,
        summary.waits && JSON.stringify(summary.waits),
        JSON.stringify(head.origin),
      );
      if (inserted === undefined) return "exists";
      this.#putActors(head, actors, packs);
      insertEvents(this.#db, events, packs);
      return inserted["is_being_deleted"] === 1 ? "amidDeletion" : "created";
    };
    // A run comes with its plan. Other aggregates, such as groups, are made for runs that have begun.
    return plan === undefined ? this.#db.transaction(insert) : this.#db.addition(insert);
  }

  #putActors(
    { rootId, shard, final: isFinal }: AggregateHead<RootId>,
    actors: readonly StoredActor[],
    packs: boolean,
  ): void {
    const plain: (string | number | null | Uint8Array)[][] = [];
    const deploying: (string | number | null | Uint8Array)[][] = [];
    for (const actor of actors) {
      const { kind, id, index } = actor;
      const { position, jobId, status, attempt, agentId, approval, deployment } = index;
      const state = storedState(actor, { rootId, isFinal, changed: actors.length, packs });
      const row = [id, rootId, shard, kind, RANK[kind], position, jobId, status, attempt, agentId, state];
      if (deployment === undefined) {
        row.push(approval?.pipelineId ?? null, approval?.projectId ?? null, approval?.requestedAt ?? null);
        plain.push(row);
      } else {
        const { pipelineId, projectId, startedAt, environment } = deployment;
        row.push(pipelineId, projectId, startedAt, environment);
        deploying.push(row);
      }
    }
    insertRows(this.#db, UPSERT_ACTORS, plain);
    insertRows(this.#db, UPSERT_DEPLOYING, deploying);
  }
}

/** Actors of one rank in the order of `load`, after `last`. Each bound is that of the index, so that no row is read twice. */
function pageOfActors(all: ReadNow, rootId: RootId, rank: number, last: Row | undefined): readonly Row[] {
  const { job_id: jobId = "", position = -1, attempt = -1, id = "" } = last ?? {};
  const [ofJob, order, after] =
    rank === RANK.step
      ? ["", "job_id, position, attempt, id", [jobId, position, attempt, id]]
      : ["AND job_id IS NULL", "position, attempt, id", [position, attempt, id]];
  // Each value of a row costs; there are thousands of jobs and steps.
  const columns =
    rank === RANK.job || rank === RANK.step ? "kind, id, state, position, job_id, status, attempt, agent_id" : "*";
  return all(
    `SELECT ${columns} FROM actors WHERE root_id = ? AND rank = ? ${ofJob} AND (${order}) > (${after.map(() => "?").join(", ")})
     ORDER BY ${order} LIMIT ?`,
    rootId,
    rank,
    ...after,
    ACTORS_IN_PIECE,
  );
}

function toRootIds<Root extends RootId>(rows: readonly Row[]): readonly Root[] {
  return rows.map((row) => row["root_id"] as Root);
}

function toStepLocation(row: Row): StepLocation {
  return {
    runId: row["root_id"] as RunId,
    jobId: row["job_id"] as JobRunId,
    stepRunId: row["id"] as StepRunId,
    actor: toActor(row),
  };
}

function toJobLocation(row: Row): JobLocation {
  return { runId: row["root_id"] as RunId, jobId: asId<JobRunId>(row["id"] as string), actor: toActor(row) };
}
