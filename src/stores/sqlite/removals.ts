/** The store of removals of runs in SQLite. */
import type { Removal, RemovalStore } from "../ports/removals.ts";
import type { Database } from "./database.ts";

export function removalStore(db: Database): RemovalStore {
  return {
    async begin(removal) {
      await db.freeing(() =>
        db.runNow(
          "INSERT INTO removals (run_id, at, is_repeat, body) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
          removal.runId,
          removal.at,
          Number(removal.isRepeat),
          JSON.stringify(removal),
        ),
      );
    },
    async unfinished(limit) {
      const rows = await db.all("SELECT body FROM removals WHERE body IS NOT NULL ORDER BY run_id LIMIT ?", limit);
      return rows.map((row) => JSON.parse(row["body"] as string) as Removal);
    },
    async find(runId) {
      const row = await db.get("SELECT body FROM removals WHERE run_id = ?", runId);
      if (row === undefined) return undefined;
      const body = row["body"] as string | null;
      return { removal: body === null ? null : (JSON.parse(body) as Removal) };
    },
    async finish(runId) {
      await db.run("UPDATE removals SET body = NULL WHERE run_id = ?", runId);
    },
    forget: (before, limit) =>
      db.run(
        `DELETE FROM removals WHERE run_id IN (
           SELECT run_id FROM removals WHERE body IS NULL AND is_repeat = 0 AND at < ? LIMIT ?)`,
        before,
        limit,
      ),
    async drop(runId) {
      await db.run("DELETE FROM removals WHERE run_id = ?", runId);
    },
  };
}
