/** What follows from the settings of all owners, read every few seconds, for parts of a node that never wait for the store. */
import type { Logger } from "../domain/logger.ts";
import type { DocumentStore, OwnedDocument } from "../stores/ports/documents.ts";

/** How often the settings are read. The API promises that a change counts within 5 s. */
const READ_MS = 3_000;

export interface PolledOptions<T> {
  /** What counts before the settings are read. */
  readonly initial: T;
  readonly derive: (documents: readonly OwnedDocument<"settings">[]) => T;
  readonly documents: Pick<DocumentStore, "all">;
  readonly log: Pick<Logger, "warn">;
  /** What it is, for a log line. */
  readonly what: string;
}

export class PolledSettings<T> {
  readonly #options: PolledOptions<T>;
  #known: T;
  #reading: Promise<void> | undefined;

  constructor(options: PolledOptions<T>) {
    this.#options = options;
    this.#known = options.initial;
  }

  /** At once. */
  now(): T {
    return this.#known;
  }

  /** Reads the settings now, and again every few seconds. */
  async start(): Promise<{ readonly stop: () => Promise<void> }> {
    const timer = setInterval(() => void this.refresh(), READ_MS);
    await this.refresh();
    return {
      stop: async () => {
        clearInterval(timer);
        await this.#reading;
      },
    };
  }

  /** Never rejects: while the store cannot be read, what was known counts. */
  refresh(): Promise<void> {
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  async #read(): Promise<void> {
    const { documents, derive, log, what } = this.#options;
    try {
      this.#known = derive(await documents.all("settings"));
    } catch (error) {
      log.warn({ error: String(error) }, `${what} among the settings could not be read; those known before count`);
    }
  }
}
