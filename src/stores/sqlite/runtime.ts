/** The stores of plans, commands, run events, shards, dead letters and idempotency keys in SQLite. */
import type { Verdict } from "../../domain/effects.ts";
import type { RunEvent } from "../../domain/events.ts";
import type { CommandId, RootId, RunId } from "../../domain/ids.ts";
import type { JobSpec, RunPlan } from "../../domain/plan.ts";
import type { DeadLetterStore, KeptDeadLetter } from "../ports/dead-letters.ts";
import type { AgentEventStore } from "../ports/agent-events.ts";
import { type EventStore, withContent } from "../ports/events.ts";
import type { IdempotencyKey, IdempotencyStore } from "../ports/idempotency.ts";
import type { Command, InboxStore } from "../ports/inbox.ts";
import type { PlanStore } from "../ports/plans.ts";
import type { RedisIdentity, ShardStore, TakenEpoch } from "../ports/shards.ts";
import type { Database, Row } from "./database.ts";
import { jsonInPieces } from "../format/json-in-pieces.ts";
import { type EventRecord, readEvents, type ReadRecord, recordsOf } from "../format/packed-events.ts";
import { packPlan, unpackPlan } from "../format/packed-plans.ts";
import { insertRows, type RowInsert } from "./insert-rows.ts";

/** A record with the same last event takes the place of a shorter one. The first byte of a packed body counts its events. */
const INSERT_EVENTS: RowInsert = {
  insert: "INSERT INTO events",
  conflict: `ON CONFLICT (run_id, number) DO UPDATE SET body = excluded.body WHERE typeof(excluded.body) = 'blob'
    AND substr(excluded.body, 1, 1) > iif(typeof(body) = 'blob', substr(body, 1, 1), x'01')`,
};
const INSERT_SPECS: RowInsert = { insert: "INSERT INTO job_specs", conflict: "ON CONFLICT DO NOTHING" };

export function planStore(db: Database): PlanStore {
  return {
    put: (runId, plan, jobs, packs) => db.addition(() => insertPlan(db, { runId, plan, jobs, packs })),
    loadPlan: async (runId) => planOf(await db.get("SELECT body FROM plans WHERE run_id = ?", runId)),
    async loadPlanInPieces(runId, pause) {
      const row = await db.get("SELECT body FROM plans WHERE run_id = ?", runId);
      if (isPacked(row?.["body"])) return planOf(row);
      return row && jsonInPieces<RunPlan>(row["body"] as string, "jobs", pause);
    },
    async loadPlans(runIds) {
      const rows = await db.all(
        "SELECT run_id, body FROM plans WHERE run_id IN (SELECT value FROM json_each(?))",
        JSON.stringify(runIds),
      );
      return new Map(rows.map((row) => [row["run_id"] as RunId, planOf(row)!]));
    },
    async loadJob(runId, jobIndex) {
      const row = await db.get(SPEC, runId, jobIndex);
      const body: unknown = row?.["body"];
      return isPacked(body) ? unpackPlan(body).jobs[jobIndex] : bodyOf<JobSpec>(row);
    },
  };
}

/** The job, or the packed plan that has it. */
const SPEC = `SELECT body FROM job_specs WHERE run_id = ?1 AND job_index = ?2
  UNION ALL SELECT body FROM plans WHERE run_id = ?1 AND typeof(body) = 'blob' LIMIT 1`;

function planOf(row: Row | undefined): RunPlan | undefined {
  const body: unknown = row?.["body"];
  return isPacked(body) ? unpackPlan(body).graph : bodyOf<RunPlan>(row);
}

function isPacked(body: unknown): body is Uint8Array {
  return body instanceof Uint8Array;
}

interface StoredPlan {
  readonly runId: RunId;
  readonly plan: RunPlan;
  readonly jobs: readonly JobSpec[];
  readonly packs: boolean | undefined;
}

const INSERT_PLAN = "INSERT INTO plans VALUES (?, ?) ON CONFLICT DO NOTHING";

/** Runs within a transaction. A plan or job that is stored already does not change. */
export function insertPlan(db: Database, { runId, plan, jobs, packs = false }: StoredPlan): void {
  const packed = packs ? packPlan(plan, jobs) : undefined;
  if (packed !== undefined) {
    db.runNow(INSERT_PLAN, runId, packed);
    return;
  }
  db.runNow(INSERT_PLAN, runId, JSON.stringify(plan));
  const rows = jobs.map((job, index) => [runId, index, JSON.stringify(job)]);
  insertRows(db, INSERT_SPECS, rows);
}

