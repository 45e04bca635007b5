/** A bounded queue of messages for one stream. A message may have to be built first; the order is kept all the same. */

/** Builds one message; undefined for none. */
type Build<T> = () => T | Promise<T | undefined>;

export interface OutboxOptions<T> {
  /** Messages that may wait. */
  readonly capacity: number;
  /** Resolves when the next message may be written. Rejects when the stream has ended. */
  readonly write: (message: T) => Promise<void>;
  /** Called when a message could not be built; the stream goes on without it. */
  readonly onFault: (error: unknown) => void;
  /** Called when a message is dropped because `capacity` messages wait. */
  readonly onOverflow: () => void;
}

export class Outbox<T> {
  readonly #options: OutboxOptions<T>;
  readonly #waiting: Build<T>[] = [];
  #state: "closed" | "idle" | "sending" = "closed";

  constructor(options: OutboxOptions<T>) {
    this.#options = options;
  }

  /** Sends `first`, and then the messages that wait. Before this call every message waits. */
  open(first: T): void {
    this.#waiting.unshift(() => first);
    this.#state = "idle";
    void this.#send();
  }

  push(build: Build<T>): void {
    if (this.#waiting.length >= this.#options.capacity) {
      this.#options.onOverflow();
      return;
    }
    this.#waiting.push(build);
    if (this.#state === "idle") void this.#send();
  }

  async #send(): Promise<void> {
    this.#state = "sending";
    for (let build = this.#waiting.shift(); build !== undefined; build = this.#waiting.shift()) {
      let message: T | undefined;
      try {
        message = await build();
      } catch (error) {
        this.#options.onFault(error);
      }
      try {
        if (message !== undefined) await this.#options.write(message);
      } catch {
        // The stream has ended, which its owner notices elsewhere: no further message is sent.
        this.#state = "closed";
        return;
      }
    }
    this.#state = "idle";
  }
}
