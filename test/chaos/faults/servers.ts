/** Faults of the servers that the nodes use: Redis, the store, and the envelopes in the mailboxes. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Job, Worker } from "bullmq";
import { Redis } from "ioredis";
import type { Envelope } from "../../../queues/envelope.ts";
import { MESSAGES, mailboxName, mailboxOptions } from "../../../queues/mailbox.ts";
import { SHARDS } from "../world/installation.ts";
import { type Fault, type FaultContext, waitUntilWorking } from "./fault.ts";

export const OUTAGE_MS = 15_000;
const OUTAGE_BOUND_MS = 10_000;
const SLOW_CALL_MS = 200;
const CUT_EVERY = 25;
const CUTTING_MS = 10_000;
const DISTURBANCE_MS = 12_000;
const MAX_DELAY_MS = 1_500;

/** Redis comes back with its append-only file, whose last second may be missing. */
export const restartRedis: Fault = {
  name: "SIGKILL of Redis",
  lastsMs: 5_000,
  target: "redis",
  async inject(context) {
    const { redis } = context.installation;
    context.record.addKill("Redis");
    await redis!.kill();
    await redis!.restart();
    await measure(context, "Redis restarted");
  },
};

export const redisOutage: Fault = {
  name: "Redis down for 15 s",
  lastsMs: 20_000,
  target: "redis",
  async inject(context) {
    const { redis } = context.installation;
    context.record.addKill("Redis");
    await context.record.whileOut(async () => {
      await redis!.kill();
      await sleep(OUTAGE_MS);
      await redis!.restart();
    });
    await measure(context, "Redis back");
  },
};

export const flushRedis: Fault = {
  name: "FLUSHALL",
  lastsMs: 6_000,
  target: "redis",
  async inject(context) {
    context.record.addKill("the data of Redis");
    const client = new Redis(context.installation.redis!.url);
    await client.flushall();
    client.disconnect();
    await measure(context, "Redis emptied");
  },
};

export const storeOutage: Fault = {
  name: "MongoDB down for 15 s",
  lastsMs: 20_000,
  target: "store",
  async inject(context) {
    const { mongo } = context.installation;
    context.record.addKill("MongoDB");
    await context.record.whileOut(async () => {
      await mongo!.goDown();
      await sleep(OUTAGE_MS);
      await mongo!.comeUp();
    });
    await measure(context, "MongoDB back");
  },
};

export const slowStore: Fault = {
  name: "MongoDB takes 200 ms a call",
  lastsMs: 18_000,
  target: "store",
  async inject(context) {
    const { mongo } = context.installation;
    context.record.addKill("MongoDB's speed");
    mongo!.slowDown(SLOW_CALL_MS);
    await sleep(OUTAGE_MS);
    context.installation.restoreStoreSpeed();
    await measure(context, "MongoDB fast again");
  },
};

/** MongoDB performs the call, but the caller's connection is cut before the answer. */
export const cutStore: Fault = {
  name: "MongoDB's connections cut in the middle of calls",
  lastsMs: 14_000,
  target: "store",
  async inject(context) {
    const { mongo } = context.installation;
    context.record.addKill("MongoDB's connections");
    await context.record.whileDisturbed(async () => {
      mongo!.cutEvery(CUT_EVERY);
      await sleep(CUTTING_MS);
      mongo!.cutEvery(0);
    });
    await measure(context, "MongoDB's connections whole");
  },
};

/**
 * A second reader takes a share of the envelopes out of the mailboxes and puts each back twice, later and in another
 * order.
 */
export const disturbMailboxes: Fault = {
  name: "envelopes doubled, delayed and reordered",
  lastsMs: 15_000,
  target: "redis",
  async inject(context) {
    const { random, installation, probe } = context;
    const redis = new Redis(installation.redis!.url, { maxRetriesPerRequest: null });
    redis.setMaxListeners(0);
    context.record.addKill("the mailboxes");
    let disturbed = 0;
    const readers = Array.from({ length: SHARDS }, (_, shard) => {
      const queue = probe!.queueOf(shard);
      const putBackTwice = async (job: Job<Envelope>): Promise<void> => {
        if (job.name !== MESSAGES) return;
        const { schema, letters } = job.data;
        const reversed = { schema, letters: letters.toReversed() };
        await queue.add(MESSAGES, reversed, { delay: random.between(1, MAX_DELAY_MS) });
        await queue.add(MESSAGES, job.data, { delay: random.between(1, MAX_DELAY_MS) });
        disturbed++;
      };
      const options = { ...mailboxOptions(redis, shard), connection: redis, skipStalledCheck: true, drainDelay: 1 };
      const worker = new Worker<Envelope>(mailboxName(shard), putBackTwice, options);
      worker.on("error", () => {});
      return worker;
    });
    await sleep(DISTURBANCE_MS);
    await Promise.all(readers.map((reader) => reader.close()));
    redis.disconnect();
    if (disturbed === 0) context.record.addViolation("wrong", "no envelope was disturbed: the scenario showed nothing");
    await measure(context, "mailboxes undisturbed");
  },
};

/** One of three masters loses its data, once by a command and once by a restart. */
export const emptyMaster: Fault = {
  name: "a master of the Redis Cluster loses its data",
  lastsMs: 20_000,
  target: "redis",
  async inject(context) {
    const { nodes } = context.installation.cluster!;
    context.record.addKill("a master's data");
    await context.random.pick(nodes).client.flushall();
    await measure(context, "master emptied");
    context.record.addKill("a master");
    await context.random.pick(nodes).restartEmpty();
    await measure(context, "master restarted");
  },
};

/** Asks the masters: no command named keys of two slots, and all keys of a shard lie on one master. */
export const checkSlots: Fault = {
  name: "the masters are asked about slots",
  lastsMs: 1_000,
  target: "all",
  async inject({ installation, record }) {
    const holders = new Map<string, Set<number>>();
    for (const { client, port } of installation.cluster!.nodes) {
      const errors = await client.info("errorstats");
      if (errors.includes("CROSSSLOT")) record.addViolation("wrong", `a command crossed slots: ${errors}`);
      for (const key of await client.keys("*")) {
        const tag = /\{[^}]+\}/.exec(key)?.[0];
        if (tag === undefined) record.addViolation("wrong", `${key} has no hash tag`);
        else holders.set(tag, (holders.get(tag) ?? new Set()).add(port));
      }
    }
    if (holders.size < 3)
      record.addViolation("wrong", `the masters hold ${holders.size} kinds of keys only: the scenario showed nothing`);
    for (const [tag, ports] of holders)
      if (ports.size > 1) record.addViolation("wrong", `keys of ${tag} lie on ${ports.size} masters`);
  },
};

/** Measures the time until the installation works again. */
export async function measure(context: FaultContext, what: string): Promise<void> {
  const since = performance.now();
  await waitUntilWorking(context);
  context.record.addRecovery(what, performance.now() - since, OUTAGE_BOUND_MS);
}
