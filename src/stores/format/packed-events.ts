/**
 * Several events in a row of one run as one packed record, under the number of its last event. The record leaves out what its key
 * tells. So a record has an event behind a number exactly when its own number is above that one, as a record of a single event,
 * the form up to schema 7, does.
 *
 * A save may repeat events of earlier turns. A record has events of one time, which those of a turn have, so a repeat makes the
 * same records again. Records may overlap all the same, and then a read answers each event once.
 */
import type { PipelineId, RunId } from "../../domain/ids.ts";
import type { RunEvent } from "../../domain/events.ts";
import { packText, unpackText } from "./packed-text.ts";

/** A stored record: events up to its number. */
export interface EventRecord {
  readonly runId: RunId;
  /** The number of the first event in it. */
  readonly first: number;
  /** The number of the last event in it, and of the record. */
  readonly number: number;
  /** One event, or packed bytes. */
  readonly body: RunEvent | Uint8Array;
}

export type ReadRecord = Pick<EventRecord, "number" | "body">;

/** So few that a page of records is not much more than a page of events. */
const EVENTS_OF_A_RECORD = 32;

/** The first byte of a body tells how many events it has, so that a store can compare two bodies. */
const COUNT_BYTES = 1;

type PackedEvent = Omit<RunEvent, "runId" | "pipelineId" | "number">;
type Packed = readonly [PipelineId, ...(readonly PackedEvent[])];

/** The records of these events, which may come in any order. */
export function recordsOf(events: readonly RunEvent[], packs: boolean): readonly EventRecord[] {
  if (!packs) return events.map(recordOf);
  const records: EventRecord[] = [];
  for (const part of partsOf(events)) {
    const body = packed(part);
    if (body === undefined) records.push(...part.map(recordOf));
    else records.push({ runId: part[0]!.runId, first: part[0]!.number, number: part.at(-1)!.number, body });
  }
  return records;
}

/** Events of a run behind the number `after`, at most `limit`. */
export interface EventPage {
  readonly runId: RunId;
  readonly after: number;
  readonly limit: number;
}

/** Answers the records with a number above `from`, in the order of their numbers, at most `most` of them. */
type ReadRecords = (from: number, most: number) => Promise<readonly ReadRecord[]>;

/** The events of a page, each once, in their order. */
export async function readEvents(page: EventPage, read: ReadRecords): Promise<readonly RunEvent[]> {
  return (await readNumbered(page, read)).map(([, event]) => event);
}

/** The numbers of the events of a page. */
export async function readNumbers(page: EventPage, read: ReadRecords): Promise<readonly number[]> {
  return (await readNumbered(page, read)).map(([number]) => number);
}

type Numbered = readonly [number, RunEvent];

async function readNumbered({ runId, after, limit }: EventPage, read: ReadRecords): Promise<readonly Numbered[]> {
  const found = new Map<number, RunEvent>();
  for (let from = after; ;) {
    const records = await read(from, limit);
    for (const record of records) {
      if (found.size >= limit) break;
      for (const [number, event] of numberedIn(runId, record)) {
        // Of an event in two records the one with the lower number counts, in every read.
        if (number > after && !found.has(number)) found.set(number, event);
      }
    }
    if (found.size >= limit || records.length < limit) break;
    from = records.at(-1)!.number;
  }
  return [...found].sort(([a], [b]) => a - b).slice(0, limit);
}

function numberedIn(runId: RunId, record: ReadRecord): readonly Numbered[] {
  const events = eventsIn(runId, record);
  return events.map((event, at): Numbered => [record.number - events.length + 1 + at, event]);
}

/** The events in one record, in the order of their numbers. */
export function eventsIn(runId: RunId, { number, body }: ReadRecord): readonly RunEvent[] {
  if (!(body instanceof Uint8Array)) return [body];
  const [pipelineId, ...events] = JSON.parse(unpackText(body.subarray(COUNT_BYTES), [runId])) as Packed;
  return events.map((event, at) => ({ ...event, runId, pipelineId, number: number - events.length + 1 + at }));
}

function recordOf(event: RunEvent): EventRecord {
  return { runId: event.runId, first: event.number, number: event.number, body: event };
}

/** Parts of one run and one time, with numbers in a row. */
function partsOf(events: readonly RunEvent[]): readonly (readonly RunEvent[])[] {
  const parts: RunEvent[][] = [];
  for (const event of inOrder(events)) {
    const part = parts.at(-1);
    const last = part?.at(-1);
    const isNext =
      last !== undefined &&
      last.runId === event.runId &&
      last.pipelineId === event.pipelineId &&
      last.timeMs === event.timeMs &&
      last.number + 1 === event.number;
    if (isNext && part!.length < EVENTS_OF_A_RECORD) part!.push(event);
    else parts.push([event]);
  }
  return parts;
}

/** Most often they are in order already. Runs stay in the order in which they came. */
function inOrder(events: readonly RunEvent[]): readonly RunEvent[] {
  const isOrdered = events.every(({ runId, number }, at) => {
    const before = events[at - 1];
    return before === undefined || before.runId !== runId || before.number < number;
  });
  return isOrdered ? events : events.toSorted((a, b) => compare(a.runId, b.runId) || a.number - b.number);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** Undefined for events that are too long. */
function packed(part: readonly RunEvent[]): Uint8Array | undefined {
  // JSON has no undefined members. Leaving them out with a rest pattern takes several times as long.
  const events = part.map((event) => {
    return { ...event, runId: undefined, pipelineId: undefined, number: undefined } as PackedEvent;
  });
  const value: Packed = [part[0]!.pipelineId, ...events];
  const body = packText(JSON.stringify(value), [part[0]!.runId], COUNT_BYTES);
  if (typeof body === "string") return undefined;
  body[0] = part.length;
  return body;
}
