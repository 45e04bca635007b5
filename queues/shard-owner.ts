/**
 * Owns shards on behalf of one node: it announces the node as a member, computes which shards the node should own,
 * takes those that are free, renews their leases, and releases the shards that another node should own.
 */
import type { Logger } from "../src/domain/logger.ts";
import { connectRedis, type RedisClient, type RedisTarget } from "../src/redis/connect.ts";
import { assignShards } from "./assignment.ts";
import { UNVERSIONED_FORMAT, type MessageFormat } from "./envelope.ts";
import { LEASE_MS, leaseKeys, OwnedShard } from "./owned-shard.ts";
import type { OwnershipGuard } from "./ownership-guard.ts";
import type { EpochSource, ShardHandler } from "./ports.ts";
import { RedisIdentity } from "./redis-identity.ts";
import { beat, leave } from "./scripts.ts";

export interface ShardOwnerOptions {
  readonly redis: RedisTarget;
  /** New with each start of the process. */
  readonly nodeId: string;
  readonly shards: number;
  readonly handler: ShardHandler;
  /**
   * The witness key of {@link RedisIdentity}. It has the hash tag of the board, which the handler writes beside the
   * mailboxes.
   */
  readonly witness: string;
  readonly epochs: EpochSource;
  /** Absent: messages are read as they are. */
  readonly format?: MessageFormat;
  /** Absent: this node may own shards whenever it reaches Redis. */
  readonly guard?: OwnershipGuard;
  readonly log: Logger;
}

export interface ShardHealth {
  readonly shard: number;
  /** Time since the last canary came back, milliseconds. */
  readonly lastCanaryMs: number;
  readonly ok: boolean;
}

/** Time between two rounds: each one takes free shards and releases those of other nodes. */
const TICK_MS = 500;
/** Every second round also renews the leases. */
const RENEW_TICKS = 2;
const EXPIRY_CHECK_MS = 100;
const CANARY_MS = 10_000;
/** A job that a former owner has fetched is returned after two checks: after ten seconds at most. */
const RECLAIM_MS = 5_000;
/** A shard whose canary has not come back for this long is not healthy. */
const CANARY_OVERDUE_MS = 25_000;
/** How long a worker that may own no shard waits for envelopes in hand before it gives a shard up. */
const SURRENDER_MS = 200;

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
  #members = 0;
  #isBarred = false;
  #timers: NodeJS.Timeout[] = [];
  #leaving = false;
  #stopped = false;

  constructor(options: ShardOwnerOptions) {
    this.#options = options;
    this.#redis = connectRedis(options.redis, { role: "consumer", log: options.log });
    this.#redis.setMaxListeners(0);
    this.#identity = new RedisIdentity(this.#redis, options.witness);
  }

  /** Resolves when the node has tried to take its shards for the first time. */
  async start(): Promise<void> {
    this.#timers = [
      setInterval(() => this.#dropExpired(), EXPIRY_CHECK_MS),
      setInterval(() => void this.#forEachOpen((owned) => owned.sendCanary()), CANARY_MS),
      setInterval(() => void this.#forEachOpen((owned) => owned.reclaim()), RECLAIM_MS),
    ];
    await this.#tick();
    this.#schedule();
  }

  /** Leaves in good order: drains every shard while its lease is renewed, then gives the lease back. Idempotent. */
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

  /** Health of the shards that this node holds. `ok`: the last canary came back within 25 s. */
  health(): readonly ShardHealth[] {
    const now = performance.now();
    return [...this.#owned.values()].map((owned) => {
      const lastCanaryMs = owned.canaryAgeMs(now);
      return { shard: owned.shard, lastCanaryMs, ok: lastCanaryMs <= CANARY_OVERDUE_MS };
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
      // Free shards are looked for in every round; leases need renewing less often.
      if (this.#ticks++ % RENEW_TICKS === 0) {
        const redisRunId = await this.#identity.read();
        this.#redisRunId = redisRunId;
        await Promise.all([...this.#owned.values()].map((owned) => this.#renew(owned, redisRunId)));
      }
      if (this.#leaving) return;
      if (await this.#barredByGuard()) return;
      const members = await beat(this.#redis, nodeId, LEASE_MS);
      this.#members = members.length;
      const owners = assignShards(members, shards);
      await Promise.all(owners.map((owner, shard) => this.#settle(shard, owner === nodeId, this.#redisRunId)));
    } catch (error) {
      this.#options.log.debug({ error: String(error) }, "a round of ownership failed; the next one follows");
    }
  }

  /**
   * Asks the guard. While it bars this node, the node is no member, so that every other node, also of an older release,
   * leaves it out of the assignment; and it holds no shard.
   */
  async #barredByGuard(): Promise<boolean> {
    const { guard, log, nodeId } = this.#options;
    if (guard === undefined) return false;
    await guard.check(this.#members);
    const { bar, reason } = guard;
    if (bar !== null && !this.#isBarred) log.warn({ bar, reason }, "this worker gives its shards up");
    if (bar === null && this.#isBarred) log.info({}, "this worker may own shards again");
    this.#isBarred = bar !== null;
    if (bar === null) return false;
    await leave(this.#redis, nodeId);
    await Promise.all([...this.#owned.values()].map((owned) => this.#surrender(owned)));
    return true;
  }

  async #surrender(owned: OwnedShard): Promise<void> {
    await owned.surrender(SURRENDER_MS);
    if (this.#owned.get(owned.shard) === owned) this.#owned.delete(owned.shard);
  }

  /** Takes a free shard that this node should own; releases a shard that another node should own. */
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
    // Opening may take longer than a round. It is not awaited, so that the rounds continue and renew the lease.
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

  /** Drops shards whose lease has run out by this node's clock, also while the command that renews it hangs. */
  #dropExpired(): void {
    const now = performance.now();
    for (const owned of this.#owned.values()) {
      if (!owned.isExpired(now)) continue;
      this.#options.log.warn({ shard: owned.shard }, "the lease of a shard ran out");
      this.#drop(owned);
    }
  }

  /** Calls `act` for each open shard. A failure is ignored, because the next call does the same work. */
  async #forEachOpen(act: (owned: OwnedShard) => Promise<void>): Promise<void> {
    const open = [...this.#owned.values()].filter(({ isOpen }) => isOpen);
    await Promise.all(open.map((owned) => act(owned).catch(() => undefined)));
  }
}
