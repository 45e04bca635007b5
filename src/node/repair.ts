/** The operator's repair of a restored store, while no node of the installation runs. */
import { NodeRegistry } from "../../queues/node-registry.ts";
import type { NodeConfig } from "../config.ts";
import { systemClock } from "../domain/clock.ts";
import { MillraceError } from "../domain/errors.ts";
import type { Logger } from "../domain/logger.ts";
import { connectRedis, type RedisTarget } from "../redis/connect.ts";
import { type RepairReport, repairRestored } from "../stores/mongo/repair.ts";
import { STORED_FORMAT } from "../stores/format/stored-format.ts";
import { nodeRecord } from "./node-record.ts";

/**
 * Repairs a MongoDB database that was restored from a dump; see {@link repairRestored}. Rejects with `conflict` while a
 * node lives, and with `unavailable` when MongoDB or Redis cannot be reached. May be repeated.
 */
export async function repairStore(
  config: NodeConfig & { readonly mongodb: NonNullable<NodeConfig["mongodb"]> },
  log: Logger,
): Promise<RepairReport> {
  if (config.redis !== null) await refuseLivingNodes(config, config.redis, log);
  return repairRestored(config.mongodb);
}

async function refuseLivingNodes(config: NodeConfig, target: RedisTarget, log: Logger): Promise<void> {
  const redis = connectRedis(target, { role: "edge", log });
  try {
    // This registry only reads; it never announces a node.
    const nodes = new NodeRegistry({ redis, record: nodeRecord("", config, systemClock, STORED_FORMAT), log });
    const [living] = await nodes.list();
    if (living === undefined) return;
    throw new MillraceError("conflict", `a node lives (pid ${living.pid} on ${living.host}): stop all nodes first`);
  } catch (error) {
    if (error instanceof MillraceError) throw error;
    throw new MillraceError("unavailable", "Redis cannot be asked whether a node lives: check REDIS_URL", {
      cause: error,
    });
  } finally {
    redis.disconnect();
  }
}
