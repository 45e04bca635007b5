/**
 * Results of reads that many calls ask for again. A result is good until its tables change: this process counts the changes
 * of its own statements, and SQLite tells whether another process has changed the file. So a remembered result is the one
 * that the statement would read now.
 */
import type { Database } from "./database.ts";

/** Results that are remembered at most; the oldest makes room. */
const MAX_REMEMBERED = 1_000;

interface Remembered<V> {
  readonly state: string;
  readonly value: V;
}

export class ReadMemory<V> {
  readonly #db: Database;
  readonly #changes: ReturnType<Database["watch"]>;
  readonly #known = new Map<string, Remembered<V>>();

  /** `tables` are all that the reads look at. */
  constructor(db: Database, tables: readonly string[]) {
    this.#db = db;
    this.#changes = db.watch(tables);
  }

  /** Answers what `read` answers, which uses only the `...Now` methods. Callers share the answer, and must not change it. */
  get(key: string, read: () => V): Promise<V> {
    return this.#db.now(() => {
      const state = `${this.#db.versionOfOthers()} ${this.#changes.count}`;
      const known = this.#known.get(key);
      if (known?.state === state) return known.value;
      const value = read();
      this.#known.delete(key);
      // Ids that a caller makes up do not push out those that exist.
      if (value === undefined) return value;
      this.#known.set(key, { state, value });
      if (this.#known.size > MAX_REMEMBERED) this.#known.delete(this.#known.keys().next().value!);
      return value;
    });
  }
}
