/**
 * A model of one owned shard (queues/owned-shard.ts with queues/mailbox-reader.ts), in the same order of calls. The
 * real classes work on BullMQ and a real Redis.
 */
import type { EpochSource, RedisMark, ShardHandler } from "../../../queues/ports.ts";
import type { Draws } from "../engine/draws.ts";
import type { Process } from "../engine/process.ts";
import type { Envelope } from "../redis/mailboxes.ts";
import type { RedisServer } from "../redis/redis-server.ts";

/** As in queues/owned-shard.ts. */
export const LEASE_MS = 3_000;
/** As in queues/mailbox-reader.ts. */
const CONCURRENCY = 64;
const LONGEST_WAIT_MS = 5_000;
const RETRY_MS = 500;

export interface SimulatedShardOptions {
  readonly redis: RedisServer;
  readonly process: Process;
  readonly draws: Draws;
  readonly shard: number;
  readonly handler: ShardHandler;
  readonly epochs: EpochSource;
}

export class SimulatedShard {
  readonly shard: number;
  readonly #options: SimulatedShardOptions;
  readonly #inHand = new Set<number>();
  #suspects = new Set<number>();
  #mark: RedisMark = { generation: "", redisRunId: "" };
  /** True while a recovery begins: until Redis has its new generation. */
  #beginning = false;
  #epoch = 0;
  #renewedAt: number;
  #ended = false;
  #opened = false;
  #closing = false;
  #settledWaiters: (() => void)[] = [];

  constructor(options: SimulatedShardOptions, wonAt: number) {
    this.#options = options;
    this.shard = options.shard;
    this.#renewedAt = wonAt;
  }

  get isOpen(): boolean {
    return this.#opened && !this.#ended;
  }

