/** The operator's change of the number of shards, while no node of the installation runs. */
import { leaseKeys } from "../../../queues/owned-shard.ts";
import { shardOf } from "../../../queues/shard-map.ts";
import type { NodeConfig } from "../../settings/config.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { Logger } from "../../domain/logger.ts";
import type { Moved } from "../../stores/ports/reshard.ts";
import { claimDataDir } from "../data-dir.ts";
import { refuseLivingNodes } from "./living-nodes.ts";
import { machineTrail } from "./machine-trail.ts";
import { changeIn, changeText, SHARD_NUMBER, type ShardChange } from "../shard-number.ts";
import { openStores, requireStore } from "../stores.ts";

export interface ShardsChanged extends ShardChange {
  /** Null when the installation had this number already. */
  readonly moved: Moved | null;
}

/**
 * Changes the number of shards to `to`, and moves everything that is stored to its new shard. A repeat finishes a change
 * that was cut off, also one to another number. Rejects with `conflict` while a node lives or owns a shard, or while
 * another process uses the data directory; with `not_found` without an installation; with `unavailable` when the store
 * or Redis cannot be used.
 */
export async function changeShards(
  config: NodeConfig,
  dataDir: string,
  to: number,
  log: Logger,
): Promise<ShardsChanged> {
  requireStore(config, dataDir);
  // The private Redis of an embedded installation runs only with its node, and the node locks the directory.
  const unlock = config.redis === null ? await claimDataDir(dataDir) : () => {};
  try {
    return await changeStored(config, dataDir, to, log);
  } finally {
    unlock();
  }
}

async function changeStored(config: NodeConfig, dataDir: string, to: number, log: Logger): Promise<ShardsChanged> {
  const stores = await openStores(config, dataDir);
  try {
    const { shards } = stores;
    const stored = await shards.readSetting(SHARD_NUMBER);
    if (stored === undefined) {
      throw new MillraceError("not_found", "the store belongs to no installation yet: set MAILBOX_SHARDS instead");
    }
    const begun = changeIn(stored);
    const from = begun?.from ?? Number(stored);
    if (begun === null && from === to) return { from, to, moved: null };
    const refuseUse = () => refuseNodes(config, Math.max(from, begun?.to ?? 0), log);
    await refuseUse();
    const marker = changeText({ from, to });
    if (!(await shards.swapSetting(SHARD_NUMBER, stored, marker))) throw changedMeanwhile();
    try {
      // A node that started after the first check has announced itself by now, or finds the marker and ends.
      await refuseUse();
    } catch (error) {
      await shards.swapSetting(SHARD_NUMBER, marker, stored);
      throw error;
    }
    const moved = await stores.reshard(to, (rootId) => shardOf(rootId, to));
    const change = { kind: "installation", id: "shards", before: { shards: from }, after: { shards: to } } as const;
    const isChanged = await machineTrail(stores, "changeShards").record(change, () =>
      shards.swapSetting(SHARD_NUMBER, marker, String(to)),
    );
    if (!isChanged) throw changedMeanwhile();
    return { from, to, moved };
  } finally {
    await stores.close();
  }
}

async function refuseNodes(config: NodeConfig, shards: number, log: Logger): Promise<void> {
  if (config.redis === null) return;
  await refuseLivingNodes(config, config.redis, log, async (redis) => {
    for (let shard = 0; shard < shards; shard++) {
      const owner = await redis.get(leaseKeys(shard).lease);
      if (owner === null) continue;
      throw new MillraceError("conflict", `node ${owner} still owns shard ${shard}: stop all nodes, and wait 5 s`);
    }
  });
}

function changedMeanwhile(): MillraceError {
  return new MillraceError(
    "conflict",
    "another process changes the number of shards: repeat the command when it is done",
  );
}
