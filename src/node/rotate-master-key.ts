/** The operator's rotation of the master key. Nodes of the installation may run meanwhile. */
import { existsSync } from "node:fs";
import type { NodeConfig } from "../config.ts";
import { MillraceError } from "../domain/errors.ts";
import { resealAll, type Rotation } from "../secrets/rotation.ts";
import { storeFile } from "./data-dir.ts";
import { readOrMakeMasterKeys, makeMasterKey, readMasterKeyFiles } from "./master-key-files.ts";
import { configuredKeys } from "./master-keys.ts";
import { openStores } from "./stores.ts";

/**
 * Seals every secret with the newest key: the first of MILLRACE_MASTER_KEY, or a new key in the data directory. When a
 * rotation was cut off and secrets are left under a former key, a repeat finishes that rotation and makes no new key.
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
    const keys = await readOrMakeMasterKeys(dataDir);
    const finished = await resealAll(stores.secrets, keys);
    if (finished.resealed > 0) return finished;
    await makeMasterKey(dataDir, (await readMasterKeyFiles(dataDir)).length);
    return await resealAll(stores.secrets, keys);
  } finally {
    await stores.close();
  }
}
