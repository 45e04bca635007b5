/** Counts of what is held: by key, and a key may be held several times. A key that is not held takes no memory. */
export class Holds<Key = string> {
  readonly #counts = new Map<Key, number>();

  /** How many keys are held. */
  get size(): number {
    return this.#counts.size;
  }

  has(key: Key): boolean {
    return this.#counts.has(key);
  }

  /** How often the key is held. */
  count(key: Key): number {
    return this.#counts.get(key) ?? 0;
  }

  /** Holds the key until the answer is called. The answer is idempotent. */
  hold(key: Key): () => void {
    this.#counts.set(key, this.count(key) + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      const others = this.count(key) - 1;
      if (others > 0) this.#counts.set(key, others);
      else this.#counts.delete(key);
    };
  }
}
