/** A bounded memory (LRU) of immutable documents: the document whose last read is the oldest is forgotten first. */
export class RecentlyRead<T> {
  readonly #capacity: number;
  readonly #load: (key: string) => Promise<T>;
  /** By key, in the order of the last read, oldest first. */
  readonly #documents = new Map<string, Promise<T>>();

  constructor(capacity: number, load: (key: string) => Promise<T>) {
    this.#capacity = capacity;
    this.#load = load;
  }

  /**
   * Several reads of one key at the same time load the document once. A load that fails is not remembered. `load` takes the
   * place of the load that the constructor got.
   */
  read(key: string, load = this.#load): Promise<T> {
    return this.#keep(key, this.#documents.get(key) ?? this.#start(key, load));
  }

  /** Adds a document that the caller has already. */
  remember(key: string, document: T): void {
    void this.#keep(key, Promise.resolve(document));
  }

  #keep(key: string, document: Promise<T>): Promise<T> {
    this.#documents.delete(key);
    this.#documents.set(key, document);
    if (this.#documents.size > this.#capacity) this.#documents.delete(this.#documents.keys().next().value!);
    return document;
  }

  #start(key: string, load: (key: string) => Promise<T>): Promise<T> {
    const document = load(key);
    document.catch(() => {
      if (this.#documents.get(key) === document) this.#documents.delete(key);
    });
    return document;
  }
}
