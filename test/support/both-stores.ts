/** Tests that run on both stores: over SQLite, and over the MongoDB-wire server of the tests. */
import { openMongoStores } from "../../src/stores/mongo/open.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { freshDatabase, startTestMongo } from "./mongo.ts";
import { openTestSqlite } from "./stores.ts";

export interface OpenedStores {
  readonly stores: Stores;
  close(): Promise<void>;
}

/** Declares the tests once for each store. `open` opens an empty one. */
export function onBothStores(tests: (open: () => Promise<OpenedStores>) => void): void {
  describe("on SQLite", () => tests(openTestSqlite));
  describe("on MongoDB", () => tests(openTestMongo));
}

async function openTestMongo(): Promise<OpenedStores> {
  const stores = await openMongoStores({ url: (await startTestMongo()).url, database: freshDatabase() });
  return { stores, close: () => stores.close() };
}
