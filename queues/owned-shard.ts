/**
 * One shard in this node's hands, from the won lease to its end. The lease comes first, then an epoch from the store,
 * then the mail that a dead owner had taken, and only then the first fetch.
 */
import { randomUUID } from "node:crypto";
import { type Job, Queue } from "bullmq";
import type { Logger } from "../src/domain/logger.ts";
import type { RedisClient } from "../src/redis/connect.ts";
import { ENVELOPE_SCHEMA, type Envelope, type MessageFormat } from "./envelope.ts";
import { CANARY, mailboxName, mailboxOptions, shardTag } from "./mailbox.ts";
import { MailboxReader } from "./mailbox-reader.ts";
import type { EpochSource, RedisMark, ShardHandler } from "./ports.ts";
import { releaseLease, renewLease } from "./scripts.ts";

export interface OwnedShardOptions {
  readonly redis: RedisClient;
  readonly shard: number;
  /** Names this node in the lease. */
  readonly holder: string;
  readonly handler: ShardHandler;
  readonly epochs: EpochSource;
  readonly format: MessageFormat;
  readonly log: Logger;
}

export const LEASE_MS = 3_000;

export class OwnedShard {
  readonly shard: number;
  readonly #options: OwnedShardOptions;
  readonly #queue: Queue<Envelope>;
  readonly #keys: { readonly lease: string; readonly generation: string };
  #suspects = new Set<string>();
  #reader: MailboxReader | undefined;
  /** The Redis that has been told everything. */
  #mark: RedisMark = { generation: "", redisRunId: "" };
  #recovering = false;
  #epoch = 0;
  #renewedAt: number;
  #ended = false;
  #opened = false;
  #canaryAt: number;

  /** For a lease that was won at `wonAt` (monotonic milliseconds, taken before it was asked for). */
  constructor(options: OwnedShardOptions, wonAt: number) {
    this.#options = options;
    this.shard = options.shard;
    this.#renewedAt = wonAt;
    this.#canaryAt = wonAt;
    this.#keys = leaseKeys(options.shard);
    this.#queue = new Queue<Envelope>(mailboxName(this.shard), mailboxOptions(options.redis, this.shard));
    this.#queue.on("error", () => undefined);
  }

  get isOpen(): boolean {
    return this.#opened && !this.#ended;
  }

  /** Time since the last canary came back, milliseconds. */
  canaryAgeMs(now: number): number {
    return now - this.#canaryAt;
  }

