/** The ports of events: the ordered log of each run, and the logs of system events of tenants and of the installation. */
import type { RunId } from "../../domain/ids.ts";
import type { RunEvent } from "../../domain/events.ts";
import type { SystemEvent, SystemEventDraft, SystemLog } from "../../domain/system-events.ts";

export interface EventStore {
  /** Stores events. An event whose (runId, number) is stored already does not change, so a repeat changes nothing. */
  append(events: readonly RunEvent[]): Promise<void>;
  /** Events of a run with a number above `after`, ascending. */
  read(runId: RunId, after: number, limit: number): Promise<readonly RunEvent[]>;
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
