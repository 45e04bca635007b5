/** Snapshots of aggregates in SQLite: a head row and a row per actor, saved in one transaction. */
import { type AgentId, asId, type JobRunId, type PipelineId, type RunId, type StepRunId } from "../../domain/ids.ts";
import { FINAL_RUN_STATUSES } from "../../domain/status.ts";
import type {
  Aggregate,
  AggregateHead,
  AggregateSave,
  AggregateStore,
  DueAggregate,
  JobLocation,
  Page,
  PageRequest,
  RunFilter,
  StepLocation,
  StoredActor,
  StoredBeside,
} from "../aggregates.ts";
import type { Database, Row } from "./database.ts";
import { appendEvents, insertEvents, insertPlan } from "./runtime.ts";

const RANK = { run: 0, job: 1, step: 2 } as const;
const FINAL = FINAL_RUN_STATUSES.map((status) => `'${status}'`).join(", ");

const ACTORS_AT_ONCE = 1_000;

const INSERT_HEAD = `
  INSERT INTO aggregates (root_id, shard, schema, version, final, settled, owes, bound, event_number, next_due_at, owed,
    pipeline_id, project_id, status, created_at, started_at, ended_at, waits, origin)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;
const UPDATE_HEAD = `
  UPDATE aggregates SET schema = ?, version = ?, final = ?, settled = ?, owes = ?, bound = ?, event_number = ?,
    next_due_at = ?, owed = ?, status = ?, started_at = ?, ended_at = ?, waits = ?
  WHERE root_id = ? AND version = ?`;
const UPSERT_ACTOR = `
  INSERT INTO actors (id, root_id, shard, kind, rank, position, job_id, status, attempt, agent_id, state)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET status = excluded.status, agent_id = excluded.agent_id, state = excluded.state`;

export class SqliteAggregateStore implements AggregateStore {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** A large one in parts, since nothing else happens in this process during a transaction: plan, snapshot, events. */
  async create(aggregate: Aggregate, { plan, events = [] }: StoredBeside = {}): Promise<"created" | "exists"> {
    const { rootId } = aggregate.head;
    if (aggregate.actors.length <= ACTORS_AT_ONCE) return this.#create(aggregate, { ...(plan && { plan }), events });
    if (plan !== undefined) await this.#db.transaction(() => insertPlan(this.#db, rootId, plan.graph, plan.jobs));
    const outcome = await this.#create(aggregate, {});
    if (outcome === "created") await appendEvents(this.#db, events);
    return outcome;
  }

  save({ expectedVersion, head, changed, events }: AggregateSave): Promise<"saved" | "versionConflict"> {
    const { summary } = head;
    return this.#db.transaction(() => {
      const updated = this.#db.runNow(
        UPDATE_HEAD,
        head.schema,
        head.version,
        Number(head.final),
        Number(head.settled),
        Number(head.owed.length > 0),
        Number(summary.bound),
        head.eventNumber,
        head.nextDueAt,
        JSON.stringify(head.owed),
        summary.status,
        summary.startedAt,
        summary.endedAt,
        summary.waits && JSON.stringify(summary.waits),
        head.rootId,
        expectedVersion,
      );
      if (updated === 0) return "versionConflict";
      for (const actor of changed) this.#putActor(head.rootId, head.shard, actor);
      insertEvents(this.#db, events);
      return "saved";
    });
  }

  load(rootId: RunId): Promise<Aggregate | undefined> {
    return this.#db.read(() => {
      const head = this.#db.getNow("SELECT * FROM aggregates WHERE root_id = ?", rootId);
      if (head === undefined) return undefined;
      const rows = this.#db.allNow(
        "SELECT * FROM actors WHERE root_id = ? ORDER BY rank, job_id, position, attempt",
        rootId,
      );
      return { head: toHead(head), actors: rows.map(toActor) };
    });
  }

  async loadHead(rootId: RunId): Promise<AggregateHead | undefined> {
    const row = await this.#db.get("SELECT * FROM aggregates WHERE root_id = ?", rootId);
    return row && toHead(row);
  }

  async pageOwing(shard: number, after: string, limit: number): Promise<readonly RunId[]> {
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
    return rows.map((row) => ({ rootId: row["root_id"] as RunId, nextDueAt: row["next_due_at"] as number }));
  }

  async pageUnsettled(shard: number, bound: boolean, after: string, limit: number): Promise<readonly RunId[]> {
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

  async jobsHeldBy(agentId: AgentId): Promise<readonly JobLocation[]> {
    const rows = await this.#db.all("SELECT * FROM actors WHERE agent_id = ? AND kind = 'job' ORDER BY id", agentId);
    return rows.map(toJobLocation);
  }

  async findStep(stepRunId: StepRunId): Promise<StepLocation | undefined> {
    const row = await this.#db.get("SELECT * FROM actors WHERE id = ? AND kind = 'step'", stepRunId);
    return row && toStepLocation(row);
  }

  async findJob(jobId: JobRunId): Promise<JobLocation | undefined> {
    const row = await this.#db.get("SELECT * FROM actors WHERE id = ? AND kind = 'job'", jobId);
    return row && toJobLocation(row);
  }

  async listRuns(filter: RunFilter, { page, pageSize, descending }: PageRequest): Promise<Page<AggregateHead>> {
    const clauses: string[] = [];
    const values: string[] = [];
    for (const [column, value] of [
      ["pipeline_id", filter.pipelineId],
      ["project_id", filter.projectId],
      ["status", filter.status],
    ] as const) {
      if (value === undefined) continue;
      clauses.push(`${column} = ?`);
      values.push(value);
    }
    const where = clauses.length === 0 ? "" : `WHERE ${clauses.join(" AND ")}`;
    const order = descending ? "DESC" : "ASC";
    const total = await this.#db.get(`SELECT count(*) AS total FROM aggregates ${where}`, ...values);
    const rows = await this.#db.all(
      `SELECT * FROM aggregates ${where} ORDER BY created_at ${order}, root_id ${order} LIMIT ? OFFSET ?`,
      ...values,
      pageSize,
      (page - 1) * pageSize,
    );
    return { list: rows.map(toHead), total: total!["total"] as number };
  }

  async newestRuns(pipelineIds: readonly PipelineId[]): Promise<ReadonlyMap<PipelineId, AggregateHead>> {
    const newest = new Map<PipelineId, AggregateHead>();
    for (const pipelineId of pipelineIds) {
      const row = await this.#db.get(
        "SELECT * FROM aggregates WHERE pipeline_id = ? ORDER BY created_at DESC, root_id DESC LIMIT 1",
        pipelineId,
      );
      if (row !== undefined) newest.set(pipelineId, toHead(row));
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

  #create({ head, actors }: Aggregate, { plan, events = [] }: StoredBeside): Promise<"created" | "exists"> {
    const { rootId, shard, schema, version, eventNumber, nextDueAt, summary } = head;
    return this.#db.transaction(() => {
      if (plan !== undefined) insertPlan(this.#db, rootId, plan.graph, plan.jobs);
      const inserted = this.#db.runNow(
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
      if (inserted === 0) return "exists";
      for (const actor of actors) this.#putActor(rootId, shard, actor);
      insertEvents(this.#db, events);
      return "created";
    });
  }

  #putActor(rootId: RunId, shard: number, { kind, id, state, index }: StoredActor): void {
    const { position, jobId, status, attempt, agentId } = index;
    this.#db.runNow(
      UPSERT_ACTOR,
      id,
      rootId,
      shard,
      kind,
      RANK[kind],
      position,
      jobId,
      status,
      attempt,
      agentId,
      JSON.stringify(state),
    );
  }
}

function toRootIds(rows: readonly Row[]): readonly RunId[] {
  return rows.map((row) => row["root_id"] as RunId);
}

function toHead(row: Row): AggregateHead {
  const fields = row as Record<string, never>;
  return {
    rootId: fields["root_id"]!,
    shard: fields["shard"]!,
    schema: fields["schema"]!,
    version: fields["version"]!,
    final: row["final"] === 1,
    settled: row["settled"] === 1,
    eventNumber: fields["event_number"]!,
    nextDueAt: fields["next_due_at"]!,
    owed: row["owes"] === 1 ? JSON.parse(fields["owed"]!) : [],
    summary: {
      pipelineId: fields["pipeline_id"]!,
      projectId: fields["project_id"]!,
      status: fields["status"]!,
      createdAt: fields["created_at"]!,
      startedAt: fields["started_at"]!,
      endedAt: fields["ended_at"]!,
      bound: row["bound"] === 1,
      waits: row["waits"] ? JSON.parse(fields["waits"]!) : null,
    },
    origin: JSON.parse(fields["origin"]!),
  };
}

function toActor(row: Row): StoredActor {
  return {
    kind: row["kind"] as StoredActor["kind"],
    id: row["id"] as string,
    state: JSON.parse(row["state"] as string),
    index: {
      position: row["position"] as number,
      jobId: row["job_id"] as JobRunId | null,
      status: row["status"] as string,
      attempt: row["attempt"] as number,
      agentId: row["agent_id"] as AgentId | null,
    },
  };
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
