/** Reads by one key each that come at about the same time and share one command. */
import { setTimeout as pause } from "node:timers/promises";

/** How long a read waits for others, milliseconds. */
const SHARED_WITHIN_MS = 20;
/** Keys of one command. */
const MOST_KEYS = 500;

interface Batch<Key, Found> {
  readonly keys: Set<Key>;
  readonly found: Promise<ReadonlyMap<Key, readonly Found[]>>;
}

export class SharedReads<Key, Found> {
  readonly #read: (keys: readonly Key[]) => Promise<ReadonlyMap<Key, readonly Found[]>>;
  /** The batch that still takes keys. */
  #open: Batch<Key, Found> | undefined;

  /** `read`: one command for all keys; a key of which it finds nothing may be absent. */
  constructor(read: (keys: readonly Key[]) => Promise<ReadonlyMap<Key, readonly Found[]>>) {
    this.#read = read;
  }

  /** What there is of the key. Everything that was stored before the call is seen. Rejects as the command does. */
  async of(key: Key): Promise<readonly Found[]> {
    const batch = (this.#open ??= this.#begin());
    batch.keys.add(key);
    if (batch.keys.size >= MOST_KEYS) this.#open = undefined;
    return (await batch.found).get(key) ?? [];
  }

  #begin(): Batch<Key, Found> {
    const keys = new Set<Key>();
    return { keys, found: this.#readSoon(keys) };
  }

  async #readSoon(keys: ReadonlySet<Key>): Promise<ReadonlyMap<Key, readonly Found[]>> {
    await pause(SHARED_WITHIN_MS);
    // What comes from now on may ask for what this command does not see.
    if (this.#open?.keys === keys) this.#open = undefined;
    return this.#read([...keys]);
  }
}
