/** The store of statistics in SQLite: one row for each pipeline, job and day, and one for the failing revisions. */
import type { PipelineId, RunId } from "../../../domain/ids.ts";
import type { CountedOf, Counters, DayCounters, StatisticsStore } from "../../ports/statistics.ts";
import type { Database, Row } from "../database.ts";
import { insertRows, type RowInsert } from "../insert-rows.ts";

/** The day of the row with the failing revisions. */
const FAILING = -1;

const PUT: RowInsert = {
  insert: "INSERT INTO statistics (pipeline_id, day, job, body)",
  conflict: "ON CONFLICT (pipeline_id, day, job) DO UPDATE SET body = excluded.body",
};
const FIND = `SELECT statistics.* FROM json_each(?) AS wanted JOIN statistics
  ON pipeline_id = wanted.value ->> 0 AND day = wanted.value ->> 1 AND job = wanted.value ->> 2`;

type Key = readonly [pipelineId: string, day: number, job: string];

export function statisticsStore(db: Database): StatisticsStore {
  const find = (keys: readonly Key[]): readonly Row[] => db.allNow(FIND, JSON.stringify(keys));
  return {
    async uncounted(limit) {
      const rows = await db.all(
        "SELECT root_id FROM aggregates WHERE counted = 0 AND ended_at IS NOT NULL ORDER BY ended_at, root_id LIMIT ?",
        limit,
      );
      return rows.map((row) => row["root_id"] as RunId);
    },
    failing: (of) =>
      db.read(() =>
        find(of.map(({ pipelineId, job }) => [pipelineId, FAILING, job])).map((row) => {
          return { ...countedOf(row), revisions: JSON.parse(row["body"] as string) as readonly string[] };
        }),
      ),
    add: ({ runIds, counters, failing }) =>
      db.transaction(() => {
        const ids = JSON.stringify(runIds);
        const inRuns = "root_id IN (SELECT value FROM json_each(?))";
        const counted = db.getNow(`SELECT 1 AS found FROM aggregates WHERE ${inRuns} AND counted = 1 LIMIT 1`, ids);
        if (counted !== undefined) return false;
        db.runNow(`UPDATE aggregates SET counted = 1 WHERE ${inRuns}`, ids);
        const keys = counters.map(({ pipelineId, day, job }): Key => [pipelineId, day, job]);
        const stored = new Map(find(keys).map((row) => [keyOf(row), JSON.parse(row["body"] as string) as Counters]));
        const rows = counters.map(({ pipelineId, day, job, counters: added }) => {
          const sum: Record<string, number> = { ...stored.get(JSON.stringify([pipelineId, day, job])) };
          for (const [name, count] of Object.entries(added)) sum[name] = (sum[name] ?? 0) + count;
          return [pipelineId, day, job, JSON.stringify(sum)];
        });
        insertRows(db, PUT, rows);
        const states = failing.map(({ pipelineId, job, revisions }) => {
          return [pipelineId, FAILING, job, JSON.stringify(revisions)];
        });
        insertRows(db, PUT, states);
        return true;
      }),
    async read(pipelineId, from, to) {
      const rows = await db.all(
        "SELECT * FROM statistics WHERE pipeline_id = ? AND day BETWEEN ? AND ? ORDER BY day, job",
        pipelineId,
        Math.max(from, 0),
        to,
      );
      return rows.map((row): DayCounters => {
        return {
          ...countedOf(row),
          day: row["day"] as number,
          counters: JSON.parse(row["body"] as string) as Counters,
        };
      });
    },
    forget: (before, limit) =>
      db.run(
        `DELETE FROM statistics WHERE (pipeline_id, day, job) IN (
           SELECT pipeline_id, day, job FROM statistics WHERE day >= 0 AND day < ? LIMIT ?)`,
        before,
        limit,
      ),
    async drop(pipelineId) {
      await db.freeing(() => db.runNow("DELETE FROM statistics WHERE pipeline_id = ?", pipelineId));
    },
  };
}

function countedOf(row: Row): CountedOf {
  return { pipelineId: row["pipeline_id"] as PipelineId, job: row["job"] as string };
}

function keyOf(row: Row): string {
  return JSON.stringify([row["pipeline_id"], row["day"], row["job"]]);
}
