/** A loop that deletes what is due, on every worker. Several workers may prune at once. */
import { systemClock, untilNext } from "../domain/clock.ts";
import type { Logger } from "../domain/logger.ts";

/** Short: what expired while no worker ran is deleted soon after the start. */
const FIRST_DELAY_MS = 1_000;
const INTERVAL_MS = 5_000;

/** Whether the clock may be relied on for deletion by age. */
export interface Ages {
  mayDelete(): Promise<boolean>;
}

export class Pruner {
  readonly #log: Logger;
  readonly #what: string;
  readonly #prune: () => Promise<boolean>;
  #timer: NodeJS.Timeout | undefined;
  #pruning: Promise<void> = Promise.resolve();

  /**
   * `prune` deletes what is due; when it answers true there is more, and it is called again at once. `what` names for
   * operators what it deletes.
   */
  constructor(log: Logger, what: string, prune: () => Promise<boolean>) {
    this.#log = log;
    this.#what = what;
    this.#prune = prune;
  }

  start(delayMs = FIRST_DELAY_MS): void {
    this.#timer = setTimeout(() => {
      this.#pruning = this.#pruneOnce().then((isMore) => {
        if (this.#timer !== undefined) this.start(isMore ? 0 : untilNext(INTERVAL_MS, systemClock.monotonic()));
      });
    }, delayMs);
  }

  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#pruning;
  }

  async #pruneOnce(): Promise<boolean> {
    try {
      return await this.#prune();
    } catch (error) {
      this.#log.warn({ error: String(error) }, `${this.#what} could not be deleted; trying again`);
      return false;
    }
  }
}
