/** Opens the store and the Redis of an installation for reading, and verifies them. */
import { existsSync } from "node:fs";
import { MailboxInspection } from "../../../queues/mailbox-inspection.ts";
import { NodeRegistry } from "../../../queues/node-registry.ts";
import type { Hints } from "../../app/verification/hints.ts";
import { type Verification, verifyStores } from "../../app/verification/verify-stores.ts";
import { BoardInspection } from "../../board/board-inspection.ts";
import type { NodeConfig } from "../../settings/config.ts";
import { systemClock } from "../../domain/clock.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { Logger } from "../../domain/logger.ts";
import { connectRedis, type RedisTarget } from "../../redis/connect.ts";
import { findEmbeddedRedis } from "../../redis/embedded.ts";
import { serversOf } from "../../redis/servers.ts";
import { STORED_FORMAT } from "../../stores/format/stored-format.ts";
import { openMongoStores } from "../../stores/mongo/open.ts";
import type { Stores } from "../../stores/ports/stores.ts";
import { openSqliteStores } from "../../stores/sqlite/open.ts";
import { storeFile } from "../data-dir.ts";
import { nodeRecord } from "../node-record.ts";
import { versionedStores } from "../stores.ts";

/**
 * Verifies the installation of `config`, whether nodes live or not; it changes nothing. Without a Redis that answers,
 * only the store is verified, and the result says so. Rejects with `not_found` without a store, and with `unavailable`
 * for a store that cannot be read.
 */
export async function verifyInstallation(
  config: NodeConfig,
  dataDir: string,
  log: Logger,
  signal: AbortSignal,
): Promise<Verification> {
  const adapters = await openToRead(config, dataDir);
  try {
    const shards = Number((await adapters.inspection.setting("MAILBOX_SHARDS")) ?? config.shards);
    const stores = versionedStores(adapters, STORED_FORMAT, () => STORED_FORMAT.schema);
    const embedded = config.redis === null ? await findEmbeddedRedis(dataDir) : undefined;
    const target = config.redis ?? embedded;
    if (target === undefined) return await verifyStores(stores, { shards, signal });
    const { hints, close } = hintsOf(target, config, shards, log);
    // Leases outlive a killed node by seconds. The private Redis knows at once that its node has ended.
    const owners = () => (embedded?.owned === false ? Promise.resolve(new Map<number, null>()) : hints.owners());
    try {
      return await verifyStores(stores, { shards, hints: { ...hints, owners }, signal });
    } finally {
      await close();
    }
  } finally {
    await adapters.close();
  }
}

function openToRead(config: NodeConfig, dataDir: string): Promise<Stores> {
  if (config.mongodb !== null) return openMongoStores({ ...config.mongodb, readOnly: true });
  const path = storeFile(dataDir);
  if (!existsSync(path)) {
    throw new MillraceError(
      "not_found",
      `there is no store in ${dataDir}: give the data directory of the installation with --data-dir`,
    );
  }
  return openSqliteStores({ path, readOnly: true });
}

function hintsOf(
  target: RedisTarget,
  config: NodeConfig,
  shards: number,
  log: Logger,
): { readonly hints: Hints; readonly close: () => Promise<void> } {
  const redis = connectRedis(target, { role: "edge", log });
  const inspection = new MailboxInspection({ redis, shards });
  // This registry only reads; it never announces a node.
  const registry = new NodeRegistry({ redis, record: nodeRecord("", config, systemClock, STORED_FORMAT), log });
  return {
    hints: {
      board: new BoardInspection(redis, () => serversOf(redis)),
      owners: async () => new Map((await inspection.states()).map(({ shard, owner }) => [shard, owner])),
      nodes: async () => new Set((await registry.list()).map(({ nodeId }) => nodeId)),
    },
    close: async () => {
      await inspection.close();
      redis.disconnect();
    },
  };
}
