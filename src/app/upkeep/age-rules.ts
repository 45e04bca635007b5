/**
 * When deletion by age may go on. A clock that is ahead makes everything look old, and what is deleted does not come
 * back. Pure.
 */

/** What the guard of ages remembers from one look to the next. */
export interface AgeMemory {
  /** Both clocks at the last look. */
  readonly wall: number;
  readonly monotonic: number;
  /** Until when deletion is held after the clock jumped ahead, monotonic milliseconds; null for no hold. */
  readonly heldUntil: number | null;
}

export interface AgeReading {
  /** Unix milliseconds by the clock of this node. */
  readonly wall: number;
  readonly monotonic: number;
  /** The highest time in the store, Unix milliseconds; null when the store holds none. */
  readonly newest: number | null;
}

/** `ahead`: of the highest time in the store. `jumped`: ahead, while this process ran. */
export type AgeVerdict = "allowed" | "ahead" | "jumped";

/** How far the clock may be ahead of the highest time in the store, milliseconds. */
export const AHEAD_MS = 3_600_000;
/** How long deletion is held after a jump of the clock. Runs that are created meanwhile carry the new time. */
const HOLD_MS = 3_600_000;

/** Judges one look at the clocks and at the store. `memory` is null at the first look. */
export function judgeAges(
  memory: AgeMemory | null,
  { wall, monotonic, newest }: AgeReading,
): { readonly verdict: AgeVerdict; readonly memory: AgeMemory } {
  const jumpMs = memory === null ? 0 : wall - memory.wall - (monotonic - memory.monotonic);
  let heldUntil = memory?.heldUntil ?? null;
  if (jumpMs > AHEAD_MS) heldUntil = monotonic + HOLD_MS;
  // A jump back is the correction.
  else if (jumpMs < -AHEAD_MS) heldUntil = null;
  if (heldUntil !== null && monotonic >= heldUntil) heldUntil = null;
  const isAhead = newest !== null && wall - newest > AHEAD_MS;
  return {
    verdict: isAhead ? "ahead" : heldUntil === null ? "allowed" : "jumped",
    memory: { wall, monotonic, heldUntil },
  };
}
