/** Texts of times and durations. Pure: the caller passes the time that it is now. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "narrow" });
const STEPS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ["year", 365 * DAY],
  ["month", 30 * DAY],
  ["day", DAY],
  ["hour", HOUR],
  ["minute", MINUTE],
];

/** `in 5 min`, `3h ago`, `now`. */
export function relativeText(atMs: number, nowMs: number): string {
  const awayMs = atMs - nowMs;
  // What lasts for 7 days from now is said to end in 7 days, also a moment later.
  const near = (ms: number): number => (awayMs > 0 ? Math.round(awayMs / ms) : Math.trunc(awayMs / ms));
  const step = STEPS.find(([, ms]) => Math.abs(near(ms)) >= 1 && (awayMs < 0 || awayMs >= 0.95 * ms));
  if (step !== undefined) return relative.format(near(step[1]), step[0]);
  return Math.abs(awayMs) < 10 * SECOND ? "now" : relative.format(Math.trunc(awayMs / SECOND), "second");
}

/** `340 ms`, `12.4 s`, `3 m 05 s`, `2 h 07 m`, `3 d 4 h`. */
export function durationText(ms: number): string {
  const whole = Math.max(0, Math.round(ms));
  if (whole < SECOND) return `${whole} ms`;
  if (whole < 10 * SECOND) return `${(Math.floor(whole / 100) / 10).toFixed(1)} s`;
  if (whole < MINUTE) return `${Math.floor(whole / SECOND)} s`;
  const two = (n: number): string => `${Math.floor(n)}`.padStart(2, "0");
  if (whole < HOUR) return `${Math.floor(whole / MINUTE)} m ${two((whole % MINUTE) / SECOND)} s`;
  if (whole < DAY) return `${Math.floor(whole / HOUR)} h ${two((whole % HOUR) / MINUTE)} m`;
  return `${Math.floor(whole / DAY)} d ${Math.floor((whole % DAY) / HOUR)} h`;
}

/** `12 kB`, `3.4 MB`. */
export function sizeText(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let at = 0;
  let value = bytes;
  while (value >= 1_000 && at < units.length - 1) {
    value /= 1_000;
    at++;
  }
  return `${at === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[at]}`;
}
