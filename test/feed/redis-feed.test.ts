import { expect } from "chai";
import { RedisFeed } from "../../src/feed/redis-feed.ts";
import { connectRedis, type RedisClient } from "../../src/redis/connect.ts";
import { startTestRedis, type TestRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

describe("the feed over Redis", () => {
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  let server: TestRedis;
  let publisher: RedisClient;
  let feed: RedisFeed;

  before(async () => {
    server = await startTestRedis();
  });
  beforeEach(() => {
    publisher = connectRedis({ url: server.url }, { role: "edge", log });
    feed = new RedisFeed({
      publisher,
      subscriber: connectRedis({ url: server.url }, { role: "subscriber", log }),
      log,
    });
  });
  afterEach(async () => {
    await feed.close();
    publisher.disconnect();
  });
  after(() => server.stop());

  const subscriptions = async (channel: string): Promise<unknown> =>
    ((await publisher.pubsub("NUMSUB", `feed:${channel}`)) as unknown[])[1];

  it("carries JSON to every listener of a channel, in the order of its publisher", async () => {
    // Two listeners of the channel, and one of another channel.
    const heard: unknown[][] = [[], [], []];
    await feed.subscribe("a", (payload) => heard[0]!.push(payload));
    await feed.subscribe("a", (payload) => heard[1]!.push(payload));
    await feed.subscribe("b", (payload) => heard[2]!.push(payload));
    for (let n = 0; n < 100; n++) await feed.publish("a", { n });
    const all = Array.from({ length: 100 }, (_, n) => ({ n }));
    await until("all messages are heard", () => heard[1]!.length === 100);
    expect(heard).to.deep.equal([all, all, []]);
  });

  it("carries payloads that are published at once to one channel as one message", async () => {
    const messages: string[] = [];
    const raw = connectRedis({ url: server.url }, { role: "subscriber", log });
    raw.on("message", (channel: string) => messages.push(channel));
    await raw.subscribe("feed:a", "feed:b");
    const heard: unknown[] = [];
    await feed.subscribe("a", (payload) => heard.push(payload));
    const payloads = [{ text: "two\nlines" }, [1, 2], null];
    await Promise.all([...payloads.map((payload) => feed.publish("a", payload)), feed.publish("b", 1)]);
    await feed.publish("a", "later");
    await until("all are heard", () => heard.length === 4 && messages.length === 3);
    expect(heard).to.deep.equal([...payloads, "later"]);
    expect(messages).to.deep.equal(["feed:a", "feed:b", "feed:a"]);
    raw.disconnect();
  });

  it("stops one listener without stopping another, and unsubscribes with the last", async () => {
    const heard: string[] = [];
    const first = await feed.subscribe("a", () => heard.push("first"));
    const second = await feed.subscribe("a", () => heard.push("second"));
    await first();
    await first();
    await feed.publish("a", 1);
    await until("the second hears", () => heard.length > 0);
    expect(heard).to.deep.equal(["second"]);
    expect(await subscriptions("a")).to.equal(1);
    await second();
    await until("no subscription is left", async () => (await subscriptions("a")) === 0);
  });

  it("keeps a subscription that is made while the last other one ends", async () => {
    const leave = await feed.subscribe("a", () => {});
    const heard: unknown[] = [];
    await Promise.all([leave(), feed.subscribe("a", (payload) => heard.push(payload))]);
    await feed.publish("a", "here");
    await until("it hears", () => heard.length === 1);
  });

  it("serves the other listeners when one throws", async () => {
    const heard: unknown[] = [];
    await feed.subscribe("a", () => {
      throw new Error("broken listener");
    });
    await feed.subscribe("a", (payload) => heard.push(payload));
    await feed.publish("a", 1);
    await feed.publish("a", 2);
    await until("the sound listener hears both", () => heard.length === 2);
  });

  it("fails calls while Redis is away, and receives messages again after a restart", async () => {
    const heard: unknown[] = [];
    await feed.subscribe("a", (payload) => heard.push(payload));
    await server.kill();
    const refusals = await Promise.allSettled([feed.publish("a", "lost"), feed.subscribe("b", () => {})]);
    expect(refusals.map(({ status }) => status)).to.deep.equal(["rejected", "rejected"]);
    await server.restart();
    await until("a message is heard", async () => {
      await feed.publish("a", "after").catch(() => {});
      return heard.includes("after");
    });
    const repeated: unknown[] = [];
    await feed.subscribe("b", (payload) => repeated.push(payload));
    await feed.publish("b", "later");
    await until("the repeated subscription hears", () => repeated.length === 1);
  });
});
