/**
 * One shard that this node owns, from the moment it wins the lease to the end of the lease. The order matters: first
 * the lease, then an epoch from the store, then the return of the envelopes that a dead owner had fetched, and only
 * then the first fetch.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type Job, Queue } from "bullmq";
import { systemClock } from "../src/domain/clock.ts";
import type { Logger } from "../src/domain/logger.ts";
import type { RedisClient } from "../src/redis/connect.ts";
import type { JointReader } from "./joint-reader.ts";
import { type AddressedMessage, ENVELOPE_SCHEMA, type Envelope, type MessageFormat } from "./envelope.ts";
import { CANARY, mailboxName, mailboxOptions, shardTag } from "./mailbox.ts";
import { MailboxReader } from "./mailbox-reader.ts";
import { shardOf } from "./shard-map.ts";
import { ring } from "./wake-key.ts";
import type { EpochSource, RedisMark, ShardHandler } from "./ports.ts";
import { releaseLease, type LeaseKeys, type Renewal } from "./scripts.ts";

export interface OwnedShardOptions {
  readonly redis: RedisClient;
  /** Reads the mailbox, with those of the other shards of this node. */
  readonly joint: JointReader;
  readonly shard: number;
  /** The number of shards. */
  readonly shards: number;
  /** Names this node in the lease. */
  readonly holder: string;
  readonly handler: ShardHandler;
  readonly epochs: EpochSource;
  readonly format: MessageFormat;
  readonly log: Logger;
}

/** Messages that are handed over in this process and not done, at most: as many as a mailbox reader has in hand. */
const TAKEN_MAX = 4_096;
/** Length of the lease of a shard, milliseconds. */
export const LEASE_MS = 3_000;

export class OwnedShard {
  readonly shard: number;
  /** The list of fetched jobs. */
  readonly activeKey: string;
  readonly #options: OwnedShardOptions;
  readonly #queue: Queue<Envelope>;
  readonly #keys: LeaseKeys;
  #reader: MailboxReader | undefined;
  /** The Redis that holds everything that it must hold for this shard, or that is being told it. */
  #mark: RedisMark = { generation: "", redisRunId: "" };
  /** True while a recovery begins: until Redis has its new generation. */
  #beginning = false;
  #epoch = 0;
  #renewedAt: number;
  #ended = false;
  #opened = false;
  /** True once this node has begun to give the shard up. */
  #isLeaving = false;
  #taken = 0;
  #canaryAt: number;
  /** When the oldest canary that has not come back was sent, monotonic milliseconds; null for none. */
  #awaitedSince: number | null = null;

  /** For a lease that this node has won. `wonAt`: monotonic milliseconds, read before the lease was requested. */
  constructor(options: OwnedShardOptions, wonAt: number) {
    this.#options = options;
    this.shard = options.shard;
    this.#renewedAt = wonAt;
    this.#canaryAt = wonAt;
    this.#keys = leaseKeys(options.shard);
    this.#queue = new Queue<Envelope>(mailboxName(this.shard), mailboxOptions(options.redis, this.shard));
    this.#queue.on("error", () => undefined);
    this.activeKey = this.#queue.toKey("active");
  }

  /** {@link OwnedHere.take} for a message of this shard. */
  take(message: AddressedMessage): Promise<boolean> | undefined {
    const isHeld = this.isOpen && !this.#isLeaving && this.leaseLeftMs(performance.now()) > 0;
    return isHeld && this.#taken < TAKEN_MAX ? this.#receiveTaken(message) : undefined;
  }

