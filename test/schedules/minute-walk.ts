/**
 * The times of schedules, computed in another way than the program does: every minute of a span is looked at, one after
 * the other, with the time on the wall that the zone shows then.
 */

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** A field of a schedule as the set of its values. Reads `*`, numbers, ranges, lists and steps. */
function valuesOf(field: string, low: number, high: number): ReadonlySet<number> {
  const values = new Set<number>();
  for (const part of field.split(",")) {
    const [range = "", step] = part.split("/");
    const [first, last] = range === "*" ? [low, high] : range.split("-").map(Number);
    const end = last ?? (step === undefined ? first! : high);
    for (let value = first!; value <= end; value += Number(step ?? 1)) values.add(value);
  }
  return values;
}

interface Wall {
  readonly minute: number;
  readonly hour: number;
  readonly day: number;
  readonly month: number;
  readonly weekday: number;
}

function matcherOf(schedule: string): (wall: number) => boolean {
  const [minute = "", hour = "", day = "", month = "", weekday = ""] = schedule.split(" ");
  const minutes = valuesOf(minute, 0, 59);
  const hours = valuesOf(hour, 0, 23);
  const days = valuesOf(day, 1, 31);
  const months = valuesOf(month, 1, 12);
  const weekdays = valuesOf(weekday, 0, 6);
  const isDay = (wall: Wall): boolean => {
    if (day === "*" || weekday === "*") return days.has(wall.day) && weekdays.has(wall.weekday);
    return days.has(wall.day) || weekdays.has(wall.weekday);
  };
  return (at) => {
    if (!minutes.has(Math.floor(at / MINUTE_MS) % 60) || !hours.has(Math.floor(at / HOUR_MS) % 24)) return false;
    const date = new Date(at);
    const wall = {
      minute: 0,
      hour: 0,
      day: date.getUTCDate(),
      month: date.getUTCMonth() + 1,
      weekday: date.getUTCDay(),
    };
    return months.has(wall.month) && isDay(wall);
  };
}

/** What the clocks of a zone show at each minute of a span, as the instant at which a clock in UTC shows the same. */
export function wallsOf(zone: string, from: number, until: number): Float64Array {
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
  });
  const shown = (at: number): number => {
    const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
    return Date.UTC(parts["year"]!, parts["month"]! - 1, parts["day"]!, parts["hour"]!, parts["minute"]!);
  };
  const walls = new Float64Array((until - from) / MINUTE_MS);
  for (let hour = from; hour < until; hour += HOUR_MS) {
    const isEven = shown(hour + HOUR_MS) - shown(hour) === HOUR_MS;
    const wall = shown(hour);
    for (let minute = 0; minute < 60; minute++) {
      const at = hour + minute * MINUTE_MS;
      walls[(at - from) / MINUTE_MS] = isEven ? wall + minute * MINUTE_MS : shown(at);
    }
  }
  return walls;
}

/** The instants after the first minute of the walls at which the schedule is due. */
export function walk(schedule: string, walls: Float64Array, from: number): readonly number[] {
  const matches = matcherOf(schedule);
  const namesHours = !/[*/]/.test(schedule.split(" ")[1]!);
  const due: number[] = [];
  let latest = walls[0]!;
  for (let index = 1; index < walls.length; index++) {
    const wall = walls[index]!;
    let isDue = matches(wall) && !(namesHours && wall <= latest);
    for (let left = walls[index - 1]! + MINUTE_MS; left < wall; left += MINUTE_MS) isDue ||= matches(left);
    if (isDue) due.push(from + index * MINUTE_MS);
    latest = Math.max(latest, wall);
  }
  return due;
}