  async open(redisRunId: string): Promise<void> {
    const { handler, epochs, redis } = this.#options;
    const { epoch, previous } = await epochs.takeEpoch(this.shard, this.#options.process.clock.now());
    const found = await this.#call("generation", () => redis.leases.generation(this.shard));
    const redisLost = previous !== null && (previous.generation !== found || previous.redisRunId !== redisRunId);
    this.#epoch = epoch;
    this.#mark = redisLost ? previous : { generation: found, redisRunId };
    await this.#returnToMailbox(await this.#activeIds());
    this.#throwIfEnded();
    await handler.open(this.shard, epoch);
    this.#throwIfEnded();
    this.#opened = true;
    void this.#read();
    this.#scheduleReclaim();
    if (previous === null) await this.#record({ generation: await this.#newGeneration(), redisRunId });
    else if (redisLost) void this.#recover(redisRunId);
  }

  async renew(redisRunId: string, holder: string, now: number): Promise<boolean> {
    const { leases } = this.#options.redis;
    const { held, generation } = await this.#call("renew", () => leases.renew(this.shard, holder, LEASE_MS));
    if (!held) return false;
    this.#renewedAt = now;
    const isSame = generation === this.#mark.generation && redisRunId === this.#mark.redisRunId;
    if (this.isOpen && !isSame) void this.#recover(redisRunId);
    return true;
  }

  leaseLeftMs(now: number): number {
    return this.#renewedAt + LEASE_MS - now;
  }

  abandon(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#options.handler.close(this.shard, this.#epoch);
    this.#closing = true;
    this.#wakeSettledWaiters();
  }

  async release(holder: string): Promise<void> {
    const { handler, redis } = this.#options;
    this.#closing = true;
    while (this.#inHand.size > 0 && !this.#ended) await this.#nextSettled();
    await handler.drain(this.shard);
    if (this.#ended) return;
    this.#ended = true;
    handler.close(this.shard, this.#epoch);
    await this.#call("release", () => redis.leases.release(this.shard, holder));
  }

  #scheduleReclaim(): void {
    this.#options.process.after(5_000, () => {
      if (!this.isOpen) return;
      void this.#reclaim()
        .catch(() => undefined)
        .finally(() => this.#scheduleReclaim());
    });
  }

  async #reclaim(): Promise<void> {
    const foreign = (await this.#activeIds()).filter((id) => !this.#inHand.has(id));
    await this.#returnToMailbox(foreign.filter((id) => this.#suspects.has(id)));
    this.#suspects = new Set(foreign);
  }

  async #recover(redisRunId: string): Promise<void> {
    if (this.#beginning) return;
    this.#beginning = true;
    const { handler, redis } = this.#options;
    const before = this.#mark;
    let mark: RedisMark | undefined;
    try {
      const generation = await this.#newGeneration().finally(() => (this.#beginning = false));
      this.#mark = mark = { generation, redisRunId };
      await handler.redisLost(this.shard);
      const isStill = (await this.#call("generation", () => redis.leases.generation(this.shard))) === generation;
      if (isStill && !this.#ended) await this.#record(mark);
    } catch {
      // The next renewal begins again.
      if (!this.#ended && this.#mark === mark) this.#mark = before;
    }
  }

  async #newGeneration(): Promise<string> {
    const { draws, redis } = this.#options;
    const generation = draws.name("generation");
    await this.#call("new generation", () => redis.leases.setGeneration(this.shard, generation));
    return generation;
  }

  async #record(mark: RedisMark): Promise<void> {
    await this.#options.epochs.recordRedis(this.shard, this.#epoch, mark);
    this.#mark = mark;
  }

  #activeIds(): Promise<readonly number[]> {
    return this.#call("active", () => this.#options.redis.mailboxes.activeIds(this.shard));
  }

  async #returnToMailbox(ids: readonly number[]): Promise<void> {
    if (ids.length === 0) return;
    await this.#call("return envelopes", () => this.#options.redis.mailboxes.returnToMailbox(this.shard, ids));
  }

  async #read(): Promise<void> {
    const { process, redis } = this.#options;
    while (!this.#closing) {
      try {
        while (this.#inHand.size >= CONCURRENCY && !this.#closing) await this.#nextSettled();
        const envelope = await this.#call("fetch", () => redis.mailboxes.fetch(this.shard));
        if (envelope === undefined) await this.#nextMarker();
        // An abandoned reader leaves the envelope active: the next owner returns it.
        else if (!this.#ended) {
          this.#inHand.add(envelope.id);
          void this.#handle(envelope);
        }
      } catch {
        await new Promise<void>((resolve) => process.after(RETRY_MS, resolve));
      }
    }
  }

  #nextMarker(): Promise<void> {
    const { process, redis } = this.#options;
    return new Promise((resolve) => {
      const cancel = process.after(LONGEST_WAIT_MS, resolve);
      redis.mailboxes.onMarker(this.shard, () => {
        cancel();
        process.after(redis.service.delayOfMessage(), resolve);
      });
    });
  }

  async #handle({ id, message }: Envelope): Promise<void> {
    const { handler, process, redis } = this.#options;
    await handler.receive(this.shard, [message]);
    // An owner that has lost its lease settles nothing.
    while (!this.#ended) {
      try {
        await this.#call(`complete ${id}`, () => redis.mailboxes.complete(this.shard, id));
        break;
      } catch {
        await new Promise<void>((resolve) => process.after(RETRY_MS, resolve));
      }
    }
    this.#inHand.delete(id);
    this.#wakeSettledWaiters();
  }

  #nextSettled(): Promise<void> {
    return new Promise((resolve) => this.#settledWaiters.push(resolve));
  }

  #wakeSettledWaiters(): void {
    for (const resolve of this.#settledWaiters.splice(0)) resolve();
  }

  #call<T>(what: string, apply: () => T): Promise<T> {
    const { process, redis } = this.#options;
    return redis.service.call(process, `${what} of shard ${this.shard}`, apply);
  }

  #throwIfEnded(): void {
    if (this.#ended) throw new Error("the lease was lost while the shard was being opened");
  }
}
