/** Refusals of too many logins, which are sent late. */
import { setTimeout as sleep } from "node:timers/promises";
import { MillraceError } from "../../domain/errors.ts";

/** Refusals that wait to be sent. Each keeps a connection and a few kB. */
const MAX_HELD = 5_000;

/**
 * A refusal of too many logins is sent after `afterMs`: a caller who waits for each answer then sends so few requests that
 * the others do not notice them.
 */
export class HeldRefusals {
  readonly #afterMs: number;
  #held = 0;

  constructor(afterMs: number) {
    this.#afterMs = afterMs;
  }

  async run<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      if (error instanceof MillraceError && error.reason === "too_many" && this.#held < MAX_HELD) {
        this.#held++;
        await sleep(this.#afterMs, undefined, { ref: false });
        this.#held--;
      }
      throw error;
    }
  }
}
