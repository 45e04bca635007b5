/** Work that is done in turn: for each key one piece after the other, in the order of the calls. */
import { MillraceError } from "../errors.ts";

interface Chain {
  /** Settles when the last piece of work of the key has ended. Never rejects. */
  readonly ended: Promise<unknown>;
  /** Pieces of work that run or wait. */
  readonly length: number;
}

/** Work on other keys goes on meanwhile. A key without work takes no memory. */
export class InTurn<Key = string> {
  readonly #most: number;
  readonly #chains = new Map<Key, Chain>();

  /** `most`: how many pieces of work of one key may run or wait. */
  constructor(most = Infinity) {
    this.#most = most;
  }

  /**
   * Does the work when all earlier work of the key has ended, also when that has failed. Settles as the work does, and
   * rejects with `too_many` without doing it when too much of the key waits.
   */
  run<T>(key: Key, work: () => Promise<T>): Promise<T> {
    const chain = this.#chains.get(key);
    const length = (chain?.length ?? 0) + 1;
    if (length > this.#most) return Promise.reject(tooMany(this.#most));
    const done = (chain?.ended ?? Promise.resolve()).then(work);
    const leave = (): void => this.#leave(key);
    this.#chains.set(key, { ended: done.then(leave, leave), length });
    return done;
  }

  #leave(key: Key): void {
    const { ended, length } = this.#chains.get(key)!;
    if (length === 1) this.#chains.delete(key);
    else this.#chains.set(key, { ended, length: length - 1 });
  }
}

function tooMany(most: number): MillraceError {
  return new MillraceError("too_many", `${most} calls like this one wait for each other: try again later`);
}
