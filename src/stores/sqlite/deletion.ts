/** Removes many rows in parts, since nothing else happens in this process during a statement. */
import type { Database } from "./database.ts";

const EVENTS_AT_ONCE = 2_000;
/** A chunk may hold a megabyte of lines. */
const CHUNKS_AT_ONCE = 200;

export async function deleteEvents(db: Database, runId: string): Promise<void> {
  const sql = `DELETE FROM events WHERE run_id = ?1 AND number IN
    (SELECT number FROM events WHERE run_id = ?1 LIMIT ${EVENTS_AT_ONCE})`;
  while ((await db.run(sql, runId)) === EVENTS_AT_ONCE);
}

/** Of all these steps; the records of how far each log went stay. */
export async function deleteLogChunks(db: Database, stepRunIds: readonly string[]): Promise<void> {
  const sql = `DELETE FROM log_chunks WHERE (step_run_id, last_line, first_line) IN
    (SELECT step_run_id, last_line, first_line FROM log_chunks
     WHERE step_run_id IN (SELECT value FROM json_each(?)) LIMIT ${CHUNKS_AT_ONCE})`;
  const ids = JSON.stringify(stepRunIds);
  while ((await db.run(sql, ids)) === CHUNKS_AT_ONCE);
}
