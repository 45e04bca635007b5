/** The stores of a node: the adapter that the settings choose, and the stored form that the living nodes agree on. */
import type { MessageFormat } from "../../queues/envelope.ts";
import type { NodeConfig } from "../config.ts";
import { MillraceError } from "../domain/errors.ts";
import { openMongoStores } from "../stores/mongo/open.ts";
import { openSqliteStores } from "../stores/sqlite/open.ts";
import type { StoredFormat } from "../stores/format/stored-format.ts";
import type { Stores } from "../stores/ports/stores.ts";
import { versionedAggregates } from "../stores/format/versioned-aggregates.ts";
import { versionedPlans } from "../stores/format/versioned-plans.ts";
import { storeFile } from "./data-dir.ts";

/** Rejects with `unavailable` when the store cannot be used. */
export function openStores(config: NodeConfig, dataDir: string): Promise<Stores> {
  return config.mongodb === null
    ? openSqliteStores({ path: storeFile(dataDir), limitBytes: config.storeLimit })
    : openMongoStores(config.mongodb);
}

/**
 * Throws `conflict` for another number of shards than the deployment's: mailboxes are found by hash, and runs would wait in
 * mailboxes that nobody reads.
 */
export async function fixShards(stores: Stores, shards: number): Promise<void> {
  const stored = await stores.shards.fixSetting("MAILBOX_SHARDS", String(shards));
  if (stored !== String(shards)) {
    throw new MillraceError(
      "conflict",
      `MAILBOX_SHARDS is ${shards}, but this deployment was made with ${stored}, which cannot change: set it to ${stored}`,
    );
  }
}

/** The same stores, in whose hands everything has the newest form; what is stored has the one that `writes` names. */
export function versionedStores(adapters: Stores, format: StoredFormat, writes: () => number): Stores {
  return {
    ...adapters,
    aggregates: versionedAggregates(adapters.aggregates, format, writes),
    plans: versionedPlans(adapters.plans, format, writes),
  };
}

/** The same for what lies in mailboxes. */
export function messageFormat(format: StoredFormat, writes: () => number): MessageFormat {
  return {
    schema: format.schema,
    writes,
    read: (letter, schema) => format.read("letter", letter, schema),
    write: (letter, schema) => format.write("letter", letter, schema),
  };
}
