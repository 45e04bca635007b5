/** The state of a schedule actor: what the trigger says, which times wait for their run, and what became of the last ones. */
import type { PipelineId, ProjectId, RunId, ScheduleId } from "../../src/domain/ids.ts";
import type { Pairs } from "../../src/domain/pairs.ts";
import type { Outcome, ScheduleSpec } from "../../src/domain/schedules.ts";

/** `leaving`: the definition has no such trigger any more, and times that were due before that wait for their runs. */
export const SCHEDULE_STATES = ["absent", "active", "paused", "leaving"] as const;
export type SchedulePhase = (typeof SCHEDULE_STATES)[number];

/** A time that is to have a run. It keeps what the trigger said when it was due. Times are Unix milliseconds. */
export interface WaitingStart {
  readonly at: number;
  /** Later than `at` by the jitter. */
  readonly notBefore: number;
  readonly ref: string | null;
  readonly variables: Pairs<string>;
}

/** The one time whose run is being created. */
export interface Starting {
  readonly at: number;
  readonly runId: RunId;
  /** True when the run has ended before its creator has answered. */
  readonly hasEnded: boolean;
}

export interface ScheduleState {
  readonly scheduleId: ScheduleId;
  /** Null until the schedule is defined for the first time, as the fields down to `spec` are. */
  readonly pipelineId: PipelineId | null;
  readonly projectId: ProjectId | null;
  readonly spec: ScheduleSpec | null;
  readonly state: SchedulePhase;
  /** Of the newest command of the timetable. */
  readonly generation: number;
  /** All times up to this one are decided. */
  readonly decidedUntil: number;
  /** The next time; null while there is none to wait for. */
  readonly next: number | null;
  /** The oldest first. */
  readonly waiting: readonly WaitingStart[];
  readonly starting: Starting | null;
  /** Runs that have been started and have not ended: the newest ones, of too many. */
  readonly active: readonly RunId[];
  readonly pause: { readonly at: number; readonly by: string; readonly reason: string } | null;
  /** The newest last. */
  readonly outcomes: readonly Outcome[];
}

/** What became of this many times is kept. */
export const KEPT_OUTCOMES = 50;
/** Times that wait for their runs at most; as many are made up for after an outage. */
export const MAX_WAITING_STARTS = 100;
/** Runs of a schedule that are known to be active, at most. */
export const MAX_ACTIVE = 100;

/** True while a time waits for its run. */
export function isPending({ waiting, starting }: Pick<ScheduleState, "waiting" | "starting">): boolean {
  return waiting.length > 0 || starting !== null;
}

/** When the schedule has something to do next, if no message comes before; null for never. */
export function wakeAt({ next, waiting, starting, active, spec }: ScheduleState): number | null {
  const [first] = waiting;
  const isHeld = starting !== null || (spec?.overlap === "queue" && active.length > 0);
  if (first === undefined || isHeld) return next;
  return next === null ? first.notBefore : Math.min(next, first.notBefore);
}
