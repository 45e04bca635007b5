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

/** Tries by key: so many at once, and then one each `perTryMs`. */
export class Tries {
  readonly #tries: number;
  readonly #perTryMs: number;
  /** When all tries of the key are there again. In the order of use, so that the key that is unused the longest is forgotten first. */
  readonly #fullAt = new Map<string, number>();

  constructor({ tries, perTryMs }: { readonly tries: number; readonly perTryMs: number }) {
    this.#tries = tries;
    this.#perTryMs = perTryMs;
  }

  get size(): number {
    return this.#fullAt.size;
  }

  /** Milliseconds until the key has a try; 0 when it has one. */
  waitMs(key: string, now: number): number {
    return Math.max(0, (this.#fullAt.get(key) ?? now) - now - (this.#tries - 1) * this.#perTryMs);
  }

  /** Takes a try; takes nothing when there is none. The answer gives it back. */
  take(key: string, now: number): () => void {
    if (this.waitMs(key, now) > 0) return () => {};
    this.#move(key, Math.max(now, this.#fullAt.get(key) ?? now) + this.#perTryMs);
    return () => {
      const fullAt = this.#fullAt.get(key);
      if (fullAt !== undefined) this.#move(key, fullAt - this.#perTryMs);
    };
  }

  #move(key: string, fullAt: number): void {
    this.#fullAt.delete(key);
    this.#fullAt.set(key, fullAt);
    if (this.#fullAt.size <= MAX_ENTRIES) return;
    for (const oldest of [...this.#fullAt.keys()].slice(0, FORGOTTEN_ENTRIES)) this.#fullAt.delete(oldest);
  }
}
