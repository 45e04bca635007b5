/** The state of a timetable actor: the cron triggers that the definition of a pipeline has, as they were read last. */
import type { PipelineId, ProjectId, TimetableId } from "../../src/domain/ids.ts";
import type { ScheduleSpec } from "../../src/domain/schedules.ts";

/** `reading`: a worker reads the definition. */
export const TIMETABLE_STATES = ["empty", "reading", "known"] as const;
export type TimetablePhase = (typeof TIMETABLE_STATES)[number];

export interface TimetableState {
  readonly timetableId: TimetableId;
  readonly state: TimetablePhase;
  /** Null until the first change of the definition. */
  readonly pipelineId: PipelineId | null;
  readonly projectId: ProjectId | null;
  /** Of the newest reading. It never falls, also after the timetable was removed and made again. */
  readonly generation: number;
  /** The triggers of the last reading that was answered. */
  readonly schedules: readonly ScheduleSpec[];
  /** When to read the definition again, Unix milliseconds; null for not before it changes. */
  readonly lookAt: number | null;
}

/**
 * A change is announced before it is made, so that it is never overlooked, and after it was made, so that it is seen at once.
 * The process that makes it may die in between; the definition is read once more after this time, when the change is made
 * or never will be.
 */
export const LOOK_AGAIN_MS = 60_000;
