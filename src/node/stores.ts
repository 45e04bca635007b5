/**
 * The stores of a node: the adapter that the configuration chooses, and the stored schema that the living nodes agree
 * on.
 */
import { existsSync } from "node:fs";
import type { MessageFormat } from "../../queues/envelope.ts";
import type { NodeConfig } from "../settings/config.ts";
import { MillraceError } from "../domain/errors.ts";
import type { Logger } from "../domain/logger.ts";
import type { DiskReserve } from "../stores/sqlite/disk-reserve.ts";
import { ColdChunks } from "../stores/format/cold-chunks.ts";
import { packedLogs } from "../stores/format/packed-logs.ts";
import type { StoredFormat } from "../stores/format/stored-format.ts";
import type { Stores } from "../stores/ports/stores.ts";
import { versionedInspection } from "../stores/format/versioned-inspection.ts";
import { packedEvents, versionedAggregates, versionedPlans } from "../stores/format/versioned-stores.ts";
import { measured, timed } from "../telemetry/measured.ts";
import type { CallMeter } from "../telemetry/meters.ts";
import { storeFile } from "./data-dir.ts";

/** What a node that goes on running adds; a command that ends needs none of it. */
export interface OpenOptions {
  /** The reserve of the data directory, if it has one. */
  readonly disk?: DiskReserve | undefined;
  readonly log?: Logger;
  /** Measures the calls of the object storage. */
  readonly objectCalls?: CallMeter;
}

/** Rejects with `unavailable` when the store cannot be used. */
export async function openStores(config: NodeConfig, dataDir: string, options: OpenOptions = {}): Promise<Stores> {
  const cold = new ColdChunks();
  const stores = await openStore(config, dataDir, cold, options);
  if (config.objectStorage === null) return stores;
  try {
    // Its client is larger than the rest of the program.
    const { openObjectBlobs } = await import("../stores/objects/open.ts");
    const { log, objectCalls } = options;
    const measure =
      objectCalls && (<T>(operation: string, call: () => Promise<T>) => timed(objectCalls, operation, call));
    const opened = await openObjectBlobs({ place: config.objectStorage, former: stores.blobs, log, measure });
    cold.use(opened.blobs);
    const close = async (): Promise<void> => {
      opened.close();
      await stores.close();
    };
    return { ...stores, blobs: opened.blobs, close };
  } catch (error) {
    await stores.close();
    throw error;
  }
}

async function openStore(
  config: NodeConfig,
  dataDir: string,
  cold: ColdChunks,
  { disk }: OpenOptions,
): Promise<Stores> {
  // A driver is a tenth of the time in which a node starts, so only the one that the node uses is loaded.
  if (config.mongodb === null) {
    const { openSqliteStores } = await import("../stores/sqlite/open.ts");
    const reserve = disk === undefined ? {} : { disk };
    return openSqliteStores({ path: storeFile(dataDir), limitBytes: config.storeLimit, cold, ...reserve });
  }
  const { openMongoStores } = await import("../stores/mongo/open.ts");
  return openMongoStores(config.mongodb, cold);
}

/** Throws `not_found` when the data directory has no embedded store although the configuration names no other one. */
export function requireStore(config: NodeConfig, dataDir: string): void {
  if (config.mongodb !== null || existsSync(storeFile(dataDir))) return;
  throw new MillraceError("not_found", `there is no store in ${dataDir}: name its data directory with --data-dir`);
}

/** The same stores, whose calls are measured; those that are one function are not. */
export function measuredStores(adapters: Stores, meter: CallMeter): Stores {
  const ports = Object.entries(adapters).map(([name, port]: [string, unknown]) => {
    return [name, typeof port === "object" && port !== null ? measured(port, name, meter) : port];
  });
  return Object.fromEntries(ports) as unknown as Stores;
}

/** The same stores, which answer everything in the newest shape and store it with the schema that `writes` names. */
export function versionedStores(adapters: Stores, format: StoredFormat, writes: () => number): Stores {
  return {
    ...adapters,
    aggregates: versionedAggregates(adapters.aggregates, format, writes),
    plans: versionedPlans(adapters.plans, format, writes),
    inspection: versionedInspection(adapters.inspection, format),
    events: packedEvents(adapters.events, writes),
    logs: packedLogs(adapters.logs, writes),
  };
}

/** The format of messages in mailboxes, with the same schemas. */
export function messageFormat(format: StoredFormat, writes: () => number): MessageFormat {
  return {
    schema: format.schema,
    writes,
    read: (message, schema) => format.read("message", message, schema),
    write: (message, schema) => format.write("message", message, schema),
  };
}
