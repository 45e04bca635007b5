/** The scale-out store: a MongoDB database. */
import { MillraceError } from "../../domain/errors.ts";
import type { Stores } from "../stores.ts";
import { MongoAggregateStore } from "./aggregates.ts";
import { Connection, type MongoOptions, translated } from "./connection.ts";
import { MongoLogStore } from "./logs.ts";
import { identityStore, MongoPipelineStore } from "./records.ts";
import { deadLetterStore, eventStore, idempotencyStore, inboxStore, planStore, shardStore } from "./runtime.ts";
import { STORE_SCHEMA } from "./schema.ts";

/**
 * Connects and makes the indexes; rejects with `unavailable` and what to do when that cannot be, also for a database
 * that a newer version has written. Calls of the stores reject with `unavailable` while the server cannot be reached or
 * hangs, within about 15 s; what such a call was to write may have been stored.
 */
export async function openMongoStores(options: MongoOptions): Promise<Stores> {
  const connection = await Connection.open(options);
  const shards = translated(shardStore(connection));
  try {
    refuseNewer(Number(await shards.fixSetting("STORE_SCHEMA", String(STORE_SCHEMA))));
  } catch (error) {
    await connection.close();
    throw error;
  }
  return {
    aggregates: translated(new MongoAggregateStore(connection)),
    plans: translated(planStore(connection)),
    inbox: translated(inboxStore(connection)),
    events: translated(eventStore(connection)),
    logs: translated(new MongoLogStore(connection)),
    shards,
    deadLetters: translated(deadLetterStore(connection)),
    pipelines: translated(new MongoPipelineStore(connection)),
    identity: translated(identityStore(connection)),
    idempotency: translated(idempotencyStore(connection)),
    ping: () => translated(connection).ping(),
    close: () => connection.close(),
  };
}

function refuseNewer(schema: number): void {
  if (schema <= STORE_SCHEMA) return;
  throw new MillraceError(
    "unavailable",
    `the database was written by a newer version (schema ${schema}; this one knows ${STORE_SCHEMA}): start that version or a newer one`,
  );
}
