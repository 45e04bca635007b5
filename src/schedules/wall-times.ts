/**
 * The times on the wall that a schedule names: croner reads its five fields, as a calendar without changes of the offset. A
 * time on the wall is written as the instant at which a clock in UTC shows it. Pure.
 */
/* oxlint-disable no-restricted-globals -- each Date is of a given time: a calendar, and no clock */
import { Cron } from "croner";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const MAX_KNOWN = 2_000;

export interface WallTimes {
  /** The first time at or after `wall`; null when the calendar has none any more. */
  next(wall: number): number | null;
  /** True when the field of hours has a `*` or a step, and does not name the hours one by one or as a range. */
  readonly isAnyHour: boolean;
}

const known = new Map<string, WallTimes>();

/** The times of a schedule of five fields that the validator has accepted. */
export function wallTimesOf(schedule: string): WallTimes {
  let times = known.get(schedule);
  if (times === undefined) {
    times = readSchedule(schedule);
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(schedule, times);
  }
  return times;
}

function readSchedule(schedule: string): WallTimes {
  const [minute = "", hour = "", ...days] = schedule.trim().split(/\s+/);
  const minutes = matchesOf(`${minute} * * * *`, HOUR_MS);
  const hours = matchesOf(`0 ${hour} * * *`, DAY_MS);
  const ofDay = hours.flatMap((at) => minutes.map((after) => at + after));
  const nextDay = dayFinder(`0 0 ${days.join(" ")}`);
  return {
    isAnyHour: /[*/?]/.test(hour),
    next(wall) {
      const day = Math.floor(wall / DAY_MS);
      const inDay = wall - day * DAY_MS;
      const later = ofDay.find((at) => at >= inDay);
      const first = nextDay(later === undefined ? day + 1 : day);
      if (first === null) return null;
      return first * DAY_MS + (first === day ? later! : ofDay[0]!);
    },
  };
}

/** The times of a pattern from the begin of a day to `end`, milliseconds after it. */
function matchesOf(pattern: string, end: number): readonly number[] {
  const cron = calendarOf(pattern);
  const found: number[] = [];
  for (let last = -1_000; ;) {
    const next = cron.nextRun(new Date(last))?.getTime() ?? end;
    if (next >= end) return found;
    found.push(next);
    last = next;
  }
}

/** Finds the first day that matches, from a day on; days are counted from 1970-01-01. Remembers the last answer. */
function dayFinder(pattern: string): (day: number) => number | null {
  const cron = calendarOf(pattern);
  let asked = 0;
  let answer: number | null = -1;
  return (day) => {
    const isKnown = day >= asked && (answer === null || day <= answer);
    if (isKnown && answer !== -1) return answer;
    const found = cron.nextRun(new Date(day * DAY_MS - MINUTE_MS))?.getTime();
    [asked, answer] = [day, found === undefined ? null : found / DAY_MS];
    return answer;
  };
}

function calendarOf(pattern: string): Cron {
  return new Cron(pattern, { paused: true, timezone: "UTC" });
}
