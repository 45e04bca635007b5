import { randomUUID } from "node:crypto";
import { Queue } from "bullmq";
import { expect } from "chai";
import type { AddressedMessage, Envelope } from "../../queues/envelope.ts";
import { MESSAGES, mailboxName, mailboxOptions } from "../../queues/mailbox.ts";
import { MailboxSender } from "../../queues/mailbox-sender.ts";
import { shardOf } from "../../queues/shard-map.ts";
import { ShardOwner } from "../../queues/shard-owner.ts";
import { connectRedis, type RedisClient, type RedisTarget } from "../../src/redis/connect.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { silentLog } from "../support/kernel-ports.ts";
import { startTestRedisCluster, type TestRedisCluster } from "../support/redis-cluster.ts";
import { openTestSqlite } from "../support/stores.ts";
import { until } from "../support/until.ts";

const SHARDS = 6;
/** Less than the 5 s after which an owner looks into its mailboxes without being told. */
const TOLD_MS = 3_500;

describe("owners of shards on a Redis Cluster", function () {
  this.timeout(60_000);
  let cluster: TestRedisCluster;
  let target: RedisTarget;
  let client: RedisClient;
  let stores: Stores;
  let closeStores: () => Promise<void>;
  let owner: ShardOwner;
  let received: Set<string>;

  before(async () => {
    cluster = await startTestRedisCluster();
    target = { cluster: cluster.nodes.map(({ port }) => ({ host: "127.0.0.1", port })) };
    const opened = await openTestSqlite();
    ({ stores } = opened);
    closeStores = () => opened.close();
  });
  after(async () => {
    await cluster.stop();
    await closeStores();
  });
  afterEach(async () => {
    await owner.stop();
    client.disconnect();
  });

  async function own(everySenderRings: boolean): Promise<void> {
    client = connectRedis(target, { role: "consumer", log: silentLog });
    client.setMaxListeners(0);
    received = new Set();
    owner = new ShardOwner({
      witness: "{elsewhere}:generation",
      redis: target,
      nodeId: randomUUID(),
      shards: SHARDS,
      handler: {
        open: () => Promise.resolve(),
        redisLost: () => Promise.resolve(),
        receive: async (_shard, messages) => messages.forEach(({ rootId }) => received.add(rootId)),
        drain: () => Promise.resolve(),
        close: () => {},
      },
      epochs: stores.shards,
      everySenderRings: () => Promise.resolve(everySenderRings),
      log: silentLog,
    });
    await owner.start();
    await until("all are owned", () => owner.owned().length === SHARDS);
  }
  const roots = Array.from({ length: 30 }, () => `run_${randomUUID()}`);
  const messageTo = (rootId: string): AddressedMessage => ({ rootId, to: null, message: null });

  it("are told by the sender of each message, also of a delayed one", async () => {
    await own(true);
    const sender = new MailboxSender({ redis: client, shards: SHARDS });
    try {
      await Promise.all(roots.map((rootId) => sender.send(messageTo(rootId))));
      await until("all are received", () => received.size === roots.length, TOLD_MS);
      await sender.sendAt(messageTo("run_delayed"), Date.now() + 300, "timer");
      await until("the delayed one is received", () => received.has("run_delayed"), TOLD_MS);
    } finally {
      await sender.close();
    }
  });

  it("find soon what a sender of an earlier release sends without telling them", async () => {
    await own(false);
    const queues = Array.from({ length: SHARDS }, (_, shard) => {
      return new Queue<Envelope>(mailboxName(shard), mailboxOptions(client, shard));
    });
    try {
      for (const rootId of roots) {
        await queues[shardOf(rootId, SHARDS)]!.add(MESSAGES, { schema: 1, letters: [messageTo(rootId)] });
      }
      await until("all are received", () => received.size === roots.length, TOLD_MS);
      expect(owner.health().every(({ ok }) => ok)).to.equal(true);
    } finally {
      await Promise.all(queues.map((queue) => queue.close()));
    }
  });
});
