/** Work that is done one at a time for each key, in the order of the calls. */
import { MillraceError } from "../domain/errors.ts";

export class Turns<Key> {
  readonly #most: number;
  /** The last work of each key, and how much has not ended. */
  readonly #last = new Map<Key, { readonly ended: Promise<unknown>; readonly waiting: number }>();

  /** `most`: how much work of one key may be in hand or wait. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Does the work when all earlier work of the key has ended. Rejects as the work does, and with `too_many`. */
  async take<T>(key: Key, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key);
    const waiting = (before?.waiting ?? 0) + 1;
    if (waiting > this.#most) {
      throw new MillraceError("too_many", `${this.#most} calls like this one wait for each other: try again later`);
    }
    const done = (before?.ended ?? Promise.resolve()).then(work);
    const ended = done.then(
      () => this.#end(key),
      () => this.#end(key),
    );
    this.#last.set(key, { ended, waiting });
    return done;
  }

  #end(key: Key): void {
    const { ended, waiting } = this.#last.get(key)!;
    if (waiting === 1) this.#last.delete(key);
    else this.#last.set(key, { ended, waiting: waiting - 1 });
  }
}
