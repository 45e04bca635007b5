/** Times as the APIs answer them: RFC 3339 texts and integer milliseconds. */

export function rfc3339(timeMs: number): string;
export function rfc3339(timeMs: number | null): string | null;
export function rfc3339(timeMs: number | null): string | null {
  return timeMs === null ? null : new Date(timeMs).toISOString();
}

/** Whole milliseconds between two times. Clocks of two machines differ: the answer is 0 when `to` is before `from`. */
export function elapsed(from: number, to: number): number {
  return Math.max(0, Math.round(to - from));
}

/** The three fields of what starts and ends. `duration` is 0 before the start, and grows until the end. */
export function timing(startedAt: number | null, endedAt: number | null, now: number) {
  return {
    startTime: rfc3339(startedAt),
    endTime: rfc3339(endedAt),
    duration: startedAt === null ? 0 : elapsed(startedAt, endedAt ?? now),
  };
}
