/** What waits to be sent on one stream, in order and bounded: some of it has to be made first. */
type Make<T> = () => T | Promise<T | undefined>;

export interface OutboxOptions<T> {
  readonly capacity: number;
  /** Resolves when the next message may be written. Rejects when nobody reads any more. */
  readonly write: (message: T) => Promise<void>;
  /** A message could not be made; the stream goes on without it. */
  readonly onFault: (error: unknown) => void;
  readonly onOverflow: () => void;
}

export class Outbox<T> {
  readonly #options: OutboxOptions<T>;
  readonly #waiting: Make<T>[] = [];
  #state: "closed" | "idle" | "sending" = "closed";

  constructor(options: OutboxOptions<T>) {
    this.#options = options;
  }

  /** Sends what waits, `first` before it; until then everything waits. */
  open(first: T): void {
    this.#waiting.unshift(() => first);
    this.#state = "idle";
    void this.#send();
  }

  push(make: Make<T>): void {
    if (this.#waiting.length >= this.#options.capacity) {
      this.#options.onOverflow();
      return;
    }
    this.#waiting.push(make);
    if (this.#state === "idle") void this.#send();
  }

  async #send(): Promise<void> {
    this.#state = "sending";
    for (let make = this.#waiting.shift(); make !== undefined; make = this.#waiting.shift()) {
      let message: T | undefined;
      try {
        message = await make();
      } catch (error) {
        this.#options.onFault(error);
      }
      try {
        if (message !== undefined) await this.#options.write(message);
      } catch {
        // The stream is over, and its end has been noticed elsewhere: keep what is left from being sent.
        this.#state = "closed";
        return;
      }
    }
    this.#state = "idle";
  }
}
