/** How wrong a node's clock is, from its difference to the other clocks that can be read. Pure. */

/** From here on operators are warned, milliseconds. */
export const WARN_MS = 5_000;
/** Beyond this a node may own no shard, milliseconds. */
export const WRONG_MS = 60_000;

/**
 * How far the clock is ahead of the others, milliseconds; negative when it is behind. `offsetMs`: this clock before
 * the clock of Redis. `others`: the same of the other nodes.
 *
 * The others are Redis and the other nodes. Their median counts, so that one wrong clock among three moves no other.
 * With an even number, any value between the two medians counts as right.
 */
export function clockDeviation(offsetMs: number, others: readonly number[]): number {
  const sorted = [0, ...others].toSorted((a, b) => a - b);
  const low = sorted[Math.floor((sorted.length - 1) / 2)]!;
  const high = sorted[Math.floor(sorted.length / 2)]!;
  if (offsetMs > high) return offsetMs - high;
  return offsetMs < low ? offsetMs - low : 0;
}

/** `wrong`: own no shard. `off`: warn. */
export type ClockVerdict = "right" | "off" | "wrong";

export function clockVerdict(deviationMs: number): ClockVerdict {
  const away = Math.abs(deviationMs);
  if (away > WRONG_MS) return "wrong";
  return away >= WARN_MS ? "off" : "right";
}