  /** Takes over; rejects when the store or Redis fails, and then nothing has been fetched. */
  async open(redisRunId: string): Promise<void> {
    const { redis, epochs, handler } = this.#options;
    const { epoch, previous } = await epochs.takeEpoch(this.shard);
    const found = (await redis.get(this.#keys.generation)) ?? "";
    const redisLost = previous !== null && (previous.generation !== found || previous.redisRunId !== redisRunId);
    this.#epoch = epoch;
    this.#mark = { generation: found, redisRunId };
    await this.#giveBack(await this.#activeIds());
    // What an owner could not read, since a newer node had written it, this one may; else it fails again, once.
    await this.#queue.retryJobs({ state: "failed" });
    this.#throwIfEnded();
    await handler.open(this.shard, epoch);
    if (this.#ended) handler.close(this.shard);
    this.#throwIfEnded();
    this.#opened = true;
    this.#reader = new MailboxReader({ ...this.#options, queue: this.#queue, receive: (job) => this.#receive(job) });
    if (previous === null) await this.#record(await this.#newGeneration(), redisRunId);
    else if (redisLost) void this.#recover(redisRunId);
  }

  /** Renews the lease; false when it is somebody else's, or nobody's, now. */
  async renew(redisRunId: string, now: number): Promise<boolean> {
    const { redis, holder } = this.#options;
    const { held, generation } = await renewLease(redis, this.#keys, holder, LEASE_MS);
    if (!held) return false;
    this.#renewedAt = now;
    const isSame = generation === this.#mark.generation && redisRunId === this.#mark.redisRunId;
    if (this.isOpen && !isSame) void this.#recover(redisRunId);
    return true;
  }

  isExpired(now: number): boolean {
    return now - this.#renewedAt >= LEASE_MS;
  }

  /** The lease is lost: ends at once and settles nothing. Idempotent. */
  abandon(): void {
    if (this.#ended) return;
    this.#ended = true;
    if (this.#opened) this.#options.handler.close(this.shard);
    this.#reader?.abandon();
    void this.#queue.close().catch(() => undefined);
  }

  /** Gives the shard up in good order; the lease must be renewed until this resolves. */
  async release(): Promise<void> {
    const { redis, handler, holder } = this.#options;
    await this.#reader?.close();
    await handler.drain(this.shard);
    if (this.#ended) return;
    this.#ended = true;
    handler.close(this.shard);
    await releaseLease(redis, this.#keys.lease, holder);
    await this.#queue.close();
  }

  async sendCanary(): Promise<void> {
    await this.#queue.add(CANARY, { schema: ENVELOPE_SCHEMA, letters: [] });
  }

  /**
   * Gives back what is `active` without being in hand: a zombie that woke up may have fetched it. A job counts only
   * when two calls in a row find it, since one that was just fetched is not in hand yet.
   */
  async reclaim(): Promise<void> {
    const strangers = (await this.#activeIds()).filter((id) => this.#reader?.holds(id) !== true);
    await this.#giveBack(strangers.filter((id) => this.#suspects.has(id)));
    this.#suspects = new Set(strangers);
  }

  /**
   * Has Redis told everything again. The new generation is in Redis from the beginning, so that another loss meanwhile
   * shows at the end; the store learns of it only then, so that whoever follows a dead owner begins anew.
   */
  async #recover(redisRunId: string): Promise<void> {
    if (this.#recovering) return;
    this.#recovering = true;
    const { redis, handler, log } = this.#options;
    try {
      const generation = await this.#newGeneration();
      await handler.redisLost(this.shard);
      const isStill = (await redis.get(this.#keys.generation)) === generation;
      if (isStill && !this.#ended) await this.#record(generation, redisRunId);
    } catch (error) {
      log.warn(
        { shard: this.shard, error: String(error) },
        "recovery of a shard failed; the next round begins it anew",
      );
    } finally {
      this.#recovering = false;
    }
  }

  async #newGeneration(): Promise<string> {
    const generation = randomUUID();
    await this.#options.redis.set(this.#keys.generation, generation);
    return generation;
  }

  async #record(generation: string, redisRunId: string): Promise<void> {
    await this.#options.epochs.recordRedis(this.shard, this.#epoch, { generation, redisRunId });
    this.#mark = { generation, redisRunId };
  }

  async #activeIds(): Promise<readonly string[]> {
    return this.#options.redis.lrange(this.#queue.toKey("active"), 0, -1);
  }

  /** Newest first, so that the oldest is fetched first. */
  async #giveBack(ids: readonly string[]): Promise<void> {
    const backend = this.#queue.getBackend();
    for (const id of ids) await backend.moveJobFromActiveToWait(id, "0");
  }

  async #receive(job: Job<Envelope>): Promise<void> {
    // An owner that has lost its lease settles nothing: BullMQ is never answered.
    if (this.#ended) return new Promise(() => undefined);
    if (job.name === CANARY) {
      this.#canaryAt = performance.now();
      return;
    }
    const { handler, format } = this.#options;
    const { schema, letters } = job.data;
    if (schema > format.schema) {
      throw new Error(
        `the envelope has schema ${schema}, and this node reads up to ${format.schema}: upgrade this node`,
      );
    }
    const read = letters.map((letter) => format.read(letter, schema));
    await handler.receive(this.shard, read);
    if (this.#ended) return new Promise(() => undefined);
  }

  #throwIfEnded(): void {
    if (this.#ended) throw new Error("the lease was lost while the shard was being opened");
  }
}

export function leaseKeys(shard: number): { readonly lease: string; readonly generation: string } {
  return { lease: `${shardTag(shard)}:owner`, generation: `${shardTag(shard)}:generation` };
}
