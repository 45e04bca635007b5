/** The store of agent events in SQLite. */
import type { AgentId, StepRunId } from "../../domain/ids.ts";
import {
  afterAgent,
  type AgentEvent,
  type AgentEventStore,
  BEYOND_AGENTS,
  type EventPlace,
  ownerOf,
} from "../ports/agent-events.ts";
import type { Database } from "./database.ts";
import { readPage } from "./pages.ts";
import type { ListPlace } from "../ports/pages.ts";

export function agentEventStore(db: Database): AgentEventStore {
  return {
    append: (events) =>
      db.bulk(() => {
        for (const event of events) {
          db.runNow(
            `INSERT INTO agent_events (agent_id, event_id, owner, received_at, body) VALUES (?, ?, ?, ?, ?)
             ON CONFLICT DO NOTHING`,
            event.agentId,
            event.eventId,
            ownerOf(event),
            event.receivedAt,
            JSON.stringify(event),
          );
        }
      }),
    async storedIds(agentId, eventIds) {
      // One JSON value for all ids, because the number of values of a statement is bounded.
      const rows = await db.all(
        "SELECT event_id FROM agent_events WHERE agent_id = ? AND event_id IN (SELECT value FROM json_each(?))",
        agentId,
        JSON.stringify(eventIds),
      );
      return new Set(rows.map((row) => row["event_id"] as string));
    },
    async appendToStep(events) {
      const [first] = events;
      if (first === undefined) return new Map();
      await db.transaction(() => {
        const newest = db.getNow(
          "SELECT max(sequence) AS sequence FROM agent_events WHERE step_run_id = ? AND sequence IS NOT NULL",
          first.stepRunId,
        );
        let sequence = (newest?.["sequence"] as number | null | undefined) ?? 0;
        for (const event of events) {
          const inserted = db.runNow(
            `INSERT INTO agent_events (agent_id, event_id, owner, received_at, body, step_run_id, sequence)
             VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (agent_id, event_id) DO NOTHING`,
            event.agentId,
            event.eventId,
            ownerOf(event),
            event.receivedAt,
            JSON.stringify({ ...event, sequence: sequence + 1 }),
            event.stepRunId,
            sequence + 1,
          );
          sequence += inserted;
        }
      });
      return placesOf(
        db,
        first.agentId,
        events.map(({ eventId }) => eventId),
      );
    },
    placesOf: (agentId, eventIds) => placesOf(db, agentId, eventIds),
    async ofStep(stepRunId, from, through) {
      const rows = await db.all(
        "SELECT body FROM agent_events WHERE step_run_id = ? AND sequence BETWEEN ? AND ? ORDER BY sequence",
        stepRunId,
        from,
        through,
      );
      return rows.map((row) => JSON.parse(row["body"] as string) as AgentEvent);
    },
    async dropAbove(stepRunId, sequence) {
      await db.run("DELETE FROM agent_events WHERE step_run_id = ? AND sequence > ?", stepRunId, sequence);
    },
    async count(owner) {
      return (await db.get("SELECT count(*) AS total FROM agent_events WHERE owner = ?", owner))!["total"] as number;
    },
    async list(owner, request) {
      const order = ["received_at", "agent_id", "event_id"];
      const events = { table: "agent_events", columns: "body", where: "owner = ?", values: [owner], order };
      const placeOf = ({ at, id }: ListPlace) => {
        const end = id.indexOf("/");
        return [at, id.slice(0, end), id.slice(end + 1)];
      };
      const { rows, total } = await readPage(db, events, request, { placeOf });
      return { list: rows.map((row) => JSON.parse(row["body"] as string) as AgentEvent), total };
    },
    async nextAgent(after) {
      const row = await db.get(
        "SELECT owner FROM agent_events WHERE owner > ? AND owner < ? ORDER BY owner LIMIT 1",
        afterAgent(after),
        BEYOND_AGENTS,
      );
      return row?.["owner"] as AgentId | undefined;
    },
    async forget(agentId, before) {
      await db.run("DELETE FROM agent_events WHERE owner = ? AND received_at < ?", agentId, before);
    },
  };
}

async function placesOf(
  db: Database,
  agentId: AgentId,
  eventIds: readonly string[],
): Promise<ReadonlyMap<string, EventPlace>> {
  const rows = await db.all(
    `SELECT event_id, json_extract(body, '$.stepRunId') AS step, sequence FROM agent_events
     WHERE agent_id = ? AND event_id IN (SELECT value FROM json_each(?))`,
    agentId,
    JSON.stringify(eventIds),
  );
  return new Map(
    rows.map((row) => {
      const stepRunId = row["step"] as StepRunId | null;
      return [row["event_id"] as string, { stepRunId, sequence: row["sequence"] as number | null }];
    }),
  );
}
