/** What has been started, to be ended in the reverse order. */
import type { Logger } from "../domain/logger.ts";

export class Teardown {
  readonly #log: Pick<Logger, "warn">;
  readonly #steps: { readonly what: string; readonly end: () => Promise<void> | void }[] = [];
  #ended: Promise<void> | undefined;

  constructor(log: Pick<Logger, "warn">) {
    this.#log = log;
  }

  add(what: string, end: () => Promise<void> | void): void {
    this.#steps.push({ what, end });
  }

  /** Ends everything, newest first; a step that fails is logged and the next one is taken. Further calls join the first. */
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
