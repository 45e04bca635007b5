/** Removes the records of a run from SQLite. */
import type { RemoveRun } from "../ports/run-removal.ts";
import type { Database } from "./database.ts";
import { eventsOf, inParts, logChunksOf } from "./deletion.ts";

export function runRemoval(db: Database): RemoveRun {
  return ({ runId, stepRunIds }) =>
    inParts(db, {
      first() {
        db.runNow("DELETE FROM aggregates WHERE root_id = ?", runId);
        db.runNow("DELETE FROM actors WHERE root_id = ?", runId);
        db.runNow("DELETE FROM inbox WHERE root_id = ? AND verdict IS NULL", runId);
        for (const table of ["plans", "job_specs", "step_outputs"]) {
          db.runNow(`DELETE FROM ${table} WHERE run_id = ?`, runId);
        }
        db.runNow("DELETE FROM agent_events WHERE owner = ?", runId);
      },
      parts: [eventsOf(db, runId), logChunksOf(db, stepRunIds)],
      last() {
        for (const table of ["log_heads", "log_sizes"]) {
          const sql = `DELETE FROM ${table} WHERE step_run_id IN (SELECT value FROM json_each(?))`;
          db.runNow(sql, JSON.stringify(stepRunIds));
        }
      },
    });
}
