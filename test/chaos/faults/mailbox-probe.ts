/**
 * A probe of the mailboxes: sends an empty envelope to each one and measures the time until the shard's owner has taken
 * it.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Queue } from "bullmq";
import { pino } from "pino";
import { ENVELOPE_SCHEMA, type Envelope } from "../../../queues/envelope.ts";
import { CANARY, mailboxName, mailboxOptions } from "../../../queues/mailbox.ts";
import { leaseKeys } from "../../../queues/owned-shard.ts";
import { OwnerBell } from "../../../queues/owner-bell.ts";
import { connectRedis, type RedisClient, type RedisTarget } from "../../../src/redis/connect.ts";
import { SHARDS } from "../world/installation.ts";

const POLL_MS = 20;

export class MailboxProbe {
  readonly #redis: RedisClient;
  readonly #queues: readonly Queue<Envelope>[];
  readonly #bell: OwnerBell;

  constructor(target: RedisTarget) {
    this.#redis = connectRedis(target, { role: "consumer", log: pino({ level: "silent" }) });
    this.#redis.setMaxListeners(0);
    this.#bell = new OwnerBell(this.#redis);
    this.#queues = Array.from({ length: SHARDS }, (_, shard) => {
      const queue = new Queue<Envelope>(mailboxName(shard), mailboxOptions(this.#redis, shard));
      queue.on("error", () => {});
      return queue;
    });
  }

  get redis(): RedisClient {
    return this.#redis;
  }

  queueOf(shard: number): Queue<Envelope> {
    return this.#queues[shard]!;
  }

  /** Sends one envelope to each mailbox. Resolves when all are taken, with the longest wait in milliseconds. */
  async measureLongestWait(): Promise<number> {
    const waits = await Promise.all(this.#queues.map((queue, shard) => this.#send(queue, shard)));
    return Math.max(...waits);
  }

  /** The holder of each shard's lease, by shard number; null for a shard without an owner. */
  async owners(): Promise<readonly (string | null)[]> {
    return Promise.all(Array.from({ length: SHARDS }, (_, shard) => this.#redis.get(leaseKeys(shard).lease)));
  }

  /** Number of BullMQ jobs that the owners of the shards could not read. */
  async failed(): Promise<number> {
    const counts = await Promise.all(this.#queues.map((queue) => queue.getFailedCount()));
    return counts.reduce((sum, count) => sum + count, 0);
  }

  async close(): Promise<void> {
    await Promise.all(this.#queues.map((queue) => queue.close()));
    this.#redis.disconnect();
  }

  async #send(queue: Queue<Envelope>, shard: number): Promise<number> {
    const sentAt = performance.now();
    const job = await queue.add(CANARY, { schema: ENVELOPE_SCHEMA, letters: [] });
    this.#bell.ring(shard);
    while (await this.#redis.exists(queue.toKey(job.id!))) await sleep(POLL_MS);
    return performance.now() - sentAt;
  }
}
