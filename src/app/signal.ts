/**
 * A wake-up for one waiting loop. Any code may raise the signal; the loop takes it with its next wait, so none is lost.
 */
export class Signal {
  #raised = false;
  #resume: (() => void) | undefined;

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
