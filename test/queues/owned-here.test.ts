/** Messages to shards that the sender's own process owns: they reach their owner in memory, and none is lost with a shard. */
import { randomUUID } from "node:crypto";
import { expect } from "chai";
import type { AddressedMessage } from "../../queues/envelope.ts";
import { MailboxSender } from "../../queues/mailbox-sender.ts";
import type { ShardHandler } from "../../queues/ports.ts";
import { ShardOwner } from "../../queues/shard-owner.ts";
import { connectRedis, type RedisClient } from "../../src/redis/connect.ts";
import { openTestSqlite } from "../support/stores.ts";
import { silentLog } from "../support/kernel-ports.ts";
import { startTestRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

const SHARDS = 2;
/** As many messages as an owner takes at a time on one shard, past the mailbox. */
const TAKEN_MAX = 4_096;

class Handler implements ShardHandler {
  readonly received: string[] = [];
  /** Received messages are done when it resolves. */
  gate: Promise<void> = Promise.resolve();

  open = () => Promise.resolve();
  redisLost = () => Promise.resolve();
  drain = () => Promise.resolve();
  close = () => undefined;
  receive(_: number, messages: readonly AddressedMessage[]): Promise<void> {
    this.received.push(...messages.map(({ rootId }) => rootId));
    return this.gate;
  }
}

describe("a mailbox sender beside the owner of shards", function () {
  this.timeout(60_000);
  let redis: Awaited<ReturnType<typeof startTestRedis>>;
  let store: Awaited<ReturnType<typeof openTestSqlite>>;
  let client: RedisClient;
  let sender: MailboxSender;
  let owners: ShardOwner[];

  beforeEach(async () => {
    redis = await startTestRedis();
    store = await openTestSqlite();
    client = connectRedis({ url: redis.url }, { role: "edge", log: silentLog });
    sender = new MailboxSender({ redis: client, shards: SHARDS });
    owners = [];
  });
  afterEach(async () => {
    await Promise.all(owners.map((owner) => owner.stop()));
    await sender.close();
    client.disconnect();
    await redis.stop();
    await store.close();
  });

  async function own(): Promise<{ readonly owner: ShardOwner; readonly handler: Handler }> {
    const handler = new Handler();
    const owner = new ShardOwner({
      witness: "{elsewhere}:generation",
      redis: { url: redis.url },
      nodeId: randomUUID(),
      shards: SHARDS,
      handler,
      epochs: store.stores.shards,
      log: silentLog,
    });
    owners.push(owner);
    await owner.start();
    return { owner, handler };
  }

  async function ownAll() {
    const owned = await own();
    await until("all are owned", () => owned.owner.owned().length === SHARDS);
    sender.preferOwner(owned.owner);
    return owned;
  }

  const send = (rootId: string) => sender.send({ rootId, to: null, message: null });

  it("hands messages over at once, and their order stays", async () => {
    const { handler } = await ownAll();
    const roots = Array.from({ length: 50 }, () => `run_${randomUUID()}`);
    const sent = roots.map(send);
    expect(handler.received).to.deep.equal(roots);
    await Promise.all(sent);
  });

  it("puts messages into the mailboxes of the shards that another process owns", async () => {
    const first = await ownAll();
    const second = await own();
    await until("they share", () => first.owner.owned().length === 1 && second.owner.owned().length === 1);
    const roots = Array.from({ length: 50 }, () => `run_${randomUUID()}`);
    await Promise.all(roots.map(send));
    await until(
      "all are received once",
      () => first.handler.received.length + second.handler.received.length === roots.length,
    );
    expect(new Set([...first.handler.received, ...second.handler.received]).size).to.equal(roots.length);
    expect(second.handler.received).to.not.have.length(0);
  });

  it("puts what its owner was not done with into the mailbox when the shard has another owner", async () => {
    const first = await ownAll();
    let open!: () => void;
    first.handler.gate = new Promise((resolve) => (open = resolve));
    await send("run_held");
    expect(first.handler.received).to.deep.equal(["run_held"]);
    await first.owner.stop();
    const second = await own();
    await until("the second owns all", () => second.owner.owned().length === SHARDS);
    expect(second.handler.received).to.deep.equal([]);
    open();
    await until("the message is received again", () => second.handler.received.includes("run_held"));
  });

  it("holds a bounded number of messages in memory; the others wait in the mailbox", async () => {
    const { handler } = await ownAll();
    let open!: () => void;
    handler.gate = new Promise((resolve) => (open = resolve));
    const sent = Array.from({ length: TAKEN_MAX + 10 }, () => send("run_busy"));
    expect(handler.received).to.have.length(TAKEN_MAX);
    await Promise.all(sent);
    open();
    await until("the others are received", () => handler.received.length === TAKEN_MAX + 10);
  });
});
