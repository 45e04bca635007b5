/**
 * Owns shards on behalf of one node: it announces the node as a member, computes which shards the node should own,
 * takes those that are free, renews their leases, and releases the shards that another node should own.
 */
import { type Cancel, regularly, untilNext } from "../src/domain/clock.ts";
import type { Logger } from "../src/domain/logger.ts";
import { connectRedis, type RedisClient, type RedisTarget } from "../src/redis/connect.ts";
import { assignShards } from "./assignment.ts";
import { type AddressedMessage, UNVERSIONED_FORMAT, type MessageFormat } from "./envelope.ts";
import { Canaries, CANARY_EVERY_MS } from "./canaries.ts";
import { HandOver } from "./hand-over.ts";
import { JointReader } from "./joint-reader.ts";
import { LEASE_MS, leaseKeys, OwnedShard } from "./owned-shard.ts";
import { OwnerBell } from "./owner-bell.ts";
import type { OwnershipGuard } from "./ownership-guard.ts";
import { JoinedEpochs } from "./joined-epochs.ts";
import type { EpochSource, EpochStore, OwnedHere, ShardHandler } from "./ports.ts";
import { RedisIdentity } from "./redis-identity.ts";
import { beat, leave, lengthsOf, type Membership, releaseLease, renewLeases } from "./scripts.ts";
import { ring, shardWord } from "./wake-key.ts";

export interface ShardOwnerOptions {
  readonly redis: RedisTarget;
  /**
   * True: no other process owns shards on this Redis. The node is the only member then, and takes the leases that a former process
   * has left without waiting for their end. Default: false.
   */
  readonly isPrivate?: boolean;
  /** New with each start of the process. */
  readonly nodeId: string;
  readonly shards: number;
  readonly handler: ShardHandler;
  /**
   * The witness key of {@link RedisIdentity}. It has the hash tag of the board, which the handler writes beside the
   * mailboxes.
   */
  readonly witness: string;
  readonly epochs: EpochStore;
  /**
   * On a cluster: whether every living node tells owners what it sends ({@link OwnerBell}); asked every 5 s. Absent: all
   * do.
   */
  readonly everySenderRings?: () => Promise<boolean>;
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
  /** False when a canary has been on its way for 25 s. */
  readonly ok: boolean;
}

/**
 * Time between two rounds: each one takes free shards and releases those of other nodes. While shards change hands, and
 * while this node may have to give its shards up, the rounds follow sooner.
 */
const TICK_MS = 1_000;
const BUSY_TICK_MS = 500;
/**
 * The lease on a private Redis and how often it is renewed. In between, a node only asks whether Redis still has its memory: each
 * renewal is written to a file. A node of an earlier release waits for the end of the lease.
 */
const PRIVATE_LEASE = { ms: 12_000, renewMs: 4_000 };
/** A round that begins this long after the last renewal renews the leases. Timers fire a little early or late. */
const RENEW_MS = 900;
/** The round that finds a dead member comes this long after the last moment at which it could have beaten. */
const AFTER_SILENCE_MS = 5;
/** A job that a former owner has fetched is returned after this time at most. */
const RECLAIM_MS = 5_000;
/** A shard whose canary has been on its way for this long is not healthy. */
const CANARY_OVERDUE_MS = 25_000;
/** How long a worker that may own no shard waits for envelopes in hand before it gives a shard up. */
const SURRENDER_MS = 200;

export class ShardOwner implements OwnedHere {
  readonly #options: ShardOwnerOptions;
  readonly #redis: RedisClient;
  readonly #identity: RedisIdentity;
  readonly #owned = new Map<number, OwnedShard>();
  readonly #joint: JointReader;
  readonly #handOver: HandOver;
  readonly #bell: OwnerBell;
  readonly #epochs: EpochSource;
  readonly #canaries = new Canaries();
  #tickTimer: NodeJS.Timeout | undefined;
  #ticking: Promise<void> = Promise.resolve();
  /** When the leases were last renewed, or Redis was found to have them still, monotonic milliseconds. */
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** When the leases were last renewed, monotonic milliseconds. */
  #renewedAt = Number.NEGATIVE_INFINITY;
  /** When the most silent member counts as gone unless it beats before, monotonic milliseconds. */
  #silenceEndsAt = Number.POSITIVE_INFINITY;
  /** The owners as the last round has found them; empty before the first, and when it failed. */
  #owners: readonly string[] = [];
  #expiryTimer: NodeJS.Timeout | undefined;
  /** True when the next round must follow the current one at once. */
  #isUrgent = false;
  #hasJoined = false;
  #redisRunId = "";
  #members = 0;
  #isBarred = false;
  #timers: readonly Cancel[] = [];
  #leaving = false;
  #stopped = false;

