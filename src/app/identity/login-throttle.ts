/**
 * Slows down callers who try passwords. Each edge counts for itself: with several edges, a caller has as many tries on
 * each of them. Pure but for its own memory, which is bounded.
 *
 * - An address has 20 tries, and then one each 6 s. A right password gives its try back.
 * - A name has 20 tries from all addresses together, and then one each 30 s. Without one of these, an address may still
 *   try the name once a minute.
 * - Each of these times doubles after five further tries, up to 192 s for an address and 8 minutes for a name. It is as
 *   short as before once all 20 tries are there again.
 *
 * So an attacker with many addresses has few tries at one name, and cannot lock its user out:
 *   from an address of their own the user's first try always counts.
 */
import { tooMany, Tries } from "./tries.ts";

const ADDRESS = { tries: 20, perTryMs: 6_000, doublings: 5 } as const;
const NAME = { tries: 20, perTryMs: 30_000, doublings: 4 } as const;
const NAME_FROM_ADDRESS = { tries: 1, perTryMs: 60_000, doublings: 3 } as const;
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
    if (waitMs > 0) throw tooMany("wrong logins", waitMs);
  }

  /** Takes a try. `now` is monotonic. Throws `too_many`, with the time after which to try again. */
  take(address: string, name: string, now: number): LoginTry {
    const pair = `${address} ${name}`;
    const waitMs = Math.max(
      this.#addresses.waitMs(address, now),
      Math.min(this.#names.waitMs(name, now), this.#pairs.waitMs(pair, now)),
    );
    if (waitMs > 0) throw tooMany("wrong logins", waitMs);
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
