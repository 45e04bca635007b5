import { randomUUID } from "node:crypto";
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Queue } from "bullmq";
import { expect } from "chai";
import type { AddressedMessage, Envelope } from "../../queues/envelope.ts";
import { MESSAGES, mailboxName, mailboxOptions } from "../../queues/mailbox.ts";
import { MailboxSender } from "../../queues/mailbox-sender.ts";
import type { ShardHandler } from "../../queues/ports.ts";
import { shardOf } from "../../queues/shard-map.ts";
import { ShardOwner } from "../../queues/shard-owner.ts";
import { connectRedis, type RedisClient } from "../../src/redis/connect.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { silentLog } from "../support/kernel-ports.ts";
import { startTestRedis } from "../support/redis.ts";
import { openTestSqlite } from "../support/stores.ts";
import { commandOf } from "../support/test-programs.ts";
import { until } from "../support/until.ts";

const SHARDS = 4;
const WITNESS = "{elsewhere}:generation";

/** The owner of each shard, over all owners of a test. Two owners of one shard at a time are a violation. */
class Holdings {
  readonly holders = new Map<number, string>();
  readonly violations: string[] = [];
}

class RecordingHandler implements ShardHandler {
  readonly name = randomUUID();
  readonly received: AddressedMessage[] = [];
  readonly lost: number[] = [];
  readonly #holdings: Holdings;
  readonly #epochs = new Map<number, number>();
  /** While it is set, received messages wait for it. */
  gate: Promise<void> | undefined;
  /** While it is set, a recovery waits for it. */
  recovery: Promise<void> | undefined;

  constructor(holdings: Holdings) {
    this.#holdings = holdings;
  }

  async open(shard: number, epoch: number): Promise<void> {
    const { holders, violations } = this.#holdings;
    if (holders.has(shard)) violations.push(`shard ${shard} has two owners`);
    holders.set(shard, this.name);
    this.#epochs.set(shard, epoch);
  }

  async redisLost(shard: number): Promise<void> {
    this.lost.push(shard);
    await this.recovery;
  }

