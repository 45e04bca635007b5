/** Looks again and again for what has to be deleted, on every worker; several may look at once. */
import type { Logger } from "../domain/logger.ts";

/** What went out of date while no worker ran goes soon after the start. */
const FIRST_LOOK_MS = 1_000;
const INTERVAL_MS = 5_000;

export class Pruner {
  readonly #log: Logger;
  readonly #what: string;
  readonly #look: () => Promise<boolean>;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();

  /** `look` answers whether there is more: then the next look follows at once. `what` it looks for, for operators. */
  constructor(log: Logger, what: string, look: () => Promise<boolean>) {
    this.#log = log;
    this.#what = what;
    this.#look = look;
  }

  start(delayMs = FIRST_LOOK_MS): void {
    this.#timer = setTimeout(() => {
      this.#looking = this.#lookOnce().then((isMore) => {
        if (this.#timer !== undefined) this.start(isMore ? 0 : INTERVAL_MS);
      });
    }, delayMs);
  }

  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#looking;
  }

  async #lookOnce(): Promise<boolean> {
    try {
      return await this.#look();
    } catch (error) {
      this.#log.warn({ error: String(error) }, `${this.#what} could not be deleted; the next look follows`);
      return false;
    }
  }
}
