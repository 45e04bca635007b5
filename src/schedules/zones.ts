/** Time zones: their offsets from UTC, and the spans of time in which an offset holds. Pure: the rules come with Node. */
/* oxlint-disable no-restricted-globals -- each Date is of a given time: a calendar, and no clock */

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const OFFSET = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/;
/** Years of zones whose changes are kept in memory. */
const MAX_YEARS = 2_000;

/** A span of time in which the offset does not change. Instants are Unix milliseconds. */
export interface ZoneSpan {
  /** When it begins: a change of the offset, or the begin of a year. */
  readonly from: number;
  /** When the next span begins. */
  readonly until: number;
  /** What is added to UTC for the time on the wall, milliseconds. */
  readonly offset: number;
  /** The offset of the span before. */
  readonly offsetBefore: number;
}

const formats = new Map<string, Intl.DateTimeFormat>();
const spansOfYears = new Map<string, readonly ZoneSpan[]>();

/** The span of the zone, a name of the IANA database, that holds `instant`. */
export function spanAt(zone: string, instant: number): ZoneSpan {
  const year = new Date(instant).getUTCFullYear();
  return spansOf(zone, year).findLast(({ from }) => from <= instant)!;
}

/** The spans of a zone in a year of UTC. */
function spansOf(zone: string, year: number): readonly ZoneSpan[] {
  const key = `${zone} ${year}`;
  const known = spansOfYears.get(key);
  if (known !== undefined) return known;
  const spans = findSpans(zone, Date.UTC(year, 0, 1), Date.UTC(year + 1, 0, 1));
  if (spansOfYears.size >= MAX_YEARS) spansOfYears.clear();
  spansOfYears.set(key, spans);
  return spans;
}

/** Looks at each day: two changes within a day that undo each other do not count. */
function findSpans(zone: string, begin: number, end: number): readonly ZoneSpan[] {
  const spans: ZoneSpan[] = [];
  let from = begin;
  let offset = offsetAt(zone, begin);
  let offsetBefore = offsetAt(zone, begin - MINUTE_MS);
  for (let day = begin; day < end; day += DAY_MS) {
    const next = Math.min(day + DAY_MS, end - MINUTE_MS);
    const offsetThen = offsetAt(zone, next);
    if (offsetThen === offset) continue;
    const change = findChange(zone, day, next, offset);
    spans.push({ from, until: change, offset, offsetBefore });
    [from, offsetBefore, offset] = [change, offset, offsetThen];
  }
  return [...spans, { from, until: end, offset, offsetBefore }];
}

/** The minute in which the offset stops being `offset`: after `before`, and not after `after`. */
function findChange(zone: string, before: number, after: number, offset: number): number {
  let [low, high] = [before / MINUTE_MS, after / MINUTE_MS];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(zone, middle * MINUTE_MS) === offset) low = middle;
    else high = middle;
  }
  return high * MINUTE_MS;
}

function offsetAt(zone: string, instant: number): number {
  let format = formats.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "longOffset" });
    formats.set(zone, format);
  }
  const found = OFFSET.exec(format.format(instant));
  if (found === null) throw new Error(`the offset of the time zone ${zone} cannot be read`);
  const [, sign, hours = "0", minutes = "0", seconds = "0"] = found;
  const size = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1_000;
  return sign === "-" ? -size : size;
}
