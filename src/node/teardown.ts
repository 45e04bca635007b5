/** Ends the parts of a node in the reverse order of their start. */
import type { Logger } from "../domain/logger.ts";

export class Teardown {
  readonly #log: Pick<Logger, "warn">;
  readonly #steps: { readonly what: string; readonly end: () => Promise<void> | void }[] = [];
  #ended: Promise<void> | undefined;

  constructor(log: Pick<Logger, "warn">) {
    this.#log = log;
  }

  /** Adds a part that has started. `what` names it in the log when it does not end cleanly. */
  add(what: string, end: () => Promise<void> | void): void {
    this.#steps.push({ what, end });
  }

  /**
   * Ends all parts, newest first. A failure is logged, and the next part is ended. Further calls wait for the first
   * one.
   */
  end(): Promise<void> {
    this.#ended ??= this.#endAll();
    return this.#ended;
  }

  async #endAll(): Promise<void> {
    for (const { what, end } of this.#steps.toReversed()) {
      try {
        await end();
      } catch (error) {
        this.#log.warn({ error: String(error) }, `${what} did not end cleanly`);
      }
    }
  }
}
