/** Bounds the entries of refusals: a caller who is refused again and again fills no store. */
import type { Clock } from "../domain/clock.ts";

const WINDOW_MS = 60_000;
/** Entries of one caller in a window. */
const MOST_OF_ONE = 20;
/** Entries of all callers of this process in a window. */
const MOST_OF_ALL = 600;
/** Callers that are remembered. The one that is remembered longest is forgotten first. */
const MOST_CALLERS = 5_000;

interface Counted {
  windowAt: number;
  entries: number;
  leftOut: number;
}

export class RefusalBounds {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #callers = new Map<string, Counted>();
  readonly #all: Counted = { windowAt: Number.NEGATIVE_INFINITY, entries: 0, leftOut: 0 };

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /**
   * Whether a refusal of this caller is recorded; then the number of those that were left out since the last one that was.
   * Else the refusal is counted for a later entry.
   */
  admit(caller: string): { readonly leftOut: number } | undefined {
    const now = this.#clock.monotonic();
    const one = this.#callers.get(caller) ?? { windowAt: now, entries: 0, leftOut: 0 };
    if (!this.#callers.has(caller)) {
      this.#callers.set(caller, one);
      if (this.#callers.size > MOST_CALLERS) this.#callers.delete(this.#callers.keys().next().value!);
    }
    for (const counted of [one, this.#all]) {
      if (now - counted.windowAt < WINDOW_MS) continue;
      counted.windowAt = now;
      counted.entries = 0;
    }
    if (one.entries >= MOST_OF_ONE || this.#all.entries >= MOST_OF_ALL) {
      one.leftOut++;
      return undefined;
    }
    one.entries++;
    this.#all.entries++;
    const { leftOut } = one;
    one.leftOut = 0;
    return { leftOut };
  }
}
