/** A wake-up for one waiting loop: set by anybody, taken by the loop, never lost in between. */
export class Signal {
  #raised = false;
  #resume: (() => void) | undefined;

  raise(): void {
    this.#raised = true;
    this.#resume?.();
  }

  /** Resolves when raised since the last wait, when `waitMs` have passed, or when `abort` fires. */
  async wait(waitMs: number, abort?: AbortSignal): Promise<void> {
    if (!this.#raised && abort?.aborted !== true) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, waitMs);
        this.#resume = () => {
          clearTimeout(timer);
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
