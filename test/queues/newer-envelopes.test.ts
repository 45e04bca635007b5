import { randomUUID } from "node:crypto";
import { Queue } from "bullmq";
import { expect } from "chai";
import { UNVERSIONED_FORMAT, type AddressedMessage, type MessageFormat } from "../../queues/envelope.ts";
import { mailboxName, mailboxOptions } from "../../queues/mailbox.ts";
import { MailboxSender } from "../../queues/mailbox-sender.ts";
import { ShardOwner } from "../../queues/shard-owner.ts";
import { connectRedis, type RedisClient } from "../../src/redis/connect.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { silentLog } from "../support/kernel-ports.ts";
import { startTestRedis, type TestRedis } from "../support/redis.ts";
import { openTestSqlite } from "../support/stores.ts";
import { until } from "../support/until.ts";

/** The format of a release that wraps messages. */
const nextFormat = (writes: number): MessageFormat => ({
  schema: 2,
  writes: () => writes,
  read: (sent, schema) => (schema === 1 ? sent : { ...sent, message: (sent.message as { wrapped: unknown }).wrapped }),
  write: (sent, schema) => (schema === 1 ? sent : { ...sent, message: { wrapped: sent.message } }),
});

describe("mailboxes between two releases", () => {
  let redis: TestRedis;
  let clients: RedisClient[];
  let stores: Stores;
  let closeStores: () => Promise<void>;
  let owners: ShardOwner[];
  let senders: MailboxSender[];
  let alarms: string[];

  beforeEach(async () => {
    redis = await startTestRedis();
    clients = [];
    const opened = await openTestSqlite();
    stores = opened.stores;
    closeStores = () => opened.close();
    owners = [];
    senders = [];
    alarms = [];
  });

  afterEach(async () => {
    await Promise.all(owners.map((owner) => owner.stop()));
    await Promise.all(senders.map((sender) => sender.close()));
    for (const client of clients) client.disconnect();
    await redis.stop();
    await closeStores();
  });

  function connect(): RedisClient {
    const client = connectRedis({ url: redis.url }, { role: "edge", log: silentLog });
    clients.push(client);
    return client;
  }

  function senderOf(format: MessageFormat): MailboxSender {
    const sender = new MailboxSender({ redis: connect(), shards: 1, format });
    senders.push(sender);
    return sender;
  }

  async function own(format: MessageFormat): Promise<{ owner: ShardOwner; received: AddressedMessage[] }> {
    const received: AddressedMessage[] = [];
    const owner = new ShardOwner({
      witness: "{elsewhere}:generation",
      redis: { url: redis.url },
      nodeId: randomUUID(),
      shards: 1,
      handler: {
        open: () => Promise.resolve(),
        redisLost: () => Promise.resolve(),
        receive: async (_shard, messages) => void received.push(...messages),
        drain: () => Promise.resolve(),
        close: () => {},
      },
      epochs: stores.shards,
      format,
      log: { ...silentLog, error: (fields) => void alarms.push(String(fields["error"])) },
    });
    owners.push(owner);
    await owner.start();
    await until("the shard is owned", () => owner.owned().length === 1);
    return { owner, received };
  }

  const addressed = (message: unknown): AddressedMessage => ({
    rootId: "run_1",
    to: { kind: "run", id: "run_1" },
    message,
  });

  it("carry messages both ways while the newer release writes the old schema", async () => {
    const { owner, received } = await own(UNVERSIONED_FORMAT);
    await senderOf(nextFormat(1)).send(addressed("to the old"));
    await until("it is there", () => received.length === 1);
    await owner.stop();
    const next = await own(nextFormat(1));
    await senderOf(UNVERSIONED_FORMAT).send(addressed("from the old"));
    await senderOf(nextFormat(2)).send(addressed("from the new"));
    await until("both are there", () => next.received.length === 2);
    expect([...received, ...next.received].map(({ message }) => message)).to.deep.equal([
      "to the old",
      "from the old",
      "from the new",
    ]);
  });

  it("keep envelopes that an old owner cannot read, with an alarm, for a newer owner", async () => {
    const old = await own(UNVERSIONED_FORMAT);
    const sender = senderOf(nextFormat(2));
    for (let at = 0; at < 30; at++) await sender.send(addressed(at));
    await senderOf(UNVERSIONED_FORMAT).send(addressed("readable"));
    await until("the readable one is received", () => old.received.length === 1);
    await until("an alarm for each", () => alarms.length === 30);
    expect(alarms[0]).to.equal("the envelope has schema 2, and this node reads up to 1: upgrade this node");
    const queue = new Queue(mailboxName(0), mailboxOptions(connect(), 0));
    try {
      expect(await queue.getJobCountByTypes("failed")).to.equal(30);
      await old.owner.stop();

      const another = await own(UNVERSIONED_FORMAT);
      await until("another old owner fails on each once more", () => alarms.length === 60);
      expect(await queue.getJobCountByTypes("failed", "wait", "active")).to.equal(30);
      await another.owner.stop();

      const next = await own(nextFormat(2));
      await until("the newer owner has received all", () => next.received.length === 30);
      expect(next.received.map(({ message }) => message)).to.have.members(Array.from({ length: 30 }, (_, at) => at));
      await until(
        "the mailbox is empty",
        async () => (await queue.getJobCountByTypes("failed", "wait", "active")) === 0,
      );
      expect(alarms).to.have.length(60);
    } finally {
      await queue.close();
    }
  });
});
