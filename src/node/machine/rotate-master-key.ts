/** The operator's rotation of the master key. Nodes of the installation may run meanwhile. */
import type { NodeConfig } from "../../settings/config.ts";
import type { KeyRing } from "../../secrets/master-keys.ts";
import { resealAll, resealTokenKeys, resealWebhooks, type Rotation } from "../../secrets/rotation.ts";
import { readOrMakeMasterKeys, makeMasterKey, readMasterKeyFiles } from "../master-key-files.ts";
import { configuredKeys } from "../master-keys.ts";
import type { Stores } from "../../stores/ports/stores.ts";
import { machineTrail } from "./machine-trail.ts";
import { openStores, requireStore } from "../stores.ts";

/**
 * Seals every secret with the newest key: the first of MILLRACE_MASTER_KEY, or a new key in the data directory. When a
 * rotation was cut off and secrets are left under a former key, a repeat finishes that rotation and makes no new key.
 * Rejects with `not_found` for a data directory without a store.
 */
export async function rotateMasterKey(config: NodeConfig, dataDir: string): Promise<Rotation> {
  requireStore(config, dataDir);
  const stores = await openStores(config, dataDir);
  try {
    const rotation = await rotateIn(stores, config, dataDir);
    // The new key is a file, and secrets are sealed one by one: the entry follows when all of it is done.
    await machineTrail(stores, "rotateMasterKey").close({ kind: "installation", id: "masterKey" });
    return rotation;
  } finally {
    await stores.close();
  }
}

async function resealEverything({ secrets, documents }: Stores, keys: KeyRing): Promise<Rotation> {
  const rotation = await resealAll(secrets, keys);
  const resealed =
    rotation.resealed + (await resealTokenKeys(documents, keys)) + (await resealWebhooks(documents, keys));
  return { ...rotation, resealed };
}

async function rotateIn(stores: Stores, config: NodeConfig, dataDir: string): Promise<Rotation> {
  const configured = configuredKeys(config);
  if (configured !== null) return await resealEverything(stores, configured);
  const keys = await readOrMakeMasterKeys(dataDir);
  const finished = await resealEverything(stores, keys);
  if (finished.resealed > 0) return finished;
  await makeMasterKey(dataDir, (await readMasterKeyFiles(dataDir)).length);
  return await resealEverything(stores, keys);
}
