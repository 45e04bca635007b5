/** The operator's break-glass, on the store itself. Nodes of the installation may run meanwhile. */
import { existsSync } from "node:fs";
import { type MadeOwner, makeOwner } from "../app/upkeep/make-owner.ts";
import type { NodeConfig } from "../config.ts";
import { systemClock } from "../domain/clock.ts";
import { MillraceError } from "../domain/errors.ts";
import { storeFile } from "./data-dir.ts";
import { openStores } from "./stores.ts";

/** As {@link makeOwner}. Rejects with `not_found` also for a data directory without a store. */
export async function makeStoredOwner(
  config: NodeConfig,
  dataDir: string,
  name: string,
  options: { readonly reset: boolean },
): Promise<MadeOwner> {
  if (config.mongodb === null && !existsSync(storeFile(dataDir))) {
    throw new MillraceError("not_found", `there is no store in ${dataDir}: name its data directory with --data-dir`);
  }
  const stores = await openStores(config, dataDir);
  try {
    return await makeOwner({ clock: systemClock, stores }, name, options);
  } finally {
    await stores.close();
  }
}
