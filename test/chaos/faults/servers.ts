/** Faults of what the nodes stand on: Redis, the store, the mail itself. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Job, Worker } from "bullmq";
import { Redis } from "ioredis";
import type { Envelope } from "../../../queues/envelope.ts";
import { MESSAGES, mailboxName, mailboxOptions } from "../../../queues/mailbox.ts";
import { SHARDS } from "../world/installation.ts";
import { type Fault, type FaultContext, worksAgain } from "./fault.ts";

const OUTAGE_MS = 15_000;
const OUTAGE_BOUND_MS = 10_000;
const SLOW_CALL_MS = 200;
const CUT_EVERY = 25;
const CUTTING_MS = 10_000;
const MEDDLING_MS = 12_000;
const LATE_MS = 1_500;

/** Comes back with its append-only file; a second of it may be missing. */
export const restartRedis: Fault = {
  name: "SIGKILL of Redis",
  lastsMs: 5_000,
  async strike(context) {
    const { redis } = context.installation;
    context.protocol.struck("Redis");
    await redis!.kill();
    await redis!.restart();
    await measure(context, "Redis restarted");
  },
};

export const redisOutage: Fault = {
  name: "Redis down for 15 s",
  lastsMs: 20_000,
  async strike(context) {
    const { redis } = context.installation;
    context.protocol.struck("Redis");
    await redis!.kill();
    await sleep(OUTAGE_MS);
    await redis!.restart();
    await measure(context, "Redis back");
  },
};

export const flushRedis: Fault = {
  name: "FLUSHALL",
  lastsMs: 6_000,
  async strike(context) {
    context.protocol.struck("Redis' memory");
    const client = new Redis(context.installation.redis!.url);
    await client.flushall();
    client.disconnect();
    await measure(context, "Redis emptied");
  },
};

export const storeOutage: Fault = {
  name: "MongoDB down for 15 s",
  lastsMs: 20_000,
  async strike(context) {
    const { mongo } = context.installation;
    context.protocol.struck("MongoDB");
    await mongo!.goDown();
    await sleep(OUTAGE_MS);
    await mongo!.comeUp();
    await measure(context, "MongoDB back");
  },
};

export const slowStore: Fault = {
  name: "MongoDB takes 200 ms a call",
  lastsMs: 18_000,
  async strike(context) {
    const { mongo } = context.installation;
    context.protocol.struck("MongoDB's speed");
    mongo!.slowDown(SLOW_CALL_MS);
    await sleep(OUTAGE_MS);
    context.installation.calmStore();
    await measure(context, "MongoDB fast again");
  },
};

/** The server does what it was asked to, but whoever asked does not learn of it. */
export const cutStore: Fault = {
  name: "MongoDB's connections cut in the middle of calls",
  lastsMs: 14_000,
  async strike(context) {
    const { mongo } = context.installation;
    context.protocol.struck("MongoDB's connections");
    mongo!.cutEvery(CUT_EVERY);
    await sleep(CUTTING_MS);
    mongo!.cutEvery(0);
    await measure(context, "MongoDB's connections whole");
  },
};

/**
 * A stranger takes a share of the envelopes out of the mailboxes and puts each back twice, later and in another order.
 */
export const meddleWithMail: Fault = {
  name: "envelopes doubled, delayed and reordered",
  lastsMs: 15_000,
  async strike(context) {
    const { random, installation, probe } = context;
    const redis = new Redis(installation.redis!.url, { maxRetriesPerRequest: null });
    redis.setMaxListeners(0);
    context.protocol.struck("the mail");
    let meddled = 0;
    const strangers = Array.from({ length: SHARDS }, (_, shard) => {
      const queue = probe!.queueOf(shard);
      const putBackTwice = async (job: Job<Envelope>): Promise<void> => {
        if (job.name !== MESSAGES) return;
        const { schema, letters } = job.data;
        const reversed = { schema, letters: letters.toReversed() };
        await queue.add(MESSAGES, reversed, { delay: random.between(1, LATE_MS) });
        await queue.add(MESSAGES, job.data, { delay: random.between(1, LATE_MS) });
        meddled++;
      };
      const options = { ...mailboxOptions(redis, shard), connection: redis, skipStalledCheck: true, drainDelay: 1 };
      const worker = new Worker<Envelope>(mailboxName(shard), putBackTwice, options);
      worker.on("error", () => {});
      return worker;
    });
    await sleep(MEDDLING_MS);
    await Promise.all(strangers.map((stranger) => stranger.close()));
    redis.disconnect();
    if (meddled === 0) context.protocol.violated("wrong", "no envelope was meddled with: the scenario showed nothing");
    await measure(context, "mail untouched");
  },
};

/** One of three masters forgets everything, once by a command and once by a restart. */
export const emptyMaster: Fault = {
  name: "a master of the cluster loses its memory",
  lastsMs: 20_000,
  async strike(context) {
    const { nodes } = context.installation.cluster!;
    context.protocol.struck("a master's memory");
    await context.random.pick(nodes).client.flushall();
    await measure(context, "master emptied");
    context.protocol.struck("a master");
    await context.random.pick(nodes).restartEmpty();
    await measure(context, "master restarted");
  },
};

/** What the servers themselves say: no command named keys of two slots, and all keys of a shard lie on one master. */
export const slotsAreKept: Fault = {
  name: "the masters are asked about slots",
  lastsMs: 1_000,
  async strike({ installation, protocol }) {
    const holders = new Map<string, Set<number>>();
    for (const { client, port } of installation.cluster!.nodes) {
      const errors = await client.info("errorstats");
      if (errors.includes("CROSSSLOT")) protocol.violated("wrong", `a command crossed slots: ${errors}`);
      for (const key of await client.keys("*")) {
        const tag = /\{[^}]+\}/.exec(key)?.[0];
        if (tag === undefined) protocol.violated("wrong", `${key} has no hash tag`);
        else holders.set(tag, (holders.get(tag) ?? new Set()).add(port));
      }
    }
    if (holders.size < 3)
      protocol.violated("wrong", `the masters hold ${holders.size} kinds of keys only: the scenario showed nothing`);
    for (const [tag, ports] of holders)
      if (ports.size > 1) protocol.violated("wrong", `keys of ${tag} lie on ${ports.size} masters`);
  },
};

async function measure(context: FaultContext, what: string): Promise<void> {
  const since = performance.now();
  await worksAgain(context);
  context.protocol.recovered(what, performance.now() - since, OUTAGE_BOUND_MS);
}
