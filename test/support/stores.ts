/** Stores for tests: a real engine in a temporary folder. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqliteStores } from "../../src/stores/sqlite/open.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";

/** A fresh embedded store; `close` removes its files. */
export async function openTestSqlite(): Promise<{ stores: Stores; path: string; close(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-store-"));
  const path = join(folder, "millrace.db");
  const stores = await openSqliteStores({ path });
  return {
    stores,
    path,
    async close() {
      await stores.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
