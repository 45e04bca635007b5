/** The ports of events: the ordered log of each run, and the logs of system events of tenants and of the installation. */
import type { RunId } from "../../domain/ids.ts";
import type { RunEvent } from "../../domain/events.ts";
import type { SystemEvent, SystemEventDraft, SystemLog } from "../../domain/system-events.ts";

export interface EventStore {
  /** Stores events. An event whose (runId, number) is stored already does not change, so a repeat changes nothing. */
  append(events: readonly RunEvent[]): Promise<void>;
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
