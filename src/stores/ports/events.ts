/** The port of run events: the ordered log of each run. */
import type { RunId } from "../../domain/ids.ts";
import type { RunEvent } from "../../domain/events.ts";

export interface EventStore {
  /** Stores events. An event whose (runId, number) is stored already does not change, so a repeat changes nothing. */
  append(events: readonly RunEvent[]): Promise<void>;
  /** Events of a run with a number above `after`, ascending. */
  read(runId: RunId, after: number, limit: number): Promise<readonly RunEvent[]>;
}
