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

  /**
   * Waits for {@link nextMs}, or, when the control plane has asked for `atLeastMs`, for that time and up to half of it
   * more. Resolves early when `signal` is aborted.
   */
  async wait(signal: AbortSignal, atLeastMs = 0): Promise<void> {
    const ms = Math.max(this.nextMs(), atLeastMs * (1 + Math.random() / 2));
    await sleep(ms, undefined, { signal }).catch(() => {});
  }

  reset(): void {
    this.#attempt = 0;
  }
}
