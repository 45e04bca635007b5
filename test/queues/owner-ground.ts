/** What tests of owners of shards stand on: a Redis that a test may kill, a client of it, and a store. */
import type { ShardHandler } from "../../queues/ports.ts";
import { connectRedis, type RedisClient } from "../../src/redis/connect.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { silentLog } from "../support/kernel-ports.ts";
import { startTestRedis, type TestRedis } from "../support/redis.ts";
import { openTestSqlite } from "../support/stores.ts";

export interface OwnerGround {
  readonly redis: TestRedis;
  readonly client: RedisClient;
  readonly stores: Stores;
}

/** Gives each test of a suite a ground of its own. `stopOwners` ends what the test has started on it. */
export function withOwnerGround(use: (ground: OwnerGround) => void, stopOwners: () => Promise<void>): void {
  let end: () => Promise<void>;
  beforeEach(async () => {
    const redis = await startTestRedis();
    const client = connectRedis({ url: redis.url }, { role: "edge", log: silentLog });
    const { stores, close } = await openTestSqlite();
    end = async () => {
      client.disconnect();
      await redis.stop();
      await close();
    };
    use({ redis, client, stores });
  });
  afterEach(async () => {
    await stopOwners();
    await end();
  });
}

/** Does nothing with what a shard gets. */
export const idleHandler: ShardHandler = {
  open: () => Promise.resolve(),
  redisLost: () => Promise.resolve(),
  receive: () => Promise.resolve(),
  drain: () => Promise.resolve(),
  close: () => undefined,
};
