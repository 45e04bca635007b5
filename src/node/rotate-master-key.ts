/** What an operator does to the secrets of an installation, whose nodes may live meanwhile. */
import { existsSync } from "node:fs";
import type { NodeConfig } from "../config.ts";
import { MillraceError } from "../domain/errors.ts";
import { resealAll, type Rotation } from "../secrets/rotation.ts";
import { storeFile } from "./data-dir.ts";
import { keptMasterKeys, makeMasterKey, readMasterKeyFiles } from "./master-key-files.ts";
import { configuredKeys } from "./master-keys.ts";
import { openStores } from "./stores.ts";

/**
 * Seals every secret with the newest key: the first of MILLRACE_MASTER_KEY, or one that is made now and kept beside the others.
 * No new one is made while secrets are left under a former key, so that a repeat goes on where the last one was cut short.
 * Rejects with `not_found` for a data directory without a store.
 */
export async function rotateMasterKey(config: NodeConfig, dataDir: string): Promise<Rotation> {
  if (config.mongodb === null && !existsSync(storeFile(dataDir))) {
    throw new MillraceError("not_found", `there is no store in ${dataDir}: name its data directory with --data-dir`);
  }
  const stores = await openStores(config, dataDir);
  try {
    const configured = configuredKeys(config);
    if (configured !== null) return await resealAll(stores.secrets, configured);
    const keys = await keptMasterKeys(dataDir);
    const finished = await resealAll(stores.secrets, keys);
    if (finished.resealed > 0) return finished;
    await makeMasterKey(dataDir, (await readMasterKeyFiles(dataDir)).length);
    return await resealAll(stores.secrets, keys);
  } finally {
    await stores.close();
  }
}
