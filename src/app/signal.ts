import { systemTimers, type Timers } from "../domain/clock.ts";

/**
 * A wake-up for one waiting loop. Any code may raise the signal; the loop takes it with its next wait, so none is lost.
 */
export class Signal {
  readonly #timers: Timers;
  #raised = false;
  #resume: (() => void) | undefined;

  constructor(timers: Timers = systemTimers) {
    this.#timers = timers;
  }

  raise(): void {
    this.#raised = true;
    this.#resume?.();
  }

  /**
   * Resolves when the signal is raised or was raised since the last wait, when `waitMs` have passed, or when `abort`
   * fires.
   */
  async wait(waitMs: number, abort?: AbortSignal): Promise<void> {
    if (!this.#raised && abort?.aborted !== true) {
      await new Promise<void>((resolve) => {
        const cancel = this.#timers.after(waitMs, resolve);
        this.#resume = () => {
          cancel();
          resolve();
        };
        abort?.addEventListener("abort", this.#resume, { once: true });
      });
      if (this.#resume !== undefined) abort?.removeEventListener("abort", this.#resume);
      this.#resume = undefined;
    }
    this.#raised = false;
  }
}
