/** The ordered event log of each run. */
import type { RunId } from "../../domain/ids.ts";
import type { RunEvent } from "../../domain/events.ts";

export interface EventStore {
  /** Inserts events; those whose (runId, number) is stored already are left alone. */
  append(events: readonly RunEvent[]): Promise<void>;
  /** Events of a run with a number above `after`, ascending. */
  read(runId: RunId, after: number, limit: number): Promise<readonly RunEvent[]>;
}
