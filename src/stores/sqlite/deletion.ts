/** Takes many rows away in parts, since nothing else happens in this process during a transaction. */
import type { Database } from "./database.ts";

const EVENTS_AT_ONCE = 2_000;
/** A chunk may hold a megabyte of lines. */
const CHUNKS_AT_ONCE = 200;

/** Within a transaction: takes a part of what is there, and answers whether that was all. */
export type Part = () => boolean;

export function eventsOf(db: Database, runId: string): Part {
  const sql = `DELETE FROM events WHERE run_id = ?1 AND number IN
    (SELECT number FROM events WHERE run_id = ?1 LIMIT ${EVENTS_AT_ONCE})`;
  return () => db.runNow(sql, runId) < EVENTS_AT_ONCE;
}

/** Of all these steps; the records of how far each log went stay. */
export function logChunksOf(db: Database, stepRunIds: readonly string[]): Part {
  const sql = `DELETE FROM log_chunks WHERE (step_run_id, last_line, first_line) IN
    (SELECT step_run_id, last_line, first_line FROM log_chunks
     WHERE step_run_id IN (SELECT value FROM json_each(?)) LIMIT ${CHUNKS_AT_ONCE})`;
  const ids = JSON.stringify(stepRunIds);
  return () => db.runNow(sql, ids) < CHUNKS_AT_ONCE;
}

/** `first` comes before the first part, and `last` after the last one: all in one transaction where there is little. */
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