  async #receiveTaken(message: AddressedMessage): Promise<boolean> {
    this.#taken++;
    try {
      await this.#options.handler.receive(this.shard, [message]);
      return !this.#ended;
    } finally {
      this.#taken--;
    }
  }

  get isOpen(): boolean {
    return this.#opened && !this.#ended;
  }

  /** Time since the last canary came back, milliseconds. */
  canaryAgeMs(now: number): number {
    return now - this.#canaryAt;
  }

  /** How long the oldest canary has been on its way; 0 when none is. */
  canaryWaitMs(now: number): number {
    return this.#awaitedSince === null ? 0 : now - this.#awaitedSince;
  }

  /** Takes over the shard. Rejects when the store or Redis fails; then nothing has been fetched. */
  async open(redisRunId: string): Promise<void> {
    const { redis, epochs, handler } = this.#options;
    // By the time, too: a store that was restored from a backup has forgotten the epochs that were issued since.
    const { epoch, previous } = await epochs.takeEpoch(this.shard, systemClock.now());
    const found = (await redis.get(this.#keys.generation)) ?? "";
    const redisLost = previous !== null && (previous.generation !== found || previous.redisRunId !== redisRunId);
    this.#epoch = epoch;
    this.#mark = redisLost ? previous : { generation: found, redisRunId };
    await this.#returnToMailbox(await this.#activeIds());
    // This node may be able to read envelopes that an older owner could not read; otherwise they fail once more.
    await this.#queue.retryJobs({ state: "failed" });
    this.#throwIfEnded();
    await handler.open(this.shard, epoch);
    this.#throwIfEnded();
    this.#opened = true;
    this.#reader = new MailboxReader({ ...this.#options, queue: this.#queue, receive: (job) => this.#receive(job) });
    if (previous === null) await this.#record({ generation: await this.#newGeneration(), redisRunId });
    else if (redisLost) void this.#recover(redisRunId);
  }

  get keys(): LeaseKeys {
    return this.#keys;
  }

  /** Takes the answer to a renewal of the lease, which was asked for at `now`; false when the lease is lost. */
  onRenewal({ held, generation }: Renewal, redisRunId: string, now: number): boolean {
    if (!held) return false;
    this.#renewedAt = now;
    const isSame = generation === this.#mark.generation && redisRunId === this.#mark.redisRunId;
    if (this.isOpen && !isSame) void this.#recover(redisRunId);
    return true;
  }

  /** To be called in place of {@link onRenewal} when Redis has kept its memory and no other node can have taken the lease. */
  onSameRedis(redisRunId: string, now: number): void {
    this.#renewedAt = now;
    if (this.isOpen && redisRunId !== this.#mark.redisRunId) void this.#recover(redisRunId);
  }

  /** How long the lease lasts by this node's clock, milliseconds; not above 0 when it has run out. */
  leaseLeftMs(now: number): number {
    return this.#renewedAt + LEASE_MS - now;
  }

  /** Ends at once and settles nothing, because the lease is lost. Idempotent. */
  abandon(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#options.handler.close(this.shard, this.#epoch);
    this.#reader?.abandon();
    void this.#queue.close().catch(() => undefined);
  }

  /** Drains the shard and gives the lease back. The caller must renew the lease until this resolves. */
  async release(): Promise<void> {
    const { redis, handler, holder } = this.#options;
    this.#isLeaving = true;
    await this.#reader?.close();
    // The handler knows a shard by its number: this node may own the shard again by now, under a later lease.
    if (this.#ended) return;
    await handler.drain(this.shard);
    if (this.#ended) return;
    this.#ended = true;
    handler.close(this.shard, this.#epoch);
    await releaseLease(redis, this.#keys.lease, holder);
    await this.#queue.close();
  }

  /**
   * Gives the lease back without saving anything, because this node cannot save or must not: the store has everything
   * that the next owner needs. Waits at most `withinMs` for envelopes in hand.
   */
  async surrender(withinMs: number): Promise<void> {
    const { redis, holder } = this.#options;
    this.#isLeaving = true;
    // No envelope is fetched for this node once the next owner has returned those that were in hand.
    const timeout = sleep(withinMs, undefined, { ref: false });
    await Promise.race([this.#reader?.close(), timeout]).catch(() => undefined);
    if (this.#ended) return;
    this.abandon();
    await releaseLease(redis, this.#keys.lease, holder);
  }

  /** Sends an empty envelope to this shard's own mailbox; {@link canaryAgeMs} says when the last one came back. */
  async sendCanary(): Promise<void> {
    this.#awaitedSince ??= performance.now();
    await this.#queue.add(CANARY, { schema: ENVELOPE_SCHEMA, letters: [] });
    const { redis, holder } = this.#options;
    if (redis.isCluster) await ring(redis, holder, `mail:${this.shard}`);
  }

  /**
   * Returns jobs to the mailbox that are `active` and not in this reader's hand: a former owner that was stopped for a
   * while has fetched them, or Redis died before its answer arrived here.
   */
  async reclaim(): Promise<void> {
    const active = await this.#activeIds();
    // What was fetched before on this connection was answered before. The answers are in hand after this turn.
    await new Promise((resolve) => setImmediate(resolve));
    const lost = active.filter((id) => this.#reader?.holds(id) === false);
    if (lost.length === 0 || this.#ended) return;
    await this.#returnToMailbox(lost);
    this.#options.joint.lookInto(this.shard);
  }

  /** True when `reclaim` may find something: so many jobs are `active`. */
  mayReclaim(active: number): boolean {
    return active > (this.#reader?.inHand ?? 0);
  }

  /**
   * Has the handler tell Redis everything again. The new generation is written to Redis first, so that a further loss
   * during the recovery shows as another generation and begins the next recovery, however long this one still takes. The
   * store gets the generation only at the end, so that a next owner starts the recovery again when this one dies before.
   */
  async #recover(redisRunId: string): Promise<void> {
    if (this.#beginning) return;
    this.#beginning = true;
    const { redis, handler, log } = this.#options;
    const before = this.#mark;
    let mark: RedisMark | undefined;
    try {
      const generation = await this.#newGeneration().finally(() => (this.#beginning = false));
      this.#mark = mark = { generation, redisRunId };
      await handler.redisLost(this.shard);
      const isStill = (await redis.get(this.#keys.generation)) === generation;
      if (isStill && !this.#ended) await this.#record(mark);
    } catch (error) {
      if (this.#ended) return;
      log.warn(
        { shard: this.shard, error: String(error) },
        "recovery of a shard failed; the next round starts it again",
      );
      // Redis holds another generation than the earlier mark, so the next renewal begins again.
      if (this.#mark === mark) this.#mark = before;
    }
  }

  async #newGeneration(): Promise<string> {
    const generation = randomUUID();
    await this.#options.redis.set(this.#keys.generation, generation);
    return generation;
  }

  async #record(mark: RedisMark): Promise<void> {
    await this.#options.epochs.recordRedis(this.shard, this.#epoch, mark);
    this.#mark = mark;
  }

  async #activeIds(): Promise<readonly string[]> {
    return this.#options.redis.lrange(this.activeKey, 0, -1);
  }

  /** Returns the newest job first, so that the oldest one is fetched first. */
  async #returnToMailbox(ids: readonly string[]): Promise<void> {
    const backend = this.#queue.getBackend();
    for (const id of ids) await backend.moveJobFromActiveToWait(id, "0");
  }

  async #receive(job: Job<Envelope>): Promise<void> {
    // An owner that has lost its lease settles nothing: this promise never resolves.
    if (this.#ended) return new Promise(() => undefined);
    if (job.name === CANARY) {
      this.#canaryAt = performance.now();
      this.#awaitedSince = null;
      return;
    }
    const { handler, format } = this.#options;
    const { schema, letters: messages } = job.data;
    if (schema > format.schema) {
      throw new Error(
        `the envelope has schema ${schema}, and this node reads up to ${format.schema}: upgrade this node`,
      );
    }
    // An envelope of the time before the number of shards was changed may lie in a mailbox that is no longer its own. The
    // owner of its shard finds its work in the store.
    const ours = messages.filter(({ rootId }) => shardOf(rootId, this.#options.shards) === this.shard);
    await handler.receive(
      this.shard,
      ours.map((message) => format.read(message, schema)),
    );
    if (this.#ended) return new Promise(() => undefined);
  }

  #throwIfEnded(): void {
    if (this.#ended) throw new Error("the lease was lost while the shard was being opened");
  }
}

/** The Redis keys of a shard's lease and of the generation that its owner has written. */
export function leaseKeys(shard: number): LeaseKeys {
  return { lease: `${shardTag(shard)}:owner`, generation: `${shardTag(shard)}:generation` };
}
