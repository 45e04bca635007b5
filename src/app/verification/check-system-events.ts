/** Checks a log of system events: its numbers have no gap. */
import type { SystemLog } from "../../domain/system-events.ts";
import type { SystemEventStore } from "../../stores/ports/events.ts";
import type { Difference } from "./difference.ts";

const PAGE = 100;

/** What differs, and how many events were read. Older events may be removed meanwhile, which a second look tells apart. */
export async function checkSystemLog(
  store: Pick<SystemEventStore, "read">,
  systemLog: SystemLog,
  signal?: AbortSignal,
): Promise<{ readonly differences: readonly Difference[]; readonly read: number }> {
  let [last, read]: [number | undefined, number] = [undefined, 0];
  for (;;) {
    signal?.throwIfAborted();
    const page = await store.read(systemLog, last ?? 0, PAGE);
    for (const { number } of page) {
      if (last !== undefined && number !== last + 1) {
        const text = `system event ${last + 1} is missing`;
        return { differences: [{ kind: "events", object: systemLog, text }], read };
      }
      last = number;
      read++;
    }
    if (page.length < PAGE) return { differences: [], read };
  }
}
