/** Times as the edges answer them: RFC 3339 texts and integer milliseconds. */

export function rfc3339(timeMs: number): string;
export function rfc3339(timeMs: number | null): string | null;
export function rfc3339(timeMs: number | null): string | null {
  return timeMs === null ? null : new Date(timeMs).toISOString();
}

/** The three fields of anything that begins and ends; `duration` is 0 before the start and goes on until the end. */
export function timing(startedAt: number | null, endedAt: number | null, now: number) {
  const until = endedAt ?? now;
  return {
    startTime: rfc3339(startedAt),
    endTime: rfc3339(endedAt),
    duration: startedAt === null ? 0 : Math.max(0, Math.round(until - startedAt)),
  };
}
