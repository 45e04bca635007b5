/** What stays owed when a save stores its events in its transaction. */
import type { RunEvent } from "../../domain/events.ts";
import type { OwedRecord } from "../ports/aggregates.ts";

/**
 * What a save stores as owed when it stores `events` in the same transaction. To publish these events tells followers to read on. A
 * step that is dispatched sends a report, or its lease ends, and what is published then tells those who follow this run or all runs
 * the same. So beside a dispatch the events are owed no more. Those of approvals have followers of their own, and stay owed.
 */
export function owedBesideEvents(owed: readonly OwedRecord[], events: readonly RunEvent[]): readonly OwedRecord[] {
  // A dispatch that is left to a creator may be of a step that has ended.
  const tellsLater = owed.some(({ effect, leftToCreator }) => effect.type === "dispatch" && leftToCreator !== true);
  if (!tellsLater || events.length === 0) return owed;
  const stored = new Set(events.map(({ number }) => number));
  return owed.filter(
    ({ effect, eventNumber }) =>
      effect.type !== "publish" || effect.event.object === "approval" || !stored.has(eventNumber!),
  );
}