  async receive(shard: number, messages: readonly AddressedMessage[]): Promise<void> {
    if (this.#holdings.holders.get(shard) !== this.name)
      this.#holdings.violations.push(`a node that does not own shard ${shard} received its messages`);
    this.received.push(...messages);
    await this.gate;
  }

  drain(): Promise<void> {
    return Promise.resolve();
  }

  close(shard: number, epoch: number): void {
    if (this.#epochs.get(shard) !== epoch) return;
    if (this.#holdings.holders.get(shard) === this.name) this.#holdings.holders.delete(shard);
  }
}

describe("owners of shards", function () {
  this.timeout(60_000);
  let redis: Awaited<ReturnType<typeof startTestRedis>>;
  let client: RedisClient;
  let sender: MailboxSender;
  let stores: Stores;
  let closeStores: () => Promise<void>;
  let holdings: Holdings;
  let owners: ShardOwner[];
  let children: ChildProcess[];
  let storePath: string;

  beforeEach(async () => {
    redis = await startTestRedis({ appendonly: true });
    client = connectRedis({ url: redis.url }, { role: "edge", log: silentLog });
    sender = new MailboxSender({ redis: client, shards: SHARDS });
    const opened = await openTestSqlite();
    ({ stores } = opened);
    closeStores = () => opened.close();
    storePath = opened.path;
    children = [];
    holdings = new Holdings();
    owners = [];
  });

  afterEach(async () => {
    for (const child of children) child.kill("SIGKILL");
    await Promise.all(owners.map((owner) => owner.stop()));
    await sender.close();
    client.disconnect();
    await redis.stop();
    await closeStores();
    expect(holdings.violations).to.deep.equal([]);
  });

  async function own(shards = SHARDS): Promise<{ owner: ShardOwner; handler: RecordingHandler }> {
    const handler = new RecordingHandler(holdings);
    const owner = new ShardOwner({
      witness: WITNESS,
      redis: { url: redis.url },
      nodeId: randomUUID(),
      shards,
      handler,
      epochs: stores.shards,
      log: silentLog,
    });
    owners.push(owner);
    await owner.start();
    return { owner, handler };
  }

  async function ownInProcess(): Promise<{ child: ChildProcess; said(word: string): readonly string[] }> {
    const script = fileURLToPath(new URL("owner-process.ts", import.meta.url));
    const child = spawn(process.execPath, [...commandOf(script), redis.url, storePath, String(SHARDS)], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    children.push(child);
    const lines: string[] = [];
    createInterface(child.stdout).on("line", (line) => lines.push(line));
    const said = (word: string): readonly string[] => lines.filter((line) => line.startsWith(word));
    await until("the process owns all", () => said("opened").length >= SHARDS, 15_000);
    return { child, said };
  }

  const messageTo = (rootId: string): AddressedMessage => ({ rootId, to: null, message: null });
  const rootsOf = (count: number): readonly string[] => Array.from({ length: count }, () => `run_${randomUUID()}`);
  const receivedBy = (...handlers: readonly RecordingHandler[]): Set<string> =>
    new Set(handlers.flatMap(({ received }) => received.map(({ rootId }) => rootId)));

  it("take all shards when alone, and receive every message once", async () => {
    const { owner, handler } = await own();
    await until("all are owned", () => owner.owned().length === SHARDS);
    const roots = rootsOf(500);
    await Promise.all(roots.map((rootId) => sender.send(messageTo(rootId))));
    await until("all messages are received", () => receivedBy(handler).size === roots.length);
    expect(handler.received).to.have.length(roots.length);
  });

  it("receive a delayed message when it is due, and a repeat of it not at all", async () => {
    const { handler } = await own();
    const dueAt = Date.now() + 400;
    const message = messageTo("run_timer");
    await sender.sendAt(message, dueAt, "job_1.timeout:1");
    await sender.sendAt(message, dueAt, "job_1.timeout:1");
    await until("it fires", () => handler.received.length > 0);
    expect(Date.now()).to.be.within(dueAt - 20, dueAt + 1_500);
    await sender.send(messageTo("run_other"));
    await until("the next message is received", () => receivedBy(handler).has("run_other"));
    expect(handler.received).to.have.length(2);
  });

  it("share the shards when a second one starts, and hand them over when one leaves", async () => {
    const first = await own();
    await until("all are owned", () => first.owner.owned().length === SHARDS);
    const second = await own();
    await until("they share", () => first.owner.owned().length === 2 && second.owner.owned().length === 2);
    const roots = rootsOf(200);
    const sending = Promise.all(roots.map((rootId) => sender.send(messageTo(rootId))));
    await first.owner.stop();
    await sending;
    await until("all messages are received", () => receivedBy(first.handler, second.handler).size === roots.length);
    await until("the second owns all", () => second.owner.owned().length === SHARDS, 2_000);
  });

  it("hand their shards over a few at a time, each to an owner that opens it at once", async () => {
    const many = 24;
    const first = await own(many);
    await until("all are owned", () => first.owner.owned().length === many);
    const second = await own(many);
    await until(
      "they share",
      () => second.owner.owned().length === many / 2 && first.owner.owned().length === many / 2,
    );
    let fewest = many;
    const { close } = first.handler;
    first.handler.close = (shard, epoch) => {
      close.call(first.handler, shard, epoch);
      fewest = Math.min(fewest, holdings.holders.size);
    };
    await first.owner.stop();
    await until("the second owns all", () => second.owner.owned().length === many, 5_000);
    expect(fewest, "shards that had an owner all the time").to.be.at.least(many - 8);
  });

  it("take over from a dead one within 5 s, with the envelopes that it had fetched", async () => {
    const dead = await ownInProcess();
    const roots = rootsOf(100);
    for (const rootId of roots) await sender.send(messageTo(rootId));
    await until("it has fetched envelopes", () => dead.said("received").length >= 50);
    const living = await own();
    dead.child.kill("SIGKILL");
    const since = performance.now();
    await until("everything is delivered again", () => receivedBy(living.handler).size === roots.length, 10_000);
    expect(performance.now() - since).to.be.below(5_000);
    expect(living.owner.owned()).to.have.length(SHARDS);
  });

  it("close their shards after a long sleep, and lose no envelope that they had fetched", async () => {
    const zombie = await ownInProcess();
    const roots = rootsOf(60);
    for (const rootId of roots) await sender.send(messageTo(rootId));
    await until("it has fetched envelopes", () => zombie.said("received").length >= 40);
    zombie.child.kill("SIGSTOP");
    const living = await own();
    await until("all is taken over", () => living.owner.owned().length === SHARDS, 10_000);
    const before = zombie.said("received").length;
    zombie.child.kill("SIGCONT");
    await until("the zombie closes its shards", () => zombie.said("closed").length >= SHARDS, 5_000);
    // The zombie is a member again then, and shards come back to it with their envelopes.
    const again = (): readonly string[] =>
      zombie
        .said("received")
        .slice(before)
        .map((line) => line.split(" ")[1]!);
    await until(
      "all messages are received again",
      () => new Set([...receivedBy(living.handler), ...again()]).size === roots.length,
      15_000,
    );
  });

  it("receive at once what they had fetched when the connection to Redis broke before the answer", async () => {
    const { owner, handler } = await own();
    await until("all are owned", () => owner.owned().length === SHARDS);
    const shard = shardOf("run_lost", SHARDS);
    const queue = new Queue<Envelope>(mailboxName(shard), mailboxOptions(client, shard));
    try {
      // The job is active in Redis, and no reader has it in hand.
      await queue.add(MESSAGES, { schema: 1, letters: [messageTo("run_lost")] }, { delay: 60_000, jobId: "lost" });
      await client.zrem(queue.toKey("delayed"), "lost");
      await client.lpush(queue.toKey("active"), "lost");
      await client.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
      await until("it is received", () => receivedBy(handler).has("run_lost"), 2_500);
    } finally {
      await queue.close();
    }
  });

  it("recover each shard when Redis was emptied, and receive messages again", async () => {
    const { owner, handler } = await own();
    await until("all are owned", () => owner.owned().length === SHARDS);
    await client.flushall();
    await until("each shard knows", () => new Set(handler.lost).size === SHARDS);
    await sender.send(messageTo("run_after"));
    await until("messages arrive", () => receivedBy(handler).has("run_after"));
  });

  it("recover each shard when the witness is lost, as on another master of a cluster", async () => {
    const { owner, handler } = await own();
    await until("all are owned", () => owner.owned().length === SHARDS);
    await until("the witness exists", async () => (await client.exists(WITNESS)) === 1);
    expect(handler.lost).to.deep.equal([]);
    await client.del(WITNESS);
    await until("each shard knows", () => new Set(handler.lost).size === SHARDS);
    expect(await client.exists(WITNESS)).to.equal(1);
  });

  it("begin another recovery when Redis is emptied again before the first one is done", async () => {
    const { handler } = await own();
    await until("it owns all", () => holdings.holders.size === SHARDS);
    handler.recovery = new Promise(() => undefined);
    await client.flushall();
    await until("each shard recovers", () => new Set(handler.lost).size === SHARDS);
    handler.lost.length = 0;
    await client.flushall();
    await until("each shard recovers again", () => new Set(handler.lost).size === SHARDS);
  });

  it("leave a recovery that they did not finish to the next owner", async () => {
    const first = await own();
    await until("all are owned", () => first.owner.owned().length === SHARDS);
    first.handler.recovery = new Promise(() => undefined);
    await client.flushall();
    await until("the recovery has begun", () => new Set(first.handler.lost).size === SHARDS);
    await first.owner.stop();
    const second = await own();
    await until("the next owner starts it again", () => new Set(second.handler.lost).size === SHARDS);
    await second.owner.stop();
    const third = await own();
    await until("all are owned", () => third.owner.owned().length === SHARDS);
    expect(third.handler.lost, "a finished recovery is not repeated").to.deep.equal([]);
  });

  it("take their shards again by themselves after Redis was gone for 15 s", async () => {
    const { owner, handler } = await own();
    await until("all are owned", () => owner.owned().length === SHARDS);
    await redis.kill();
    await until("the leases have run out", () => owner.owned().length === 0);
    const since = performance.now();
    await until("15 s pass", () => performance.now() - since > 12_000, 20_000);
    await redis.restart();
    await until("all are owned again", () => owner.owned().length === SHARDS, 10_000);
    await until("each shard knows", () => new Set(handler.lost).size === SHARDS);
    await until("the edge can send again", () =>
      sender.send(messageTo("run_after")).then(
        () => true,
        () => false,
      ),
    );
    await until("messages arrive", () => receivedBy(handler).has("run_after"));
  });

  it("report by a canary that envelopes get through", async () => {
    const { owner } = await own();
    await until("all are owned", () => owner.owned().length === SHARDS);
    expect(owner.health().every(({ ok }) => ok)).to.equal(true);
    await until("canaries come back", () => owner.health().every(({ lastCanaryMs }) => lastCanaryMs < 9_000), 25_000);
  });
});
