/** The embedded store: one SQLite file. */
import type { Stores } from "../stores.ts";
import { SqliteAggregateStore } from "./aggregates.ts";
import { Database } from "./database.ts";
import { SqliteLogStore } from "./logs.ts";
import { identityStore, SqlitePipelineStore } from "./records.ts";
import { deadLetterStore, eventStore, idempotencyStore, inboxStore, planStore, shardStore } from "./runtime.ts";

/** Opens or creates the file at `path`; rejects with `unavailable` and what to do when that cannot be. */
export async function openSqliteStores({ path }: { readonly path: string }): Promise<Stores> {
  const db = new Database(path);
  return {
    aggregates: new SqliteAggregateStore(db),
    plans: planStore(db),
    inbox: inboxStore(db),
    events: eventStore(db),
    logs: new SqliteLogStore(db),
    shards: shardStore(db),
    deadLetters: deadLetterStore(db),
    pipelines: new SqlitePipelineStore(db),
    identity: identityStore(db),
    idempotency: idempotencyStore(db),
    async ping() {
      await db.get("SELECT 1 AS ok");
    },
    async close() {
      db.close();
    },
  };
}
