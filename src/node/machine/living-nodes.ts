/** The check of commands that must not work on an installation while a node runs. */
import { NodeRegistry } from "../../../queues/node-registry.ts";
import type { NodeConfig } from "../../settings/config.ts";
import { systemClock } from "../../domain/clock.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { Logger } from "../../domain/logger.ts";
import { connectRedis, type RedisClient, type RedisTarget } from "../../redis/connect.ts";
import { STORED_FORMAT } from "../../stores/format/stored-format.ts";
import { nodeRecord } from "../node-record.ts";

/**
 * Rejects with `conflict` while a node lives, and with `unavailable` when Redis cannot be reached. `alsoCheck` may reject
 * with a MillraceError for further reasons.
 */
export async function refuseLivingNodes(
  config: NodeConfig,
  target: RedisTarget,
  log: Logger,
  alsoCheck: (redis: RedisClient) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const redis = connectRedis(target, { role: "edge", log });
  try {
    // This registry only reads; it never announces a node.
    const nodes = new NodeRegistry({ redis, record: nodeRecord("", config, systemClock, STORED_FORMAT), log });
    const [living] = await nodes.list();
    if (living !== undefined) {
      throw new MillraceError("conflict", `a node lives (pid ${living.pid} on ${living.host}): stop all nodes first`);
    }
    await alsoCheck(redis);
  } catch (error) {
    if (error instanceof MillraceError) throw error;
    throw new MillraceError("unavailable", "Redis cannot be asked whether a node lives: check REDIS_URL", {
      cause: error,
    });
  } finally {
    redis.disconnect();
  }
}
