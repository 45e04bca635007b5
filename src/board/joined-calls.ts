/**
 * Collects what is asked for in one turn of the event loop, so that one call does it. A turn of a large run owes
 * hundreds of effects of one kind, and a call for each costs more than what it does.
 */

interface Batch<Item> {
  readonly items: Item[];
  /** Settles as the call for these items does. */
  readonly done: Promise<void>;
  readonly send: () => void;
}

export class JoinedCalls<Item> {
  readonly #call: (items: readonly Item[]) => Promise<unknown>;
  readonly #atOnce: number;
  #batch: Batch<Item> | undefined;

  /** `call` is called with at most `atOnce` items, in the order in which they were added. */
  constructor(call: (items: readonly Item[]) => Promise<unknown>, atOnce: number) {
    this.#call = call;
    this.#atOnce = atOnce;
  }

  /** Settles as the call that does it. */
  add(item: Item): Promise<void> {
    const batch = (this.#batch ??= this.#begin());
    batch.items.push(item);
    if (batch.items.length === this.#atOnce) this.flush();
    return batch.done;
  }

  /** Makes the call for what is collected. Whatever is called on the same connection afterwards comes later. */
  flush(): void {
    const batch = this.#batch;
    this.#batch = undefined;
    batch?.send();
  }

  #begin(): Batch<Item> {
    const items: Item[] = [];
    let send = (): void => {};
    const done = new Promise<void>((resolve, reject) => {
      send = () => void this.#call(items).then(() => resolve(), reject);
    });
    const batch = { items, done, send };
    queueMicrotask(() => {
      if (this.#batch === batch) this.flush();
    });
    return batch;
  }
}
