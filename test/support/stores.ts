/** Stores for tests: a real engine in a temporary folder. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ColdChunks } from "../../src/stores/format/cold-chunks.ts";
import { openSqliteStores } from "../../src/stores/sqlite/open.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";

/** A fresh embedded store; `close` removes its files. `cold` reads the lines of logs that are in an object storage. */
export async function openTestSqlite(
  cold?: ColdChunks,
): Promise<{ stores: Stores; path: string; close(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-store-"));
  const path = join(folder, "millrace.db");
  const stores = await openSqliteStores({ path, ...(cold && { cold }) });
  return {
    stores,
    path,
    async close() {
      await stores.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
