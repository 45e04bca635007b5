/**
 * A node's part in owning shards: it says that it lives, works out which shards should be its own, takes those that are
 * free, renews its leases, and lets go of what has become another's.
 */
import type { Logger } from "../src/domain/logger.ts";
import { connectRedis, type RedisClient, type RedisTarget } from "../src/redis/connect.ts";
import { assignShards } from "./assignment.ts";
import { UNVERSIONED_FORMAT, type MessageFormat } from "./envelope.ts";
import { LEASE_MS, leaseKeys, OwnedShard } from "./owned-shard.ts";
import type { EpochSource, ShardHandler } from "./ports.ts";
import { RedisIdentity } from "./redis-identity.ts";
import { beat, leave } from "./scripts.ts";

export interface ShardOwnerOptions {
  readonly redis: RedisTarget;
  /** New with each start of the process. */
  readonly nodeId: string;
  readonly shards: number;
  readonly handler: ShardHandler;
  /** A key with the hash tag of what the handler tells Redis beside its mailboxes; see {@link RedisIdentity}. */
  readonly witness: string;
  readonly epochs: EpochSource;
  /** Without one, letters are taken as they are. */
  readonly format?: MessageFormat;
  readonly log: Logger;
}

export interface ShardHealth {
  readonly shard: number;
  /** Since the last canary came back, milliseconds. */
  readonly lastCanaryMs: number;
  readonly ok: boolean;
}

const TICK_MS = 500;
/** Leases are renewed in every so many rounds. */
const RENEW_TICKS = 2;
const EXPIRY_CHECK_MS = 100;
const CANARY_MS = 10_000;
/** Two looks in a row find what a zombie has fetched, so it is back after ten seconds at most. */
const RECLAIM_MS = 5_000;
const CANARY_LATE_MS = 25_000;

export class ShardOwner {
  readonly #options: ShardOwnerOptions;
  readonly #redis: RedisClient;
  readonly #identity: RedisIdentity;
  readonly #owned = new Map<number, OwnedShard>();
  readonly #releasing = new Map<number, Promise<void>>();
  #tickTimer: NodeJS.Timeout | undefined;
  #ticking: Promise<void> = Promise.resolve();
  #ticks = 0;
  #redisRunId = "";
  #timers: NodeJS.Timeout[] = [];
  #leaving = false;
  #stopped = false;

  constructor(options: ShardOwnerOptions) {
    this.#options = options;
    this.#redis = connectRedis(options.redis, { role: "consumer", log: options.log });
    this.#redis.setMaxListeners(0);
    this.#identity = new RedisIdentity(this.#redis, options.witness);
  }

