/**
 * The registry of live nodes. Every node, whatever its roles, announces itself in Redis every second. Operators see the
 * registry, and a rolling upgrade relies on it. Only leases decide which node owns a shard.
 */
import type { Logger } from "../src/domain/logger.ts";
import type { RedisClient } from "../src/redis/connect.ts";
import { redisScript, runScript } from "../src/redis/redis-script.ts";
import { everySecond } from "./every-second.ts";
import { beatIn } from "./scripts.ts";

/** A node as it announces itself; the same for the whole life of its process. */
export interface NodeRecord {
  /** New with each start of the process. The leases of a worker name this id as their holder. */
  readonly nodeId: string;
  readonly roles: readonly string[];
  /** Version of the package. */
  readonly version: string;
  readonly host: string;
  readonly pid: number;
  /** Unix milliseconds by the node's own clock. */
  readonly startedAt: number;
  /** The newest schema of snapshots that this node reads. */
  readonly schema: number;
  /** True: on a Redis Cluster, the node tells owners what it sends. Nodes of earlier releases lack the field. */
  readonly rings?: true;
}

export interface NodeRegistryOptions {
  readonly redis: RedisClient;
  readonly record: NodeRecord;
  readonly log: Logger;
}

/** Sorted set of records, as JSON, by the time of their last announcement. */
const NODES = "{millrace}:nodes";
/** A node that has not announced itself for this long counts as gone. */
const GONE_MS = 5_000;
/** What the last announcement has found counts for this long. */
const TRUST_MS = 2_500;

/*
 * Lists the live members by Redis' own clock.
 *
 * KEYS[1] sorted set of members by the time of their last beat
 * ARGV[1] milliseconds after which a silent member counts as gone
 * Answers the live members.
 */
const ALIVE = redisScript(`
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
return redis.call("ZRANGEBYSCORE", KEYS[1], "(" .. (now - ARGV[1]), "+inf")`);

export class NodeRegistry {
  readonly #redis: RedisClient;
  readonly #log: Logger;
  readonly #member: string;
  #announcing: Promise<void> = Promise.resolve();
  #cancel: (() => void) | undefined;
  /** Since when every announcement has found no other node; null while one lives. Monotonic milliseconds. */
  #aloneSince: number | null = null;
  /** When the last announcement that was answered was sent, monotonic milliseconds. */
  #announcedAt = Number.NEGATIVE_INFINITY;

  constructor({ redis, record, log }: NodeRegistryOptions) {
    this.#redis = redis;
    this.#log = log;
    this.#member = JSON.stringify(record);
  }

  /**
   * Resolves after the first announcement, and rejects when it fails. Later announcements that fail are tried again.
   */
  async start(): Promise<void> {
    await this.#announce();
    this.#cancel = everySecond(() => (this.#announcing = this.#announceAgain()));
  }

  /**
   * The live nodes, oldest first. A node that was killed is listed for 5 s more. Rejects while Redis cannot be read.
   */
  async list(): Promise<readonly NodeRecord[]> {
    const members = (await runScript(this.#redis, ALIVE, [NODES], [GONE_MS])) as string[];
    return members
      .map((member) => JSON.parse(member) as NodeRecord)
      .toSorted((a, b) => a.startedAt - b.startedAt || (a.nodeId < b.nodeId ? -1 : 1));
  }

  /**
   * For how long this node has been the only living one, milliseconds. 0 while another node lives, and when the last
   * answered announcement is so old that another node may have come since.
   */
  aloneMs(): number {
    const now = performance.now();
    return this.#aloneSince === null || now - this.#announcedAt > TRUST_MS ? 0 : now - this.#aloneSince;
  }

  /** Removes the record; while Redis is away, the node counts as gone after 5 s instead. Idempotent; never rejects. */
  async stop(): Promise<void> {
    this.#cancel?.();
    await this.#announcing;
    await this.#redis.zrem(NODES, this.#member).catch(() => undefined);
  }

  async #announce(): Promise<void> {
    const now = performance.now();
    try {
      const { members } = await beatIn(this.#redis, NODES, this.#member, GONE_MS);
      if (members.some((member) => member !== this.#member)) this.#aloneSince = null;
      else this.#aloneSince ??= now;
      this.#announcedAt = now;
    } catch (error) {
      this.#aloneSince = null;
      throw error;
    }
  }

  async #announceAgain(): Promise<void> {
    try {
      await this.#announce();
    } catch (error) {
      this.#log.debug({ error: String(error) }, "this node could not announce itself; it tries again");
    }
  }
}
