/** The logs of system events in SQLite. */
import type { SystemEvent, SystemEventDraft, SystemLog } from "../../domain/system-events.ts";
import type { SystemEventStore } from "../ports/events.ts";
import type { Database, Row } from "./database.ts";

export function systemEventStore(db: Database): SystemEventStore {
  return {
    append: (drafts) => db.bulk(() => drafts.map((draft) => appendEventNow(db, draft))),
    newest: async (log) => numberIn(await db.get(NEWEST, log)),
    async read(log, after, limit) {
      const rows = await db.all(
        "SELECT number, body FROM system_events WHERE log = ? AND number > ? ORDER BY number LIMIT ?",
        log,
        after,
        limit,
      );
      return rows.map(eventIn);
    },
    async nextLog(after) {
      const row = await db.get("SELECT log FROM system_events WHERE log > ? ORDER BY log LIMIT 1", after);
      return row?.["log"] as SystemLog | undefined;
    },
    forget: (log, before, limit) =>
      db.freeing(() => {
        const kept = db.getNow(
          "SELECT number FROM system_events WHERE log = ? AND at >= ? ORDER BY number LIMIT 1",
          log,
          before,
        );
        const end = kept === undefined ? numberIn(db.getNow(NEWEST, log)) : (kept["number"] as number);
        return removeNow(db, log, end, limit);
      }),
    drop: (log, limit) => db.freeing(() => removeNow(db, log, Number.MAX_SAFE_INTEGER, limit)),
  };
}

const NEWEST = "SELECT max(number) AS number FROM system_events WHERE log = ?";

/** Within a transaction. A second draft with an id that the log has changes nothing. */
export function appendEventNow(db: Database, draft: SystemEventDraft): SystemEvent {
  const { log, eventId, timeMs } = draft;
  const known = db.getNow("SELECT number, body FROM system_events WHERE log = ? AND event_id = ?", log, eventId);
  if (known !== undefined) return eventIn(known);
  const number = numberIn(db.getNow(NEWEST, log)) + 1;
  db.runNow("INSERT INTO system_events VALUES (?, ?, ?, ?, ?)", log, number, eventId, timeMs, JSON.stringify(draft));
  return { ...draft, number };
}

/** Removes events with numbers below `end`, the oldest first. */
function removeNow(db: Database, log: SystemLog, end: number, limit: number): number {
  return db.runNow(
    `DELETE FROM system_events WHERE log = ?1 AND number IN
       (SELECT number FROM system_events WHERE log = ?1 AND number < ?2 ORDER BY number LIMIT ?3)`,
    log,
    end,
    limit,
  );
}

function numberIn(row: Row | undefined): number {
  return (row?.["number"] as number | null | undefined) ?? 0;
}

function eventIn(row: Row): SystemEvent {
  return { ...(JSON.parse(row["body"] as string) as SystemEventDraft), number: row["number"] as number };
}
