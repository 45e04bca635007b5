/**
 * What a worker asks while nothing happens, in counts and not in time. Many workers make many of these calls, so a change
 * that makes an idle worker ask more often fails here. If that is intended, change the number and say why.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { Redis } from "ioredis";
import { MongoClient } from "mongodb";
import { freshDatabase, startTestMongo } from "../support/mongo.ts";
import { openTestNodes, type TestNodes } from "../support/nodes.ts";
import { until } from "../support/until.ts";

const WORKERS = 2;
const SHARDS = 8 * WORKERS;
/** All bounds of the calls are counted in this time. Some are made once a minute only, many of them at once. */
const COUNTED_MS = 60_000;
const SECONDS = COUNTED_MS / 1_000;

/** Calls of one worker in a second, at most. */
const LIMITS = {
  /** Of the round of an owner: its leases with the witness, its membership, and when its store answered. */
  "Redis calls of a round": 3.1,
  /**
   * The registry of nodes and the comparison of clocks; the look at the board and for fetched envelopes; and one worker's look
   * at the presence of agents each 5 s.
   */
  "other Redis calls": 2.8,
  /** Five for each canary, of which a worker with eight shards sends one in 2.5 s; and the waits that time out. */
  "mailbox calls": 2.4,
  /**
   * The probe, the question for shards with work (two), the upkeep of the application, every 2 s a look for webhooks, every
   * 10 s one for deliveries of hooks, and every 30 s one for each shard: for its queued jobs.
   */
  "calls of the store": 7.8,
};

type Kind = keyof typeof LIMITS;

describe("an idle worker", function () {
  this.timeout(150_000);
  let nodes: TestNodes;
  let monitor: Redis;
  const counts: Record<Kind, number> = {
    "Redis calls of a round": 0,
    "other Redis calls": 0,
    "mailbox calls": 0,
    "calls of the store": 0,
  };
  const storeCalls = new Map<string, number>();
  // oxlint-disable-next-line typescript/unbound-method
  const { connect } = MongoClient.prototype;

  before(async () => {
    MongoClient.prototype.connect = function (this: MongoClient) {
      (this as { monitorCommands?: boolean }).monitorCommands = true;
      this.on("commandStarted", ({ commandName, command }) => {
        counts["calls of the store"]++;
        const call = `${commandName} ${String(command[commandName])}`;
        storeCalls.set(call, (storeCalls.get(call) ?? 0) + 1);
      });
      return Reflect.apply(connect, this, []);
    };
    nodes = await openTestNodes({ shards: SHARDS });
    const redis = new Redis(nodes.redis.url);
    monitor = await redis.monitor();
    redis.disconnect();
    const { url } = await startTestMongo();
    const shared = {
      MONGODB_URL: url,
      MONGODB_DATABASE: freshDatabase(),
      MILLRACE_SIGNING_KEY: "0123456789abcdef0123456789abcdef",
      MILLRACE_MASTER_KEY: "0123456789abcdef".repeat(4),
    };
    const workers = await Promise.all(Array.from({ length: WORKERS }, () => nodes.start("worker", shared)));
    const owned = async ({ metrics }: (typeof workers)[number]): Promise<number> => {
      const text = await (await fetch(`http://${metrics}/metrics`)).text();
      return Number(/^millrace_shards_owned (\d+)/m.exec(text)![1]);
    };
    const share = async () => (await Promise.all(workers.map(owned))).every((count) => count === SHARDS / WORKERS);
    await until("they share the shards", share, 30_000);
    // What follows a change of owners, such as the first check of bound jobs, is over then.
    await sleep(8_000);
  });
  after(async () => {
    MongoClient.prototype.connect = connect;
    monitor.disconnect();
    await nodes.close();
  });

  it("asks Redis and the store no more often than it must", async () => {
    monitor.on("monitor", (_, [name = "", ...args]: string[], source: string) => {
      // Commands inside a script are not calls.
      if (source !== "lua") counts[kindOf(name.toLowerCase(), /^eval/i.test(name) ? args[2] : args[0])]++;
    });
    const excess = await countExcess();
    monitor.removeAllListeners("monitor");
    expect(excess, JSON.stringify([counts, [...storeCalls]])).to.deep.equal([]);
  });

  /** Counts once, and answers what is outside its bounds. */
  async function countExcess(): Promise<readonly string[]> {
    for (const kind of Object.keys(counts) as Kind[]) counts[kind] = 0;
    storeCalls.clear();
    await sleep(COUNTED_MS);
    return Object.entries(LIMITS).flatMap(([kind, limit]) => {
      const inSecond = counts[kind as Kind] / SECONDS / WORKERS;
      return inSecond >= 0.1 && inSecond <= limit ? [] : [`${kind}: ${inSecond} in a second`];
    });
  }
});

function kindOf(name: string, key = ""): Kind {
  if (name === "info" || /^\{board\}:generation$|:members$|:store-reached$|^\{mb\d+\}:owner$/.test(key)) {
    return "Redis calls of a round";
  }
  return /:wake$|^\{mb\d+\}:mb\d+:(?!active)/.test(key) ? "mailbox calls" : "other Redis calls";
}
