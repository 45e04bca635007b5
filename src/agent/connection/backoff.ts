/** Waiting between attempts to reach the control plane: exponential, jittered, so that agents do not come back as one. */
import { setTimeout as sleep } from "node:timers/promises";

const FIRST_MS = 200;
const LONGEST_MS = 5_000;

export class Backoff {
  #attempt = 0;

  /** Milliseconds to wait now: between half of 200 ms, 400 ms, ... 5 s and the whole. */
  nextMs(): number {
    const whole = Math.min(LONGEST_MS, FIRST_MS * 2 ** this.#attempt++);
    return whole * (0.5 + Math.random() / 2);
  }

  /** Waits `nextMs`; resolves early when `signal` is aborted. */
  async wait(signal: AbortSignal): Promise<void> {
    await sleep(this.nextMs(), undefined, { signal }).catch(() => {});
  }

  reset(): void {
    this.#attempt = 0;
  }
}
