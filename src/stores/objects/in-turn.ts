/** Work on one key after the other, in the order of the calls. Work on other keys goes on meanwhile. */
export class InTurn {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Settles as `work` does. */
  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const done = (this.#last.get(key) ?? Promise.resolve()).then(work);
    const quiet = done.catch(() => {});
    this.#last.set(key, quiet);
    void quiet.then(() => {
      if (this.#last.get(key) === quiet) this.#last.delete(key);
    });
    return done;
  }
}
