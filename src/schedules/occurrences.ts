/**
 * The instants at which a schedule is due. The fields of a schedule name times on the wall of its time zone; most of them are
 * one instant each. At a change of the offset:
 *
 * - Forwards, times are left out. If the schedule names any of them, it is due once, when the new offset begins.
 * - Backwards, times come twice. A schedule that names its hours is due the first time only. A schedule with `*` or a step
 *   in the field of hours is due both times, because it means a distance in time.
 *
 * Pure.
 */
import { wallTimesOf, type WallTimes } from "./wall-times.ts";
import { spanAt, type ZoneSpan } from "./zones.ts";

const DAY_MS = 86_400_000;

export interface Calendar {
  /** Five fields. */
  readonly schedule: string;
  /** A name of the IANA database. */
  readonly timezone: string;
}

/** The first instant after `after` at which the schedule is due, both in Unix milliseconds; null when there is none. */
export function nextOccurrence({ schedule, timezone }: Calendar, after: number): number | null {
  const times = wallTimesOf(schedule);
  let from = after + 1;
  for (;;) {
    const span = spanAt(timezone, from);
    const isWhole = from === span.from;
    if (isWhole && isLeftOut(times, span)) return from;
    const wall = times.next(firstWall(times, span, from));
    if (wall === null) return null;
    if (wall - span.offset < span.until) return wall - span.offset;
    // All times of a whole span were looked at, also those that come again behind it.
    from = isWhole ? Math.max(span.until, wall - 2 * DAY_MS) : span.until;
    if (from !== span.until) from = spanAt(timezone, from).from;
  }
}

/** True when the schedule names a time that the change to this span leaves out. */
function isLeftOut(times: WallTimes, { from, offset, offsetBefore }: ZoneSpan): boolean {
  if (offset <= offsetBefore) return false;
  const next = times.next(from + offsetBefore);
  return next !== null && next < from + offset;
}

/** The time on the wall from which the times of the span count, at `from` or later. */
function firstWall({ isAnyHour }: WallTimes, span: ZoneSpan, from: number): number {
  const wall = from + span.offset;
  return isAnyHour ? wall : Math.max(wall, span.from + span.offsetBefore);
}

/** The next instants after `after`, at most `count`. */
export function nextOccurrences(calendar: Calendar, after: number, count: number): readonly number[] {
  const found: number[] = [];
  for (let next = nextOccurrence(calendar, after); next !== null && found.length < count;) {
    found.push(next);
    next = nextOccurrence(calendar, next);
  }
  return found;
}
