/** The ports of events: the ordered log of each run, and the logs of system events of tenants and of the installation. */
import type { RunId, StepRunId } from "../../domain/ids.ts";
import type { RunEvent } from "../../domain/events.ts";
import type { SystemEvent, SystemEventDraft, SystemLog } from "../../domain/system-events.ts";
import type { AgentEvent, AgentEventStore } from "./agent-events.ts";

export interface EventStore {
  /**
   * Stores events. A repeat changes nothing: the event of one (runId, number) is the same each time. `packs` is true
   * when every living node reads packed events.
   */
  append(events: readonly RunEvent[], packs?: boolean): Promise<void>;
  /**
   * Events of a run with a number above `after`, ascending, at most `limit`. Pushed events have their content; a page
   * with {@link PAGE_BYTES} of it ends early, as {@link isLastPage} knows.
   */
  read(runId: RunId, after: number, limit: number): Promise<readonly RunEvent[]>;
}

/** A page ends with the event whose content makes it this large. */
export const PAGE_BYTES = 1024 * 1024;

/** True when no event was stored behind those of this page when it was read. */
export function isLastPage(page: readonly RunEvent[], limit: number): boolean {
  return page.length < limit && contentLength(page) < PAGE_BYTES;
}

/** How much the agents have pushed with these events, in UTF-16 units. */
export function contentLength(events: readonly RunEvent[]): number {
  return events.reduce((sum, { pushed }) => sum + (pushed?.data.length ?? 0), 0);
}

/** One numbered log for each tenant, and one for the installation. */
export interface SystemEventStore {
  /**
   * Appends each draft to its log, in their order, with the number behind that of the newest event. A draft whose id the
   * log has already changes nothing. Answers the events as they are stored.
   */
  append(drafts: readonly SystemEventDraft[]): Promise<readonly SystemEvent[]>;
  /** The number of the newest event of a log; 0 for a log without any. */
  newest(log: SystemLog): Promise<number>;
  /**
   * Up to `limit` events of a log behind a number, in their order. They are contiguous, and may begin later than behind
   * `after` when older ones were removed.
   */
  read(log: SystemLog, after: number, limit: number): Promise<readonly SystemEvent[]>;
  /** The first log by name, behind `after`, that has an event; undefined when there is none. */
  nextLog(after: string): Promise<SystemLog | undefined>;
  /**
   * Removes up to `limit` events from the beginning of a log that happened before `before`; answers how many. The newest
   * event stays, so that numbers never come twice.
   */
  forget(log: SystemLog, before: number, limit: number): Promise<number>;
  /** Removes up to `limit` events of a log, also the newest one; answers how many. */
  drop(log: SystemLog, limit: number): Promise<number>;
}

/** Events whose content is read at once: at most 4 MB. */
const READ_AT_ONCE = 64;

/** A page of a run's log, with the content of its pushed events. It ends early when there is much content. */
export async function withContent(
  { ofStep }: Pick<AgentEventStore, "ofStep">,
  page: readonly RunEvent[],
): Promise<readonly RunEvent[]> {
  if (!page.some(isPushed)) return page;
  const filled: RunEvent[] = [];
  let length = 0;
  for (let at = 0; at < page.length; at += READ_AT_ONCE) {
    const part = page.slice(at, at + READ_AT_ONCE);
    const contents = await contentsOf(ofStep, part.filter(isPushed));
    for (const event of part) {
      const content = isPushed(event) ? contents.get(keyOf(event.stepRunId!, sequenceOf(event))) : undefined;
      filled.push(content === undefined ? event : { ...event, pushed: pushedOf(content) });
      length += contentLength(filled.slice(-1));
      if (length >= PAGE_BYTES) return filled;
    }
  }
  return filled;
}

/** The log has the pushed events of a step in the order of their sequences, so those of one step follow each other. */
async function contentsOf(
  ofStep: AgentEventStore["ofStep"],
  events: readonly RunEvent[],
): Promise<ReadonlyMap<string, AgentEvent>> {
  const spans = new Map<StepRunId, { from: number; through: number }>();
  for (const event of events) {
    const sequence = sequenceOf(event);
    const span = spans.get(event.stepRunId!);
    if (span === undefined) spans.set(event.stepRunId!, { from: sequence, through: sequence });
    else span.through = sequence;
  }
  const read = await Promise.all([...spans].map(([stepRunId, { from, through }]) => ofStep(stepRunId, from, through)));
  return new Map(read.flat().map((event) => [keyOf(event.stepRunId!, event.sequence!), event]));
}

export function isPushed({ lifecycle }: Pick<RunEvent, "lifecycle">): boolean {
  return lifecycle === "pushed";
}

function sequenceOf({ data }: RunEvent): number {
  return data["sequence"] as number;
}

function keyOf(stepRunId: StepRunId, sequence: number): string {
  return `${stepRunId}/${sequence}`;
}

function pushedOf({ type, eventId, subject, time, data }: AgentEvent): RunEvent["pushed"] & {} {
  return { type, eventId, subject, time, data };
}
