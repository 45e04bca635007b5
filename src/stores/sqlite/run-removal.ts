/** Removes runs from SQLite. */
import type { RemoveRun } from "../run-removal.ts";
import type { Database } from "./database.ts";

const CHUNKS_AT_ONCE = 200;

export function runRemoval(db: Database): RemoveRun {
  return async ({ runId, stepRunIds }) => {
    await db.transaction(() => {
      db.runNow("DELETE FROM aggregates WHERE root_id = ?", runId);
      for (const table of ["actors", "inbox"]) {
        const unanswered = table === "inbox" ? "AND verdict IS NULL" : "";
        db.runNow(`DELETE FROM ${table} WHERE root_id = ? ${unanswered}`, runId);
      }
      for (const table of ["plans", "job_specs", "events", "step_outputs"]) {
        db.runNow(`DELETE FROM ${table} WHERE run_id = ?`, runId);
      }
    });
    for (const stepRunId of stepRunIds) {
      // In parts, since nothing else happens in this process during a statement.
      for (let removed = CHUNKS_AT_ONCE; removed === CHUNKS_AT_ONCE;) {
        removed = await db.run(
          `DELETE FROM log_chunks WHERE step_run_id = ?1 AND (last_line, first_line) IN
             (SELECT last_line, first_line FROM log_chunks WHERE step_run_id = ?1 LIMIT ${CHUNKS_AT_ONCE})`,
          stepRunId,
        );
      }
      await db.run("DELETE FROM log_heads WHERE step_run_id = ?", stepRunId);
    }
  };
}
