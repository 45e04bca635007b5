/**
 * Slows down callers who try passwords. Each edge counts for itself: with several edges, a caller has as many tries on
 * each of them. Pure but for its own memory, which is bounded.
 *
 * - An address has 20 tries, and then one each 6 s. A right password gives its try back.
 * - A name has 20 tries from all addresses together, and then one each 30 s. Without one of these, an address may still
 *   try the name once a minute. So an attacker with many addresses has few tries at one name, and cannot lock its user out:
 *   from an address of their own the user's first try always counts.
 */
import { MillraceError } from "../../domain/errors.ts";

const ADDRESS = { tries: 20, perTryMs: 6_000 } as const;
const NAME = { tries: 20, perTryMs: 30_000 } as const;
const NAME_FROM_ADDRESS = { tries: 1, perTryMs: 60_000 } as const;
/** Entries of each kind. A wrong try takes a hash of about 20 ms, so filling them takes minutes. */
const MAX_ENTRIES = 10_000;
/** Forgotten at once when there are too many: looking for the oldest entry is slow after each single removal. */
const FORGOTTEN_ENTRIES = 1_000;

export interface LoginTry {
  /** The password was right: gives the try back. Call one of the two, at most once. */
  giveBack(): void;
  /** The password was not compared: gives the try at the name back, and keeps that of the address, which calls too often. */
  giveNameBack(): void;
}

export class LoginThrottle {
  readonly #addresses = new Tries(ADDRESS);
  readonly #names = new Tries(NAME);
  readonly #pairs = new Tries(NAME_FROM_ADDRESS);

  /** Throws `too_many` for an address that has no try left: its request need not be read. */
  requireTry(address: string, now: number): void {
    const waitMs = this.#addresses.waitMs(address, now);
    if (waitMs > 0) throw tooMany(waitMs);
  }

  /** Takes a try. `now` is monotonic. Throws `too_many`, with the time after which to try again. */
  take(address: string, name: string, now: number): LoginTry {
    const pair = `${address} ${name}`;
    const waitMs = Math.max(
      this.#addresses.waitMs(address, now),
      Math.min(this.#names.waitMs(name, now), this.#pairs.waitMs(pair, now)),
    );
    if (waitMs > 0) throw tooMany(waitMs);
    const ofAddress = this.#addresses.take(address, now);
    const ofName = [this.#names.take(name, now), this.#pairs.take(pair, now)];
    const giveNameBack = (): void => ofName.forEach((giveBack) => giveBack());
    return {
      giveNameBack,
      giveBack() {
        ofAddress();
        giveNameBack();
      },
    };
  }

  /** The number of addresses, names and pairs that are remembered. */
  get size(): number {
    return this.#addresses.size + this.#names.size + this.#pairs.size;
  }
}

function tooMany(waitMs: number): MillraceError {
  const retryAfterSeconds = Math.ceil(waitMs / 1_000);
  return new MillraceError("too_many", `too many wrong logins: try again in ${retryAfterSeconds} s`, {
    retryAfterSeconds,
  });
}

/** Tries by key: so many at once, and then one each `perTryMs`. */
class Tries {
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