  /** Resolves when the node has tried once to take its shards. */
  async start(): Promise<void> {
    this.#timers = [
      setInterval(() => this.#dropExpired(), EXPIRY_CHECK_MS),
      setInterval(() => void this.#forEachOpen((owned) => owned.sendCanary()), CANARY_MS),
      setInterval(() => void this.#forEachOpen((owned) => owned.reclaim()), RECLAIM_MS),
    ];
    await this.#tick();
    this.#schedule();
  }

  /** Leaves in good order: every shard is drained while its lease is renewed, then given back. */
  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#leaving = true;
    await leave(this.#redis, this.#options.nodeId).catch(() => undefined);
    await this.#ticking;
    for (const shard of this.#owned.values()) this.#release(shard);
    await Promise.all(this.#releasing.values());
    this.#stopped = true;
    clearTimeout(this.#tickTimer);
    for (const timer of this.#timers) clearInterval(timer);
    await this.#ticking;
    this.#redis.disconnect();
  }

  /** Shards that are open here, ascending. */
  owned(): readonly number[] {
    return [...this.#owned.values()]
      .filter(({ isOpen }) => isOpen)
      .map(({ shard }) => shard)
      .toSorted((a, b) => a - b);
  }

  health(): readonly ShardHealth[] {
    const now = performance.now();
    return [...this.#owned.values()].map((owned) => {
      const lastCanaryMs = owned.canaryAgeMs(now);
      return { shard: owned.shard, lastCanaryMs, ok: lastCanaryMs <= CANARY_LATE_MS };
    });
  }

  #schedule(): void {
    this.#tickTimer = setTimeout(() => {
      this.#ticking = this.#tick().finally(() => {
        if (!this.#stopped) this.#schedule();
      });
    }, TICK_MS);
  }

  async #tick(): Promise<void> {
    try {
      const { nodeId, shards } = this.#options;
      // What is free is looked for more often than what is owned must be renewed.
      if (this.#ticks++ % RENEW_TICKS === 0) {
        const redisRunId = await this.#identity.read();
        this.#redisRunId = redisRunId;
        await Promise.all([...this.#owned.values()].map((owned) => this.#renew(owned, redisRunId)));
      }
      if (this.#leaving) return;
      const members = await beat(this.#redis, nodeId, LEASE_MS);
      const owners = assignShards(members, shards);
      await Promise.all(owners.map((owner, shard) => this.#settle(shard, owner === nodeId, this.#redisRunId)));
    } catch (error) {
      this.#options.log.debug({ error: String(error) }, "a round of ownership failed; the next one follows");
    }
  }

  /** Brings one shard to where it should be. */
  async #settle(shard: number, isOurs: boolean, redisRunId: string): Promise<void> {
    const owned = this.#owned.get(shard);
    if (isOurs && owned === undefined) await this.#acquire(shard, redisRunId);
    else if (!isOurs && owned?.isOpen) this.#release(owned);
  }

  async #acquire(shard: number, redisRunId: string): Promise<void> {
    const { nodeId, handler, epochs, format = UNVERSIONED_FORMAT, log } = this.#options;
    const askedAt = performance.now();
    const won = await this.#redis.set(leaseKeys(shard).lease, nodeId, "PX", LEASE_MS, "NX");
    if (won === null || this.#leaving) return;
    const owned = new OwnedShard({ redis: this.#redis, shard, holder: nodeId, handler, epochs, format, log }, askedAt);
    this.#owned.set(shard, owned);
    // Opening may take longer than a round: the rounds go on and renew the lease meanwhile.
    void owned.open(redisRunId).catch((error: unknown) => {
      log.warn({ shard, error: String(error) }, "a shard could not be opened; trying again");
      this.#drop(owned);
    });
  }

  async #renew(owned: OwnedShard, redisRunId: string): Promise<void> {
    const now = performance.now();
    if (!(await owned.renew(redisRunId, now))) this.#drop(owned);
  }

  #release(owned: OwnedShard): void {
    const { shard } = owned;
    if (this.#releasing.has(shard)) return;
    const released = owned
      .release()
      .catch((error: unknown) => {
        this.#options.log.warn({ shard, error: String(error) }, "a shard could not be given up in good order");
        owned.abandon();
      })
      .finally(() => {
        this.#releasing.delete(shard);
        if (this.#owned.get(shard) === owned) this.#owned.delete(shard);
      });
    this.#releasing.set(shard, released);
  }

  #drop(owned: OwnedShard): void {
    if (this.#owned.get(owned.shard) === owned) this.#owned.delete(owned.shard);
    owned.abandon();
  }

  /** A command that hangs with Redis must not keep a lease alive that has run out. */
  #dropExpired(): void {
    const now = performance.now();
    for (const owned of this.#owned.values()) {
      if (!owned.isExpired(now)) continue;
      this.#options.log.warn({ shard: owned.shard }, "the lease of a shard ran out");
      this.#drop(owned);
    }
  }

  /** What fails here is done again by the next round. */
  async #forEachOpen(act: (owned: OwnedShard) => Promise<void>): Promise<void> {
    const open = [...this.#owned.values()].filter(({ isOpen }) => isOpen);
    await Promise.all(open.map((owned) => act(owned).catch(() => undefined)));
  }
}
