/** The port of run events: the ordered log of each run. */
import type { RunId } from "../../domain/ids.ts";
import type { RunEvent } from "../../domain/events.ts";

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