export function inboxStore(db: Database): InboxStore {
  return {
    async insert(command: Command) {
      await db.run(
        "INSERT INTO inbox (id, root_id, shard, body) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        command.id,
        command.rootId,
        command.shard,
        JSON.stringify(command),
      );
    },
    async pending(rootId: RootId) {
      const rows = await db.all("SELECT body FROM inbox WHERE root_id = ? AND verdict IS NULL ORDER BY seq", rootId);
      return rows.map((row) => bodyOf<Command>(row)!);
    },
    async pageRoots(shard: number, after: string, limit: number) {
      const rows = await db.all(
        `SELECT DISTINCT root_id FROM inbox WHERE shard = ? AND verdict IS NULL AND root_id > ?
         ORDER BY root_id LIMIT ?`,
        shard,
        after,
        limit,
      );
      return rows.map((row) => row["root_id"] as RootId);
    },
    async answer(id: CommandId, verdict: Verdict) {
      await db.run("UPDATE inbox SET verdict = ? WHERE id = ? AND verdict IS NULL", JSON.stringify(verdict), id);
    },
    async verdict(id: CommandId) {
      const row = await db.get("SELECT verdict FROM inbox WHERE id = ?", id);
      if (row === undefined) return undefined;
      return row["verdict"] === null ? null : (JSON.parse(row["verdict"] as string) as Verdict);
    },
    async forgetAnswered(rootId, before) {
      await db.run(
        "DELETE FROM inbox WHERE root_id = ? AND verdict IS NOT NULL AND json_extract(body, '$.storedAt') < ?",
        rootId,
        before,
      );
    },
  };
}

const EVENTS_AT_ONCE = 2_000;

/**
 * Stores events in several transactions, because the process does nothing else during one. Stored events do not change.
 */
export async function appendEvents(db: Database, events: readonly RunEvent[], packs = false): Promise<void> {
  for (let at = 0; at < events.length; at += EVENTS_AT_ONCE) {
    const some = events.slice(at, at + EVENTS_AT_ONCE);
    await db.transaction(() => insertEvents(db, some, packs));
  }
}

export function eventStore(db: Database, agentEvents: Pick<AgentEventStore, "ofStep">): EventStore {
  return {
    append: (events, packs) => appendEvents(db, events, packs),
    async read(runId, after, limit) {
      return withContent(agentEvents, await readEvents({ runId, after, limit }, recordsIn(db, runId)));
    },
  };
}

/** Reads records of the events of a run. */
export function recordsIn(db: Database, runId: RunId): (from: number, most: number) => Promise<readonly ReadRecord[]> {
  const sql = "SELECT number, body FROM events WHERE run_id = ? AND number > ? ORDER BY number LIMIT ?";
  return async (from, most) =>
    (await db.all(sql, runId, from, most)).map((row) => {
      const body: unknown = row["body"];
      return { number: row["number"] as number, body: isPacked(body) ? body : bodyOf<RunEvent>(row)! };
    });
}

/** Runs within a transaction. An event that is stored already does not change. */
export function insertEvents(db: Database, events: readonly RunEvent[], packs: boolean): void {
  insertRows(db, INSERT_EVENTS, recordsOf(events, packs).map(rowOf));
}

function rowOf({ runId, number, body }: EventRecord): readonly [RunId, number, string | Uint8Array] {
  return [runId, number, isPacked(body) ? body : JSON.stringify(body)];
}

/** Runs within a transaction. */
function takeEpochNow(db: Database, shard: number, least: number): TakenEpoch {
  db.runNow(
    `INSERT INTO shards VALUES (?1, ?2, NULL)
     ON CONFLICT (shard) DO UPDATE SET epoch = max(epoch + 1, excluded.epoch)`,
    shard,
    Math.max(1, least),
  );
  const row = db.getNow("SELECT epoch, redis_identity FROM shards WHERE shard = ?", shard)!;
  const identity = row["redis_identity"] as string | null;
  return {
    epoch: row["epoch"] as number,
    previous: identity === null ? null : (JSON.parse(identity) as RedisIdentity),
  };
}

/**
 * Each kind of work begins with a question that names no shard, which SQLite asks once: most often there is none of that kind,
 * and no shard is looked up.
 */
const WITH_WORK = `
  SELECT value AS shard FROM json_each(?1)
  WHERE (EXISTS (SELECT 1 FROM inbox INDEXED BY inbox_pending WHERE verdict IS NULL)
         AND EXISTS (SELECT 1 FROM inbox WHERE shard = value AND verdict IS NULL))
    OR (EXISTS (SELECT 1 FROM aggregates INDEXED BY aggregates_owing WHERE owes = 1)
        AND EXISTS (SELECT 1 FROM aggregates WHERE shard = value AND owes = 1))
    OR (EXISTS (SELECT 1 FROM aggregates INDEXED BY aggregates_due WHERE next_due_at IS NOT NULL)
        AND EXISTS (SELECT 1 FROM aggregates WHERE shard = value AND next_due_at <= ?2))`;

