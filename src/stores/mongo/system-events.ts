/** The logs of system events in MongoDB. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Collection } from "mongodb";
import { MillraceError } from "../../domain/errors.ts";
import type { SystemEvent, SystemEventDraft, SystemLog } from "../../domain/system-events.ts";
import type { SystemEventStore } from "../ports/events.ts";
import { DURABLE } from "./cluster/concerns.ts";
import { type Connection, isDuplicateKey, untilMajority } from "./connection.ts";

interface EventDocument {
  /** `<log>/<event id>`. */
  readonly _id: string;
  readonly log: SystemLog;
  readonly number: number;
  readonly at: number;
  /** The draft as JSON text: its data may have any keys. */
  readonly body: string;
}

/** Each attempt that fails has lost to another event of the log. */
const ATTEMPTS = 100;
const MAX_PAUSE_MS = 20;

export function systemEventStore(connection: Connection): SystemEventStore {
  const collection = eventsOf(connection);
  const remove = async (log: SystemLog, end: number, limit: number): Promise<number> => {
    const first = await collection
      .find({ log, number: { $lt: end } }, { projection: { _id: 1 } })
      .sort({ number: 1 })
      .limit(limit)
      .toArray();
    if (first.length === 0) return 0;
    return (await collection.deleteMany({ _id: { $in: first.map(({ _id }) => _id) } })).deletedCount;
  };
  return {
    async append(drafts) {
      const together = await insertTogether(collection, drafts);
      if (together !== undefined) return together;
      const stored: SystemEvent[] = [];
      for (const draft of drafts) stored.push(await appendEvent(connection, draft));
      return stored;
    },
    newest: (log) => newestOf(collection, log, DURABLE),
    // What only the primary has may be rolled back, and its number may then be that of another event.
    async read(log, after, limit) {
      const found = collection.find({ log, number: { $gt: after } }, DURABLE);
      return (await found.sort({ number: 1 }).limit(limit).toArray()).map(eventIn);
    },
    async nextLog(after) {
      const options = { sort: { log: 1 }, projection: { log: 1 } } as const;
      return (await collection.findOne({ log: { $gt: after as SystemLog } }, options))?.log;
    },
    async forget(log, before, limit) {
      const options = { sort: { number: 1 }, projection: { number: 1 } } as const;
      const kept = await collection.findOne({ log, at: { $gte: before } }, options);
      return remove(log, kept?.number ?? (await newestOf(collection, log)), limit);
    },
    drop: (log, limit) => remove(log, Number.MAX_SAFE_INTEGER, limit),
  };
}

/** Answers the event as it is stored. Rejects with `unavailable` when others append to the log all the time. */
export async function appendEvent(connection: Connection, draft: SystemEventDraft): Promise<SystemEvent> {
  const collection = eventsOf(connection);
  const { log } = draft;
  const _id = idOf(draft);
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const event = { ...draft, number: (await newestOf(collection, log)) + 1 };
    try {
      await collection.insertOne(documentOf(event));
      return event;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
    const known = await collection.findOne({ _id });
    if (known !== null && (await untilMajority(collection, [_id])) === "stored") return eventIn(known);
    await sleep(Math.random() * Math.min(attempt, MAX_PAUSE_MS));
  }
  throw new MillraceError("unavailable", "others write to the log of system events all the time: try again");
}

/**
 * Inserts new events of one log by one call. Undefined when that is not possible; some of the events may be stored then,
 * in their order.
 */
async function insertTogether(
  collection: Collection<EventDocument>,
  drafts: readonly SystemEventDraft[],
): Promise<readonly SystemEvent[] | undefined> {
  const [first] = drafts;
  if (first === undefined || drafts.length === 1 || drafts.some(({ log }) => log !== first.log)) return undefined;
  const newest = await newestOf(collection, first.log);
  const events = drafts.map((draft, at) => ({ ...draft, number: newest + 1 + at }));
  try {
    await collection.insertMany(events.map(documentOf), { ordered: true });
    return events;
  } catch (error) {
    if (isDuplicateKey(error)) return undefined;
    throw error;
  }
}

async function newestOf(collection: Collection<EventDocument>, log: SystemLog, options: object = {}): Promise<number> {
  const newest = await collection.findOne({ log }, { sort: { number: -1 }, projection: { number: 1 }, ...options });
  return newest?.number ?? 0;
}

function eventsOf(connection: Connection): Collection<EventDocument> {
  return connection.collection<EventDocument>("system_events");
}

function idOf({ log, eventId }: SystemEventDraft): string {
  return `${log}/${eventId}`;
}

function documentOf({ number, ...draft }: SystemEvent): EventDocument {
  return { _id: idOf(draft), log: draft.log, number, at: draft.timeMs, body: JSON.stringify(draft) };
}

function eventIn({ body, number }: EventDocument): SystemEvent {
  return { ...(JSON.parse(body) as SystemEventDraft), number };
}
