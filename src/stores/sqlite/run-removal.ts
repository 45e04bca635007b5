/** Removes the records of a run from SQLite, in several transactions where they are many: the process does nothing else during one. */
import type { RemoveRun } from "../ports/removals.ts";
import type { Database } from "./database.ts";

const EVENTS_AT_ONCE = 2_000;
/** An event may have 64 kB. */
const AGENT_EVENTS_AT_ONCE = 500;
/** A chunk may hold a megabyte of lines. */
const CHUNKS_AT_ONCE = 200;
const HEADERS_AT_ONCE = 2_000;
/** A note may have two megabytes. */
const NOTES_AT_ONCE = 100;

export function runRemoval(db: Database): RemoveRun {
  return ({ runId, stepRunIds }) =>
    inParts(db, {
      first() {
        db.runNow("DELETE FROM aggregates WHERE root_id = ?", runId);
        db.runNow("DELETE FROM actors WHERE root_id = ?", runId);
        db.runNow("DELETE FROM inbox WHERE root_id = ? AND verdict IS NULL", runId);
        for (const table of ["plans", "job_specs", "step_outputs", "run_images"]) {
          db.runNow(`DELETE FROM ${table} WHERE run_id = ?`, runId);
        }
      },
      parts: [eventsOf(db, runId), agentEventsOf(db, runId), notesOf(db, runId), logChunksOf(db, stepRunIds)],
      last() {
        for (const table of ["log_heads", "log_sizes"]) {
          const sql = `DELETE FROM ${table} WHERE step_run_id IN (SELECT value FROM json_each(?))`;
          db.runNow(sql, JSON.stringify(stepRunIds));
        }
      },
    });
}

/** Runs within a transaction: deletes some of the rows, and answers true when no row is left. */
export type Part = () => boolean;

/** Deletes the events of a run. */
export function eventsOf(db: Database, runId: string): Part {
  const sql = `DELETE FROM events WHERE run_id = ?1 AND number IN
    (SELECT number FROM events WHERE run_id = ?1 LIMIT ${EVENTS_AT_ONCE})`;
  return () => db.runNow(sql, runId) < EVENTS_AT_ONCE;
}

/** Deletes what agents have pushed about the steps of a run. */
export function agentEventsOf(db: Database, runId: string): Part {
  const sql = `DELETE FROM agent_events WHERE (agent_id, event_id) IN
    (SELECT agent_id, event_id FROM agent_events WHERE owner = ?1 LIMIT ${AGENT_EVENTS_AT_ONCE})`;
  return () => db.runNow(sql, runId) < AGENT_EVENTS_AT_ONCE;
}

/** Deletes the notes of a run. */
function notesOf(db: Database, runId: string): Part {
  const sql = `DELETE FROM step_notes WHERE run_id = ?1 AND (kind, step_run_id, token, part) IN
    (SELECT kind, step_run_id, token, part FROM step_notes WHERE run_id = ?1 LIMIT ${NOTES_AT_ONCE})`;
  return () => db.runNow(sql, runId) < NOTES_AT_ONCE;
}

/** Deletes the log chunks of these steps, and their headers. The records of each step's last line stay. */
export function logChunksOf(db: Database, stepRunIds: readonly string[]): Part {
  const sql = `DELETE FROM log_chunks WHERE (step_run_id, last_line, first_line) IN
    (SELECT step_run_id, last_line, first_line FROM log_chunks
     WHERE step_run_id IN (SELECT value FROM json_each(?)) LIMIT ${CHUNKS_AT_ONCE})`;
  const headers = `DELETE FROM log_headers WHERE (step_run_id, last_line, first_line) IN
    (SELECT step_run_id, last_line, first_line FROM log_headers
     WHERE step_run_id IN (SELECT value FROM json_each(?)) LIMIT ${HEADERS_AT_ONCE})`;
  const ids = JSON.stringify(stepRunIds);
  return () => db.runNow(sql, ids) < CHUNKS_AT_ONCE && db.runNow(headers, ids) < HEADERS_AT_ONCE;
}

/** Runs `first`, then the parts until no row is left, then `last`. A small deletion is one transaction. */
export async function inParts(
  db: Database,
  { first, parts, last }: { readonly first: () => void; readonly parts: readonly Part[]; readonly last: () => void },
): Promise<void> {
  let before = first;
  let left = parts;
  do {
    left = await db.freeing(() => {
      before();
      const more = left.filter((part) => !part());
      if (more.length === 0) last();
      return more;
    });
    before = () => {};
  } while (left.length > 0);
}
