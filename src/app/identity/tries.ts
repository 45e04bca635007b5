/** Counts tries by key, in bounded memory. Pure but for its own memory. */
import { MillraceError } from "../../domain/errors.ts";

/** Entries of each kind. A wrong try takes a hash of about 20 ms, so filling them takes minutes. */
const MAX_ENTRIES = 10_000;
/** Forgotten at once when there are too many: looking for the oldest entry is slow after each single removal. */
const FORGOTTEN_ENTRIES = 1_000;

/** The refusal of a try that has to wait; `what` is what there was too much of. */
export function tooMany(what: string, waitMs: number): MillraceError {
  const retryAfterSeconds = Math.ceil(waitMs / 1_000);
  return new MillraceError("too_many", `too many ${what}: try again in ${retryAfterSeconds} s`, { retryAfterSeconds });
}

export interface Pace {
  /** So many at once, */
  readonly tries: number;
  /** and then one each so many milliseconds. */
  readonly perTryMs: number;
  /** How often that time doubles: after each {@link TRIES_A_DOUBLING} further tries, until all tries are there again. */
  readonly doublings?: number;
}

/** Further tries behind each doubling. */
const TRIES_A_DOUBLING = 5;

interface Entry {
  /** When all tries of the key are there again. */
  readonly fullAt: number;
  /** Tries since all of them were there. */
  readonly used: number;
}

/** Tries by key, at a pace that slows down for a key that goes on. */
export class Tries {
  readonly #pace: Required<Pace>;
  /** In the order of use, so that the key that is unused the longest is forgotten first. */
  readonly #entries = new Map<string, Entry>();

  constructor(pace: Pace) {
    this.#pace = { doublings: 0, ...pace };
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Milliseconds until the key has a try; 0 when it has one. */
  waitMs(key: string, now: number): number {
    const { tries, perTryMs } = this.#pace;
    return Math.max(0, (this.#entries.get(key)?.fullAt ?? now) - now - (tries - 1) * perTryMs);
  }

  /** Takes a try; takes nothing when there is none. The answer gives it back. */
  take(key: string, now: number): () => void {
    if (this.waitMs(key, now) > 0) return () => {};
    const known = this.#entries.get(key);
    const { fullAt, used } = known !== undefined && known.fullAt > now ? known : { fullAt: now, used: 0 };
    const costMs = this.#costMs(used);
    this.#move(key, { fullAt: fullAt + costMs, used: used + 1 });
    return () => {
      const entry = this.#entries.get(key);
      if (entry !== undefined) this.#move(key, { fullAt: entry.fullAt - costMs, used: Math.max(0, entry.used - 1) });
    };
  }

  #costMs(used: number): number {
    const { tries, perTryMs, doublings } = this.#pace;
    const further = Math.max(0, used - tries);
    return perTryMs * 2 ** Math.min(doublings, Math.floor(further / TRIES_A_DOUBLING));
  }

  #move(key: string, entry: Entry): void {
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    if (this.#entries.size <= MAX_ENTRIES) return;
    for (const oldest of [...this.#entries.keys()].slice(0, FORGOTTEN_ENTRIES)) this.#entries.delete(oldest);
  }
}