export function shardStore(db: Database): ShardStore {
  return {
    takeEpoch: (shard, least = 1) => db.transaction(() => takeEpochNow(db, shard, least)),
    takeEpochs: (shards, least = 1) =>
      db.transaction(() => new Map(shards.map((shard) => [shard, takeEpochNow(db, shard, least)]))),
    async recordRedis(shard, epoch, identity) {
      await db.run(
        "UPDATE shards SET redis_identity = ? WHERE shard = ? AND epoch = ?",
        JSON.stringify(identity),
        shard,
        epoch,
      );
    },
    async withWork(shards, dueAt) {
      const rows = await db.all(WITH_WORK, JSON.stringify(shards), dueAt);
      return new Set(rows.map((row) => row["shard"] as number));
    },
    async epochs() {
      const rows = await db.all("SELECT shard, epoch FROM shards WHERE epoch > 0");
      return new Map(rows.map((row) => [row["shard"] as number, row["epoch"] as number]));
    },
    fixSetting: (name, value) =>
      db.transaction(() => {
        db.runNow("INSERT INTO settings VALUES (?, ?) ON CONFLICT DO NOTHING", name, value);
        return db.getNow("SELECT value FROM settings WHERE name = ?", name)!["value"] as string;
      }),
    async readSetting(name) {
      return (await db.get("SELECT value FROM settings WHERE name = ?", name))?.["value"] as string | undefined;
    },
    async swapSetting(name, from, to) {
      return (await db.run("UPDATE settings SET value = ? WHERE name = ? AND value = ?", to, name, from)) > 0;
    },
    raiseSetting: (name, least) =>
      db.transaction(() => {
        db.runNow(
          `INSERT INTO settings VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value
           WHERE CAST(value AS INTEGER) < CAST(excluded.value AS INTEGER)`,
          name,
          String(least),
        );
        return Number(db.getNow("SELECT value FROM settings WHERE name = ?", name)!["value"]);
      }),
  };
}

export function deadLetterStore(db: Database): DeadLetterStore {
  return {
    insert: (deadLetter) =>
      db.transaction(() => {
        const { id, at } = deadLetter;
        const kept = bodyOf<KeptDeadLetter>(db.getNow("SELECT body FROM dead_letters WHERE id = ?", id));
        const body: KeptDeadLetter = { ...deadLetter, times: (kept?.times ?? 0) + 1 };
        db.runNow("REPLACE INTO dead_letters VALUES (?, ?, ?)", id, at, JSON.stringify(body));
      }),
    find: async (id) => bodyOf<KeptDeadLetter>(await db.get("SELECT body FROM dead_letters WHERE id = ?", id)),
    async remove(id, times) {
      await db.run("DELETE FROM dead_letters WHERE id = ? AND json_extract(body, '$.times') = ?", id, times);
    },
    async list({ offset, limit, descending, after }) {
      const order = descending ? "DESC" : "ASC";
      const behind = after === undefined ? "" : `WHERE (at, id) ${descending ? "<" : ">"} (?, ?)`;
      const rows = await db.all(
        `SELECT body FROM dead_letters ${behind} ORDER BY at ${order}, id ${order} LIMIT ? OFFSET ?`,
        ...(after === undefined ? [] : [after.at, after.id]),
        limit,
        offset,
      );
      return rows.map((row) => bodyOf<KeptDeadLetter>(row)!);
    },
    async count() {
      return (await db.get("SELECT count(*) AS total FROM dead_letters"))!["total"] as number;
    },
    forget: ({ before, most, limit }) =>
      db.run(
        `DELETE FROM dead_letters WHERE id IN (
           SELECT id FROM dead_letters ORDER BY at, id
           LIMIT min(?3, max((SELECT count(*) FROM dead_letters WHERE at < ?1), (SELECT count(*) FROM dead_letters) - ?2)))`,
        before,
        most,
        limit,
      ),
  };
}

export function idempotencyStore(db: Database): IdempotencyStore {
  const select = "SELECT body FROM idempotency WHERE key = ?";
  return {
    claim(key) {
      const insert = (): IdempotencyKey => {
        db.runNow("INSERT INTO idempotency VALUES (?, ?) ON CONFLICT DO NOTHING", key.key, JSON.stringify(key));
        return bodyOf<IdempotencyKey>(db.getNow(select, key.key))!;
      };
      // The removal of a run begins with a claim that has no body hash: it must work while the store is full.
      return key.bodyHash === "" ? db.freeing(insert) : db.transaction(insert);
    },
    find: async (key) => bodyOf<IdempotencyKey>(await db.get(select, key)),
    async remove(key, createdId) {
      const isThat = "(?2 IS NULL OR json_extract(body, '$.createdId') = ?2)";
      await db.run(`DELETE FROM idempotency WHERE key = ?1 AND ${isThat}`, key, createdId ?? null);
    },
    forget: (before, limit) =>
      db.run(
        `DELETE FROM idempotency WHERE key IN (
           SELECT key FROM idempotency WHERE json_extract(body, '$.at') < ? AND json_extract(body, '$.bodyHash') <> '' LIMIT ?)`,
        before,
        limit,
      ),
  };
}

function bodyOf<T>(row: Row | undefined): T | undefined {
  return row === undefined ? undefined : (JSON.parse(row["body"] as string) as T);
}
