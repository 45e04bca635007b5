import { Queue } from "bullmq";
import { expect } from "chai";
import type { Envelope } from "../../queues/envelope.ts";
import { JointReader } from "../../queues/joint-reader.ts";
import { MESSAGES, mailboxName, mailboxOptions } from "../../queues/mailbox.ts";
import { MailboxReader } from "../../queues/mailbox-reader.ts";
import { ring, wakeKey } from "../../queues/wake-key.ts";
import { connectRedis, type RedisClient } from "../../src/redis/connect.ts";
import { silentLog } from "../support/kernel-ports.ts";
import { startTestRedis, type TestRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

const SHARDS = 12;
const NODE = "a-node";

describe("the joint reader of a node", function () {
  this.timeout(30_000);
  let redis: TestRedis;
  let client: RedisClient;
  let joint: JointReader;
  let queues: readonly Queue<Envelope>[];
  let readers: MailboxReader[];
  let received: { shard: number; schema: number }[];
  let words: string[];
  /** While it is set, the envelopes of shard 0 wait for it. */
  let gate: Promise<void> | undefined;

  beforeEach(async () => {
    redis = await startTestRedis();
    client = connectRedis({ url: redis.url }, { role: "consumer", log: silentLog });
    client.setMaxListeners(0);
    words = [];
    joint = new JointReader({
      redis: client,
      blocking: connectRedis({ url: redis.url }, { role: "blocking", log: silentLog }),
      nodeId: NODE,
      onWord: (word) => void words.push(word),
      log: silentLog,
    });
    received = [];
    gate = undefined;
    // One mailbox more than are read.
    queues = Array.from({ length: SHARDS + 1 }, (_, shard) => {
      return new Queue<Envelope>(mailboxName(shard), mailboxOptions(client, shard));
    });
    readers = queues.slice(0, SHARDS).map((queue, shard) => read(queue, shard));
  });
  afterEach(async () => {
    for (const reader of readers) reader.abandon();
    joint.close();
    await Promise.all(queues.map((queue) => queue.close()));
    client.disconnect();
    await redis.stop();
  });

  function read(queue: Queue<Envelope>, shard: number): MailboxReader {
    const receive = async ({ data }: { data: Envelope }): Promise<void> => {
      received.push({ shard, schema: data.schema });
      if (shard === 0) await gate;
    };
    return new MailboxReader({ shard, queue, joint, receive, log: silentLog });
  }
  /** The schema stands for the content of the envelope. */
  const send = (shard: number, schema = 1, delay = 0) =>
    queues[shard]!.add(MESSAGES, { schema, letters: [] }, { delay });
  const calls = async (): Promise<readonly string[]> => {
    const list = String(await client.call("CLIENT", "LIST"))
      .trim()
      .split("\n");
    return list.map((line) => /cmd=(\S+)/.exec(line)![1]!);
  };
  const blocked = async () => (await calls()).filter((name) => name === "bzpopmin").length;

  it("waits for all mailboxes with one connection, and receives every envelope once", async () => {
    await until("it waits", async () => (await blocked()) === 1);
    expect(await calls(), "with the connection for commands").to.have.length(2);
    const sent = Array.from({ length: 40 * SHARDS }, (_, at) => at);
    await Promise.all(sent.map((at) => send(at % SHARDS, at)));
    await until("all are received", () => received.length >= sent.length);
    expect(received.map(({ schema }) => schema)).to.have.members(sent);
    for (const { shard, schema } of received) expect(schema % SHARDS).to.equal(shard);
    await until("all are settled", async () =>
      (await Promise.all(queues.map((queue) => queue.count()))).every((n) => n === 0),
    );
    expect(await Promise.all(queues.map((queue) => queue.getActiveCount()))).to.deep.equal(queues.map(() => 0));
    await until("it waits again", async () => (await blocked()) === 1);
  });

  it("receives from each mailbox while others always have envelopes", async () => {
    let isOver = false;
    const flood = (async () => {
      while (!isOver) await Promise.all([send(0), send(1), send(2)]);
    })();
    for (let shard = 3; shard < SHARDS; shard++) await send(shard, 7);
    await until("all are received", () => received.filter(({ schema }) => schema === 7).length === SHARDS - 3, 4_000);
    isOver = true;
    await flood;
  });

  it("hears words of other nodes while its mailboxes always have envelopes", async () => {
    let isOver = false;
    const flood = async (shard: number): Promise<void> => {
      while (!isOver) await send(shard);
    };
    const floods = Array.from({ length: SHARDS }, (_, shard) => flood(shard));
    await until("all mailboxes are read", () => received.length > 20 * SHARDS);
    const waits: number[] = [];
    for (let n = 0; n < 20; n++) {
      const since = performance.now();
      await ring(client, NODE, `taken:${n}`);
      await until("the word is heard", () => words.includes(`taken:${n}`), 4_000);
      waits.push(performance.now() - since);
    }
    isOver = true;
    await Promise.all(floods);
    expect(Math.max(...waits), `ms until words were heard: ${waits.map(Math.round).join(" ")}`).to.be.below(1_000);
  });

  it("continues with a mailbox that was full, and serves the others meanwhile", async () => {
    let open = (): void => {};
    gate = new Promise((resolve) => (open = resolve));
    await Promise.all(Array.from({ length: 100 }, () => send(0)));
    const ofFirst = () => received.filter(({ shard }) => shard === 0).length;
    await until("it has as many as it may have", () => ofFirst() === 64);
    await send(1);
    await until("another is served", () => received.some(({ shard }) => shard === 1));
    expect(ofFirst()).to.equal(64);
    open();
    await until("the others are received", () => ofFirst() === 100);
  });

  it("receives a delayed envelope when it is due", async () => {
    await until("it waits", async () => (await blocked()) === 1);
    const dueAt = Date.now() + 300;
    await Promise.all([send(4, 1, 300), send(5, 1, 60_000)]);
    await until("it is received", () => received.length > 0);
    expect(Date.now()).to.be.at.least(dueAt - 20);
    expect(received).to.deep.equal([{ shard: 4, schema: 1 }]);
  });

  it("finds an envelope whose marker was lost within 5 s", async () => {
    await until("it waits", async () => (await blocked()) === 1);
    // Moved from a mailbox without a reader, so that no marker is set.
    const job = await send(SHARDS);
    const [from, to] = [queues[SHARDS]!, queues[6]!];
    await client.rename(from.toKey(job.id!), to.toKey(job.id!));
    await client.rename(from.toKey("wait"), to.toKey("wait"));
    const since = performance.now();
    await until("it is received", () => received.length === 1, 15_000);
    expect(performance.now() - since).to.be.below(8_000);
    expect(received[0]!.shard).to.equal(6);
  });

  it("leaves the marker of a mailbox that it no longer reads to the next owner", async () => {
    await until("it waits", async () => (await blocked()) === 1);
    await readers[3]!.close();
    await send(3);
    await until("the marker is there", async () => (await client.zscore(queues[3]!.toKey("marker"), "0")) === "0");
    expect(received).to.deep.equal([]);
    readers[3] = read(queues[3]!, 3);
    await until("the next reader receives it", () => received.length === 1);
  });

  it("waits again after its connection was cut, and hears words of other nodes", async () => {
    await until("it waits", async () => (await blocked()) === 1);
    const line = String(await client.call("CLIENT", "LIST"))
      .split("\n")
      .find((text) => text.includes("cmd=bzpopmin"))!;
    await client.call("CLIENT", "KILL", "ID", /id=(\d+)/.exec(line)![1]!);
    await until("it waits again", async () => (await blocked()) === 1);
    await send(8);
    await client.zadd(wakeKey(NODE), 0, "members");
    await until("both have arrived", () => received.length === 1 && words.includes("members"));
  });
});