  constructor(options: ShardOwnerOptions) {
    this.#options = options;
    this.#redis = connectRedis(options.redis, { role: "consumer", log: options.log });
    this.#redis.setMaxListeners(0);
    this.#identity = new RedisIdentity(this.#redis, options.witness);
    this.#joint = new JointReader({
      redis: this.#redis,
      blocking: connectRedis(options.redis, { role: "blocking", log: options.log }),
      nodeId: options.nodeId,
      onWord: (word) => this.#onWord(word),
      log: options.log,
    });
    this.#bell = new OwnerBell(this.#redis);
    this.#epochs = new JoinedEpochs(options.epochs);
    this.#handOver = new HandOver({
      redis: this.#redis,
      nodeId: options.nodeId,
      log: options.log,
      onReleased: (owned) => this.#forget(owned),
    });
  }

  /** Resolves when the node has tried to take its shards for the first time. */
  async start(): Promise<void> {
    this.#timers = [
      regularly(CANARY_EVERY_MS, () => this.#canaries.sendNext(this.#owned.values(), performance.now())),
      regularly(RECLAIM_MS, () => void this.#reclaim().catch(() => undefined)),
      regularly(RECLAIM_MS, () => void this.#askSenders()),
    ];
    void this.#askSenders();
    // Jobs may have been fetched whose answers were lost with the connection.
    this.#redis.on("ready", () => void this.#reclaim().catch(() => undefined));
    await this.#tick();
    this.#schedule();
    this.#watchExpiry();
  }

  /** Leaves in good order: drains every shard while its lease is renewed, then gives the lease back. Idempotent. */
  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#leaving = true;
    const { nodeId, shards } = this.#options;
    const successors = await leave(this.#redis, nodeId).catch(() => []);
    await this.#ticking;
    const owners = assignShards(successors, shards);
    await Promise.all([...this.#owned.values()].map((owned) => this.#handOver.begin(owned, owners[owned.shard])));
    this.#stopped = true;
    clearTimeout(this.#tickTimer);
    clearTimeout(this.#expiryTimer);
    for (const cancel of this.#timers) cancel();
    await this.#ticking;
    this.#joint.close();
    this.#redis.disconnect();
  }

  /** Shards that are open here, ascending. */
  owned(): readonly number[] {
    // Many parts of a node ask this every second.
    const open: number[] = [];
    for (let shard = 0; shard < this.#options.shards; shard++) if (this.#owned.get(shard)?.isOpen) open.push(shard);
    return open;
  }

  take(shard: number, message: AddressedMessage): Promise<boolean> | undefined {
    return this.#owned.get(shard)?.take(message);
  }

  /** Health of the shards that this node holds. `ok`: the last canary came back within 25 s. */
  health(): readonly ShardHealth[] {
    const now = performance.now();
    return [...this.#owned.values()].map((owned) => {
      const lastCanaryMs = owned.canaryAgeMs(now);
      return { shard: owned.shard, lastCanaryMs, ok: owned.canaryWaitMs(now) <= CANARY_OVERDUE_MS };
    });
  }

  #schedule(): void {
    const delayMs = this.#isUrgent ? 0 : this.#untilNextRound();
    this.#isUrgent = false;
    this.#tickTimer = setTimeout(() => {
      this.#tickTimer = undefined;
      this.#ticking = this.#tick().finally(() => {
        if (!this.#stopped) this.#schedule();
      });
    }, delayMs);
  }

  #untilNextRound(): number {
    if (!this.#isSettled) return BUSY_TICK_MS;
    const silenceMs = this.#silenceEndsAt + AFTER_SILENCE_MS - performance.now();
    return Math.max(0, Math.min(untilNext(TICK_MS, performance.now()), silenceMs));
  }

  /** True when this node holds the shards that it should own, and no others, and nothing bars it. */
  get #isSettled(): boolean {
    const { guard, nodeId } = this.#options;
    if (this.#isBarred || guard?.isUncertain === true || this.#owners.length === 0) return false;
    return this.#owners.every((owner, shard) => {
      const isOpen = this.#owned.get(shard)?.isOpen;
      return owner === nodeId ? isOpen === true : isOpen === undefined;
    });
  }

  /** True when the last round has found no other member, and this node has not begun to leave. */
  get #isLoneMember(): boolean {
    return this.#hasJoined && this.#members === 1 && !this.#isBarred && !this.#leaving;
  }

  /** Runs a round now, or right after the one that runs. */
  #hurry(): void {
    this.#isUrgent = true;
    if (this.#tickTimer === undefined || this.#stopped) return;
    clearTimeout(this.#tickTimer);
    this.#schedule();
  }

  #onWord(word: string): void {
    if (word === "members") this.#hurry();
    const about = shardWord(word);
    if (about === undefined) return;
    const { kind, shard, from } = about;
    // The sender took this node for the owner, which is another one by now.
    if (kind === "mail") this.#bell.ring(shard, this.#options.nodeId);
    else if (kind === "taken") this.#handOver.onTaken(shard);
    else if (!this.#owned.has(shard) && !this.#isBarred && this.#redisRunId !== "") {
      void this.#acquire(shard, this.#redisRunId, from).catch(() => undefined);
    }
  }

  async #tick(): Promise<void> {
    try {
      const { shards } = this.#options;
      // Free shards are looked for in every round; leases need renewing less often.
      const now = performance.now();
      // A node that is the only member asks no other node whether it may own shards: its beat shares a write with the renewal.
      const early = this.#isLoneMember ? this.#beat() : undefined;
      early?.catch(() => undefined);
      if (now - this.#lookedAt >= RENEW_MS) {
        this.#lookedAt = now;
        await this.#renew([...this.#owned.values()]);
      }
      if (this.#leaving || (await this.#barredByGuard())) return;
      // A node that has begun to leave meanwhile must not join again: the others would hand its shards back to it.
      if (this.#leaving) return;
      const askedAt = early === undefined ? performance.now() : now;
      const { members, silentMs } = await (early ?? this.#beat());
      this.#silenceEndsAt = askedAt + LEASE_MS - silentMs;
      this.#members = members.length;
      if (!this.#hasJoined) this.#announce(members);
      this.#owners = assignShards(members, shards);
      if (this.#isSettled) return;
      await Promise.all(this.#owners.map((owner, shard) => this.#settle(shard, owner, this.#redisRunId)));
    } catch (error) {
      this.#owners = [];
      this.#options.log.debug({ error: String(error) }, "a round of ownership failed; the next one follows");
    }
  }

  /** Renews the membership, and answers who is a member. */
  async #beat(): Promise<Membership> {
    const { isPrivate = false, nodeId } = this.#options;
    return isPrivate ? { members: [nodeId], silentMs: 0 } : beat(this.#redis, nodeId, LEASE_MS);
  }

  /** Tells the other members that this node has joined, so that they hand its share over at once. */
  #announce(members: readonly string[]): void {
    this.#hasJoined = true;
    this.#tell(members);
  }

  /** Tells the other members that the members have changed. */
  #tell(members: readonly string[]): void {
    const { nodeId } = this.#options;
    for (const member of members) {
      if (member !== nodeId) void ring(this.#redis, member, "members").catch(() => undefined);
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
    this.#hasJoined = false;
    const others = await leave(this.#redis, nodeId);
    const given = [...this.#owned.values()];
    await Promise.all(given.map((owned) => this.#surrender(owned)));
    if (given.length > 0) this.#tell(others);
    return true;
  }

  async #surrender(owned: OwnedShard): Promise<void> {
    await owned.surrender(SURRENDER_MS);
    this.#forget(owned);
  }

  /** Takes a free shard that this node should own; hands over a shard that another node should own. */
  async #settle(shard: number, owner: string | undefined, redisRunId: string): Promise<void> {
    const owned = this.#owned.get(shard);
    const isOurs = owner === this.#options.nodeId;
    if (isOurs && owned === undefined) await this.#acquire(shard, redisRunId);
    else if (!isOurs && owned?.isOpen) void this.#handOver.begin(owned, owner);
  }

  /** `from`: the node that gave the shard up for this one, and waits to hear that the shard is open here. */
  async #acquire(shard: number, redisRunId: string, from = ""): Promise<void> {
    const { isPrivate = false, nodeId, shards, handler, format = UNVERSIONED_FORMAT, log } = this.#options;
    const epochs = this.#epochs;
    if (this.#leaving) return;
    const askedAt = performance.now();
    const { lease } = leaseKeys(shard);
    const won = isPrivate
      ? await this.#redis.set(lease, nodeId, "PX", PRIVATE_LEASE.ms)
      : await this.#redis.set(lease, nodeId, "PX", LEASE_MS, "NX");
    if (won === null) return;
    if (this.#leaving) return releaseLease(this.#redis, lease, nodeId);
    const owned = new OwnedShard(
      { redis: this.#redis, joint: this.#joint, shard, shards, holder: nodeId, handler, epochs, format, log },
      askedAt,
    );
    this.#owned.set(shard, owned);
    // Opening may take longer than a round. It is not awaited, so that the rounds continue and renew the lease.
    const opened = owned.open(redisRunId).catch((error: unknown) => {
      log.warn({ shard, error: String(error) }, "a shard could not be opened; trying again");
      this.#drop(owned);
    });
    if (from !== "") void opened.then(() => ring(this.#redis, from, `taken:${shard}`)).catch(() => undefined);
  }

  async #renew(shards: readonly OwnedShard[]): Promise<void> {
    const now = performance.now();
    const { isPrivate = false, nodeId } = this.#options;
    if (isPrivate && now - this.#renewedAt < PRIVATE_LEASE.renewMs && (await this.#isSameRedis())) {
      for (const owned of shards) owned.onSameRedis(this.#redisRunId, now);
      return;
    }
    this.#renewedAt = now;
    const { isCluster } = this.#redis;
    const ttlMs = isPrivate ? PRIVATE_LEASE.ms : LEASE_MS;
    const options = { holder: nodeId, ttlMs, witness: this.#identity.witness };
    const calls = (isCluster ? shards.map((owned) => [owned]) : [shards]).map((some) => {
      const keys = some.map((owned) => owned.keys);
      return { some, answer: renewLeases(this.#redis, keys, options) };
    });
    for (const { answer } of calls) answer.catch(() => undefined);
    const witnessed = isCluster ? undefined : calls[0]!.answer.then(({ witness }) => witness);
    const redisRunId = await this.#identity.read(witnessed);
    this.#redisRunId = redisRunId;
    const take = async ({ some, answer }: (typeof calls)[number]): Promise<void> => {
      const { renewals } = await answer;
      for (const [at, owned] of some.entries()) {
        if (!owned.onRenewal(renewals[at]!, redisRunId, now)) this.#drop(owned);
      }
    };
    await Promise.all(calls.map(take));
  }

  /** False when Redis was emptied or restarted since the last renewal. */
  async #isSameRedis(): Promise<boolean> {
    const options = { holder: this.#options.nodeId, ttlMs: LEASE_MS, witness: this.#identity.witness };
    const answer = renewLeases(this.#redis, [], options);
    return (await this.#identity.read(answer.then(({ witness }) => witness))) === this.#redisRunId;
  }

  #drop(owned: OwnedShard): void {
    this.#forget(owned);
    owned.abandon();
  }

  #forget(owned: OwnedShard): void {
    this.#canaries.forget(owned);
    if (this.#owned.get(owned.shard) === owned) this.#owned.delete(owned.shard);
  }

  /**
   * Looks for leases that have run out when the first one may; the lease of a shard that comes meanwhile lasts longer. Renewals
   * put that time off, so the look comes with a round before it, as long as there is one.
   */
  #watchExpiry(): void {
    const now = performance.now();
    let leftMs = LEASE_MS;
    for (const owned of this.#owned.values()) leftMs = Math.min(leftMs, owned.leaseLeftMs(now));
    const nextMs = untilNext(TICK_MS, now);
    if (leftMs > nextMs) leftMs = nextMs + TICK_MS * Math.floor((leftMs - nextMs) / TICK_MS);
    this.#expiryTimer = setTimeout(
      () => {
        this.#dropExpired();
        this.#watchExpiry();
      },
      Math.max(1, Math.ceil(leftMs)),
    );
  }

  /** Drops shards whose lease has run out by this node's clock, also while the command that renews it hangs. */
  #dropExpired(): void {
    const now = performance.now();
    for (const owned of this.#owned.values()) {
      if (owned.leaseLeftMs(now) > 0) continue;
      this.#options.log.warn({ shard: owned.shard }, "the lease of a shard ran out");
      this.#drop(owned);
    }
  }

  async #askSenders(): Promise<void> {
    const { everySenderRings } = this.#options;
    if (!this.#redis.isCluster || everySenderRings === undefined) return;
    const allRing = await everySenderRings().catch(() => false);
    this.#joint.hasSilentSenders = !allRing;
  }

  /** Returns jobs that a former owner has fetched. A failure is ignored, because the next call does the same work. */
  async #reclaim(): Promise<void> {
    const open = [...this.#owned.values()].filter(({ isOpen }) => isOpen);
    const active = await lengthsOf(
      this.#redis,
      open.map(({ activeKey }) => activeKey),
    );
    const some = open.filter((owned, at) => owned.mayReclaim(active[at]!));
    await Promise.all(some.map((owned) => owned.reclaim().catch(() => undefined)));
  }
}
