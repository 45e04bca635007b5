import { expect } from "chai";
import { randomUUID } from "node:crypto";
import type { Redis } from "ioredis";
import { RedisFeed } from "../../src/feed/redis-feed.ts";
import { connectRedis, type RedisClient } from "../../src/redis/connect.ts";
import { silentLog } from "../support/kernel-ports.ts";
import { startTestRedis, type TestRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

describe("the feed of a node that is alone", function () {
  this.timeout(20_000);
  let server: TestRedis;
  let closers: (() => unknown)[];
  let alone: boolean;
  let feed: RedisFeed;
  /** Messages that came through Redis, without the hellos between feeds and those of {@link staysHere}. */
  let overRedis: string[];
  let probe: Redis;

  beforeEach(async () => {
    server = await startTestRedis();
    closers = [];
    overRedis = [];
    const raw = client("subscriber");
    raw.on("pmessage", (_, channel: string) => channel === "feed:before" || overRedis.push(channel));
    await raw.psubscribe("feed:*");
    probe = client("edge") as Redis;
    alone = true;
    feed = openFeed(() => alone);
  });
  afterEach(async () => {
    for (const close of closers) await close();
    await server.stop();
  });

  function client(role: "edge" | "subscriber"): RedisClient {
    const redis = connectRedis({ url: server.url }, { role, log: silentLog });
    closers.push(() => redis.disconnect());
    return redis;
  }
  function openFeed(isAlone?: () => boolean): RedisFeed {
    const parts = { publisher: client("edge"), subscriber: client("subscriber"), log: silentLog };
    const opened = new RedisFeed(isAlone === undefined ? parts : { ...parts, node: { nodeId: randomUUID(), isAlone } });
    closers.push(() => opened.close());
    return opened;
  }
  /** How many messages Redis was given, with the hellos. */
  async function publications(): Promise<string> {
    return /cmdstat_publish:calls=(\d+)/.exec(await probe.info("commandstats"))?.[1] ?? "0";
  }
  /** Publishes until the message does not pass through Redis. */
  async function staysHere(): Promise<void> {
    await until("the feed keeps its messages", async () => {
      const before = await publications();
      await feed.publish("before", 0);
      return (await publications()) === before;
    });
  }

  it("brings its messages to its own listeners as they are, and sends nothing to Redis", async () => {
    await staysHere();
    const heard: unknown[] = [];
    await feed.subscribe("a", (payload) => heard.push(payload));
    await Promise.all([feed.publish("a", { n: 1 }), feed.publish("a", ["x\ny"])]);
    await feed.publish("without a listener", { toJSON: () => expect.fail("it was turned into JSON") });
    expect(heard).to.deep.equal([{ n: 1 }, ["x\ny"]]);
    expect(overRedis).to.deep.equal([]);
  });

  it("keeps the order of its messages when it becomes alone and when it is alone no more", async () => {
    const heard: number[] = [];
    await feed.subscribe("a", (payload) => heard.push(payload as number));
    for (let n = 0; n < 600; n++) {
      if (n % 100 === 0) alone = !alone;
      const sent = feed.publish("a", n);
      if (n % 3 === 0) await sent;
    }
    await until("all are heard", () => heard.length === 600);
    expect(heard).to.deep.equal(Array.from({ length: 600 }, (_, n) => n));
    expect(overRedis.length).to.be.above(0).and.below(600);
  });

  it("keeps its messages also when one follows the other without a pause", async () => {
    const heard: number[] = [];
    await feed.subscribe("a", (payload) => heard.push(payload as number));
    const all: Promise<void>[] = [];
    for (let n = 0; n < 200; n++) {
      all.push(feed.publish("a", n));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(all);
    expect(heard).to.deep.equal(Array.from({ length: 200 }, (_, n) => n));
    expect(overRedis).to.deep.equal([]);
  });

  it("sends everything again as soon as another feed has connected, whatever the registry says", async () => {
    await staysHere();
    const other = openFeed(() => false);
    const heard: unknown[] = [];
    await other.subscribe("a", (payload) => heard.push(payload));
    let sent = 0;
    await until("the other feed hears", async () => (await feed.publish("a", sent++), heard.length > 0));
    const from = heard[0] as number;
    for (let n = 0; n < 50; n++) await feed.publish("a", sent++);
    await until("it hears all from then on", () => heard.length >= sent - from);
    expect(heard).to.deep.equal(Array.from({ length: sent - from }, (_, at) => from + at));
  });

  it("sends everything as soon as the registry lists a node that says no hello, as an earlier release does", async () => {
    await staysHere();
    const other = openFeed();
    const heard: unknown[] = [];
    await other.subscribe("a", (payload) => heard.push(payload));
    alone = false;
    await feed.publish("a", "here");
    await until("the other feed hears", () => heard.length === 1);
  });

  it("says hello again after its connection broke", async () => {
    await staysHere();
    // Connects while the registry still says that the other one is alone.
    openFeed(() => false);
    await until("the other one publishes", async () => (await feed.publish("a", 1), overRedis.length > 0));
    const before = Number(await publications());
    await probe.call("CLIENT", "KILL", "TYPE", "pubsub");
    await until("both have said hello", async () => Number(await publications()) === before + 2);
  });

  it("knows what other nodes follow, also those that have followed before it came, and nothing else", async () => {
    const other = openFeed(() => false);
    expect(feed.isFollowed("many")).to.equal(false);
    const heard: unknown[] = [];
    const leave = await other.follow("many", (payload) => heard.push(payload));
    await until("the feed knows", () => feed.isFollowed("many"));
    expect(feed.isFollowed("others")).to.equal(false);
    await feed.publish("many", 1);
    await until("the follower hears", () => heard.length === 1);
    const late = openFeed(() => false);
    await until("the late feed knows", () => late.isFollowed("many"));
    await leave();
    expect(other.isFollowed("many")).to.equal(false);
  });
});
