/** The operator's break-glass, on the store itself. Nodes of the installation may run meanwhile. */
import { type MadeOwner, makeOwner } from "../../app/upkeep/make-owner.ts";
import type { NodeConfig } from "../../settings/config.ts";
import { systemClock } from "../../domain/clock.ts";
import { machineTrail } from "./machine-trail.ts";
import { openStores, requireStore } from "../stores.ts";

/** As {@link makeOwner}. Rejects with `not_found` also for a data directory without a store. */
export async function makeStoredOwner(
  config: NodeConfig,
  dataDir: string,
  name: string,
  options: { readonly reset: boolean },
): Promise<MadeOwner> {
  requireStore(config, dataDir);
  const stores = await openStores(config, dataDir);
  try {
    return await makeOwner({ clock: systemClock, stores }, name, {
      ...options,
      trail: machineTrail(stores, "makeOwner"),
    });
  } finally {
    await stores.close();
  }
}
