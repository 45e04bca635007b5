/** Moments of the API as milliseconds. */

/** RFC 3339 to Unix milliseconds. */
export function msOf(time: string): number {
  return Date.parse(time);
}
