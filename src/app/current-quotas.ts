/** The quotas that count now: those of the environment, with what settings say beside them. */
import type { Logger } from "../domain/logger.ts";
import type { Quotas, SetLimits } from "../domain/quotas.ts";
import type { DocumentOwner, DocumentStore } from "../stores/ports/documents.ts";

/** How often the settings are read. The API promises that a change counts within 5 s. */
const READ_MS = 3_000;

interface CurrentQuotasOptions {
  /** Those of the environment of this node. */
  readonly environment: Quotas;
  readonly documents: Pick<DocumentStore, "all">;
  readonly log: Pick<Logger, "warn">;
}

export class CurrentQuotas {
  readonly #options: CurrentQuotasOptions;
  #known: Quotas;
  #reading: Promise<void> | undefined;

  constructor(options: CurrentQuotasOptions) {
    this.#options = options;
    this.#known = options.environment;
  }

  /** At once: a search for offers never waits for the store. */
  now(): Quotas {
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
    const { environment, documents, log } = this.#options;
    try {
      const set = new Map<DocumentOwner, SetLimits>();
      for (const { owner, body } of await documents.all("settings")) {
        const { "quota.perProject": perProject, "quota.perTenant": perTenant } = body.values;
        if (perProject !== undefined || perTenant !== undefined) set.set(owner, { perProject, perTenant });
      }
      this.#known = set.size === 0 ? environment : { ...environment, set };
    } catch (error) {
      log.warn({ error: String(error) }, "the quotas among the settings could not be read; those known before count");
    }
  }
}
