/** A model of the owner of shards (queues/shard-owner.ts): membership, leases, assignment and hand-over. */
import { assignShards } from "../../../queues/assignment.ts";
import type { EpochSource, ShardHandler } from "../../../queues/ports.ts";
import type { Draws } from "../engine/draws.ts";
import type { Process } from "../engine/process.ts";
import type { RedisServer } from "../redis/redis-server.ts";
import { LEASE_MS, SimulatedShard } from "./simulated-shard.ts";

/** As in queues/shard-owner.ts. */
const TICK_MS = 500;
const RENEW_TICKS = 2;

export interface SimulatedOwnerOptions {
  readonly redis: RedisServer;
  readonly process: Process;
  readonly draws: Draws;
  readonly nodeId: string;
  readonly shards: number;
  readonly handler: ShardHandler;
  readonly epochs: EpochSource;
}

export class SimulatedOwner {
  readonly #options: SimulatedOwnerOptions;
  readonly #owned = new Map<number, SimulatedShard>();
  readonly #releasing = new Map<number, Promise<void>>();
  #ticks = 0;
  #redisRunId = "";
  #leaving = false;
  #stopped = false;

  constructor(options: SimulatedOwnerOptions) {
    this.#options = options;
  }

  start(): void {
    void this.#tick().finally(() => this.#schedule());
  }

  /** Leaves in good order. */
  async stop(): Promise<void> {
    this.#leaving = true;
    const { nodeId, redis } = this.#options;
    await this.#call("leave", () => redis.leases.leave(nodeId)).catch(() => undefined);
    for (const shard of this.#owned.values()) this.#release(shard);
    await Promise.all(this.#releasing.values());
    this.#stopped = true;
  }

  owns(shard: number): boolean {
    return this.#owned.get(shard)?.isOpen === true;
  }

  /** The shards that are open. */
  owned(): readonly number[] {
    return [...this.#owned.values()].flatMap(({ shard, isOpen }) => (isOpen ? [shard] : []));
  }

  #schedule(): void {
    this.#options.process.after(TICK_MS, () => {
      void this.#tick().finally(() => {
        if (!this.#stopped) this.#schedule();
      });
    });
  }

  async #tick(): Promise<void> {
    const { nodeId, shards, redis, draws } = this.#options;
    try {
      if (this.#ticks++ % RENEW_TICKS === 0) {
        const created = draws.name("witness");
        const redisRunId = await this.#call("identity", () => `${redis.runId} ${redis.leases.witness(created)}`);
        this.#redisRunId = redisRunId;
        await Promise.all([...this.#owned.values()].map((owned) => this.#renew(owned, redisRunId)));
      }
      if (this.#leaving) return;
      const members = await this.#call("beat", () => redis.leases.beat(nodeId, LEASE_MS));
      const owners = assignShards(members, shards);
      await Promise.all(owners.map((owner, shard) => this.#settle(shard, owner === nodeId)));
    } catch {
      // The next round follows.
    }
  }

  async #settle(shard: number, isOurs: boolean): Promise<void> {
    const owned = this.#owned.get(shard);
    if (isOurs && owned === undefined) await this.#acquire(shard);
    else if (!isOurs && owned?.isOpen) this.#release(owned);
  }

  async #acquire(shard: number): Promise<void> {
    const { nodeId, redis, process } = this.#options;
    const askedAt = process.clock.monotonic();
    const won = await this.#call(`lease of ${shard}`, () => redis.leases.take(shard, nodeId, LEASE_MS));
    if (!won || this.#leaving) return;
    const owned = new SimulatedShard({ ...this.#options, shard }, askedAt);
    this.#owned.set(shard, owned);
    this.#dropWhenExpired(owned, LEASE_MS);
    void owned.open(this.#redisRunId).catch(() => this.#drop(owned));
  }

  async #renew(owned: SimulatedShard, redisRunId: string): Promise<void> {
    const now = this.#options.process.clock.monotonic();
    if (!(await owned.renew(redisRunId, this.#options.nodeId, now))) this.#drop(owned);
  }

  #release(owned: SimulatedShard): void {
    const { shard } = owned;
    if (this.#releasing.has(shard)) return;
    const released = owned
      .release(this.#options.nodeId)
      .catch(() => owned.abandon())
      .finally(() => {
        this.#releasing.delete(shard);
        if (this.#owned.get(shard) === owned) this.#owned.delete(shard);
      });
    this.#releasing.set(shard, released);
  }

  #drop(owned: SimulatedShard): void {
    if (this.#owned.get(owned.shard) === owned) this.#owned.delete(owned.shard);
    owned.abandon();
  }

  /** The real owner looks every 100 ms; this one looks when the lease may have run out. */
  #dropWhenExpired(owned: SimulatedShard, ms: number): void {
    this.#options.process.after(ms, () => {
      if (this.#owned.get(owned.shard) !== owned) return;
      const leftMs = owned.leaseLeftMs(this.#options.process.clock.monotonic());
      if (leftMs <= 0) this.#drop(owned);
      else this.#dropWhenExpired(owned, leftMs);
    });
  }

  #call<T>(what: string, apply: () => T): Promise<T> {
    const { process, redis } = this.#options;
    return redis.service.call(process, what, apply);
  }
}
