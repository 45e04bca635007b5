/**
 * Exponential back-off between attempts to reach the control plane, with jitter so that agents do not return together.
 */
import { setTimeout as sleep } from "node:timers/promises";

const FIRST_MS = 200;
const LONGEST_MS = 5_000;

export class Backoff {
  #attempt = 0;

  /**
   * The next delay in milliseconds: a random part between half and the whole of 200 ms, 400 ms, and so on up to 5 s.
   */
  nextMs(): number {
    const whole = Math.min(LONGEST_MS, FIRST_MS * 2 ** this.#attempt++);
    return whole * (0.5 + Math.random() / 2);
  }

  /** Waits for {@link nextMs}. Resolves early when `signal` is aborted. */
  async wait(signal: AbortSignal): Promise<void> {
    await sleep(this.nextMs(), undefined, { signal }).catch(() => {});
  }

  reset(): void {
    this.#attempt = 0;
  }
}
