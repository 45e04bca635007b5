/** The store of verification in SQLite. The rows of actors are the snapshot and the look-ups at the same time. */
import type { RootId, RunId } from "../../domain/ids.ts";
import type { InspectionStore, RecordKind, RecordOwner } from "../ports/inspection.ts";
import { readNumbers } from "../format/packed-events.ts";
import { recordsIn } from "./runtime.ts";
import { toActor, toHead } from "./runs/rows.ts";
import type { Database, Row } from "./database.ts";

/** Each query reads the distinct owners after ?1, at most ?2, in the order of an index. */
const OWNERS: Readonly<Record<RecordKind, string>> = {
  rows: "SELECT id AS key, root_id, id AS actor_id FROM actors WHERE id > ?1 ORDER BY id LIMIT ?2",
  events: distinct("events", "run_id", "owner AS root_id, NULL AS actor_id"),
  commands: `SELECT DISTINCT root_id AS key, root_id, NULL AS actor_id FROM inbox
             WHERE verdict IS NULL AND root_id > ?1 ORDER BY root_id LIMIT ?2`,
  outputs: distinct(
    "step_outputs",
    "step_run_id",
    "(SELECT run_id FROM step_outputs WHERE step_run_id = owner LIMIT 1) AS root_id, owner AS actor_id",
  ),
  notes: distinct(
    "step_notes",
    "step_run_id",
    "(SELECT run_id FROM step_notes WHERE step_run_id = owner LIMIT 1) AS root_id, owner AS actor_id",
  ),
  // Each actor is a row, so no store of attempts stands beside the rows.
  attempts: "SELECT NULL AS key, NULL AS root_id, NULL AS actor_id WHERE ?1 IS NULL LIMIT ?2",
  logs: "SELECT step_run_id AS key, NULL AS root_id, step_run_id AS actor_id FROM log_heads WHERE step_run_id > ?1 ORDER BY step_run_id LIMIT ?2",
};

export function inspectionStore(db: Database): InspectionStore {
  return {
    async setting(name) {
      return (await db.get("SELECT value FROM settings WHERE name = ?", name))?.["value"] as string | undefined;
    },
    async pageRoots(after, limit) {
      const rows = await db.all(
        "SELECT root_id FROM aggregates WHERE root_id > ? ORDER BY root_id LIMIT ?",
        after,
        limit,
      );
      return rows.map((row) => row["root_id"] as RootId);
    },
    read: (rootId) =>
      db.read(() => {
        const found = db.getNow("SELECT * FROM aggregates WHERE root_id = ?", rootId);
        if (found === undefined) return undefined;
        const head = toHead<RootId>(found);
        const rows = db.allNow(
          "SELECT * FROM actors WHERE root_id = ? ORDER BY rank, job_id, position, attempt",
          rootId,
        );
        return {
          head,
          owes: found["owes"] === 1,
          actors: rows.map(toActor),
          apart: [],
          rows: rows.map((row) => ({
            actor: toActor(row),
            rootId,
            shard: row["shard"] as number,
            version: head.version,
          })),
          eventsGone: found["events_gone"] !== 0,
        };
      }),
    eventNumbers: (runId: RunId, after, limit) => readNumbers({ runId, after, limit }, recordsIn(db, runId)),
    pageOwners: async (kind, after, limit) => (await db.all(OWNERS[kind], after, limit)).map(toOwner),
    missingOwners: (owners) =>
      db.read(() =>
        owners.filter(({ rootId, actorId }) => {
          const hasRoot = rootId === null || has(db, "SELECT 1 FROM aggregates WHERE root_id = ?", rootId);
          return !hasRoot || (actorId !== null && !has(db, "SELECT 1 FROM actors WHERE id = ?", actorId));
        }),
      ),
  };
}

/** Jumps from one value of the index to the next, because one owner may have many records. */
function distinct(table: string, column: string, columns: string): string {
  const next = (above: string) => `SELECT min(${column}) FROM ${table} WHERE ${column} > ${above}`;
  return `WITH RECURSIVE owners(owner) AS (${next("?1")} UNION ALL SELECT (${next("owner")}) FROM owners WHERE owner IS NOT NULL)
    SELECT owner AS key, ${columns} FROM owners WHERE owner IS NOT NULL LIMIT ?2`;
}

function has(db: Database, sql: string, id: string): boolean {
  return db.getNow(sql, id) !== undefined;
}

function toOwner(row: Row): RecordOwner {
  return {
    key: row["key"] as string,
    rootId: row["root_id"] as RootId | null,
    actorId: row["actor_id"] as string | null,
  };
}
