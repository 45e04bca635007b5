/** The settings of all owners, read every few seconds, for parts of a node that never wait for the store. */
import { regularly } from "../domain/clock.ts";
import type { Logger } from "../domain/logger.ts";
import type { DocumentStore, OwnedDocument } from "../stores/ports/documents.ts";

/** How often the settings are read. The API promises that a change counts within 5 s. */
const READ_MS = 3_000;

interface PolledOptions {
  readonly documents: Pick<DocumentStore, "all">;
  readonly log: Pick<Logger, "warn">;
}

export type SettingDocuments = readonly OwnedDocument<"settings">[];

export class PolledSettings {
  readonly #options: PolledOptions;
  readonly #followers: ((documents: SettingDocuments) => void)[] = [];
  #reading: Promise<void> | undefined;

  constructor(options: PolledOptions) {
    this.#options = options;
  }

  /** A value that follows from the settings, which it answers at once. `initial` counts until they are read. */
  follow<T>(initial: T, derive: (documents: SettingDocuments) => T): () => T {
    let known = initial;
    this.#followers.push((documents) => {
      known = derive(documents);
    });
    return () => known;
  }

  /** Reads the settings now, and again every few seconds. */
  async start(): Promise<{ readonly stop: () => Promise<void> }> {
    const cancel = regularly(READ_MS, () => void this.refresh());
    await this.refresh();
    return {
      stop: async () => {
        cancel();
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
    const { documents, log } = this.#options;
    try {
      const found = await documents.all("settings");
      for (const follower of this.#followers) follower(found);
    } catch (error) {
      log.warn({ error: String(error) }, "the settings could not be read; those known before count");
    }
  }
}
