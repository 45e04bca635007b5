/** The scale-out store: a MongoDB database. */
import { MillraceError } from "../../domain/errors.ts";
import type { Stores } from "../stores.ts";
import { MongoAggregateStore } from "./aggregates.ts";
import { Connection, type MongoOptions, STORE_SCHEMA } from "./connection.ts";
import { MongoLogStore } from "./logs.ts";
import { identityStore, MongoPipelineStore } from "./records.ts";
import { deadLetterStore, eventStore, idempotencyStore, inboxStore, planStore, shardStore } from "./runtime.ts";

/** Connects and makes the indexes; rejects with `unavailable` and what to do when that cannot be. */
export async function openMongoStores(options: MongoOptions): Promise<Stores> {
  const connection = await Connection.open(options);
  try {
    const aggregates = new MongoAggregateStore(connection);
    const logs = new MongoLogStore(connection);
    const pipelines = new MongoPipelineStore(connection);
    const inbox = inboxStore(connection);
    const events = eventStore(connection);
    const deadLetters = deadLetterStore(connection);
    const identity = identityStore(connection);
    const shards = shardStore(connection);
    const schema = Number(await shards.fixSetting("STORE_SCHEMA", String(STORE_SCHEMA)));
    if (schema > STORE_SCHEMA) {
      throw new MillraceError(
        "unavailable",
        `the database was written by a newer version (schema ${schema}; this one knows ${STORE_SCHEMA}): start that version or a newer one`,
      );
    }
    for (const store of [aggregates, logs, pipelines, inbox, events, deadLetters, identity]) await store.prepare();
    return {
      aggregates,
      plans: planStore(connection),
      inbox,
      events,
      logs,
      shards,
      deadLetters,
      pipelines,
      identity,
      idempotency: idempotencyStore(connection),
      ping: () => connection.ping(),
      close: () => connection.close(),
    };
  } catch (error) {
    await connection.close();
    throw error;
  }
}
