/**
 * Reads the state of mailboxes for operators: how many envelopes wait, which node owns each shard, and which envelopes
 * could not be read. It owns no shard and takes no envelope.
 */
import { ErrorCode, Job, Queue, QueueKeys } from "bullmq";
import type { RedisClient } from "../src/redis/connect.ts";
import { readServers, type RedisServer } from "../src/redis/servers.ts";
import type { Envelope } from "./envelope.ts";
import { mailboxName, mailboxOptions, shardTag } from "./mailbox.ts";
import { leaseKeys } from "./owned-shard.ts";

/** Numbers of envelopes. */
export interface MailboxDepth {
  readonly waiting: number;
  /** Fetched by an owner and not settled, or fetched by an owner that died and has no successor yet. */
  readonly active: number;
  /** To be delivered at a later time. */
  readonly delayed: number;
  /** Kept because no owner could read them. */
  readonly failed: number;
}

export interface MailboxState {
  readonly shard: number;
  /** The node that the shard's lease names, alive or not; null while no node holds the lease. */
  readonly owner: string | null;
  readonly depth: MailboxDepth;
  /**
   * Since when an owner could have fetched the oldest waiting envelope, Unix milliseconds by its sender's clock; null
   * for none.
   */
  readonly waitingSince: number | null;
}

/** An envelope that no owner could read. */
export interface FailedEnvelope {
  readonly shard: number;
  /** Unique in its mailbox. */
  readonly jobId: string;
  readonly envelope: Envelope;
  readonly reason: string;
  /** Time of the newest failure, Unix milliseconds. */
  readonly at: number;
}

/*
 * Reads the state of one mailbox.
 *
 * KEYS[1] lease   KEYS[2] wait   KEYS[3] active   KEYS[4] delayed   KEYS[5] failed
 * ARGV[1] prefix of the keys of jobs; it has the same hash tag
 * Answers { holder or nil, the four lengths, time of sending and options of the oldest waiting job }.
 */
const READ_STATE = `
local oldest = redis.call("LINDEX", KEYS[2], -1)
local job = oldest and redis.call("HMGET", ARGV[1] .. oldest, "timestamp", "opts") or {}
return {
  redis.call("GET", KEYS[1]), redis.call("LLEN", KEYS[2]), redis.call("LLEN", KEYS[3]),
  redis.call("ZCARD", KEYS[4]), redis.call("ZCARD", KEYS[5]), job[1], job[2],
}`;

type StateReply = [
  holder: string | null,
  waiting: number,
  active: number,
  delayed: number,
  failed: number,
  sentAt?: string | null,
  options?: string | null,
];

export class MailboxInspection {
  readonly #redis: RedisClient;
  readonly #shards: readonly number[];
  readonly #queues = new Map<number, Queue<Envelope>>();

  constructor({ redis, shards }: { readonly redis: RedisClient; readonly shards: number }) {
    this.#redis = redis;
    this.#shards = Array.from({ length: shards }, (_, shard) => shard);
    // Every mailbox adds a listener to this one connection.
    redis.setMaxListeners(0);
  }

  /** All mailboxes by shard, in one round trip. Rejects while Redis cannot be read. */
  states(): Promise<readonly MailboxState[]> {
    return Promise.all(this.#shards.map((shard) => this.#readState(shard)));
  }

  /** The servers that hold the mailboxes. Rejects while one of them cannot be read. */
  servers(): Promise<readonly RedisServer[]> {
    return readServers(this.#redis);
  }

  /** Envelopes of all shards that could not be read, sorted by the time of the failure; `offset` counts from 0. */
  async failed(offset: number, limit: number, descending: boolean): Promise<readonly FailedEnvelope[]> {
    const direction = descending ? -1 : 1;
    const found = await Promise.all(this.#shards.map((shard) => this.#failedOf(shard, offset + limit, descending)));
    const page = found
      .flat()
      .toSorted((a, b) => direction * (a.at - b.at || a.shard - b.shard))
      .slice(offset, offset + limit);
    const jobs = await Promise.all(
      page.map(async ({ shard, jobId, at }): Promise<FailedEnvelope[]> => {
        const job = await Job.fromId<Envelope>(this.#queueOf(shard), jobId);
        return job === undefined ? [] : [{ shard, jobId, envelope: job.data, reason: job.failedReason, at }];
      }),
    );
    return jobs.flat();
  }

  /** Lets a failed envelope wait again; false when the mailbox has no failed envelope with this id. */
  async retry(shard: number, jobId: string): Promise<boolean> {
    if (!this.#shards.includes(shard)) return false;
    const job = await Job.fromId<Envelope>(this.#queueOf(shard), jobId);
    try {
      await job?.retry("failed");
      return job !== undefined;
    } catch (error) {
      const { code } = error as { code?: unknown };
      if (code === ErrorCode.JobNotExist || code === ErrorCode.JobNotInState) return false;
      throw error;
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#queues.values()].map((queue) => queue.close()));
    this.#queues.clear();
  }

  async #readState(shard: number): Promise<MailboxState> {
    const keys = ["wait", "active", "delayed", "failed"].map((type) => keyOf(shard, type));
    const reply = await this.#redis.eval(READ_STATE, 5, leaseKeys(shard).lease, ...keys, keyOf(shard, ""));
    const [owner, waiting, active, delayed, failed, sentAt, options] = reply as StateReply;
    return {
      shard,
      owner,
      depth: { waiting, active, delayed, failed },
      waitingSince: sentAt && options ? Number(sentAt) + delayIn(options) : null,
    };
  }

  async #failedOf(
    shard: number,
    limit: number,
    descending: boolean,
  ): Promise<readonly { readonly shard: number; readonly jobId: string; readonly at: number }[]> {
    const key = keyOf(shard, "failed");
    const last = String(limit - 1);
    const flat = descending
      ? await this.#redis.zrange(key, 0, last, "REV", "WITHSCORES")
      : await this.#redis.zrange(key, 0, last, "WITHSCORES");
    return Array.from({ length: flat.length / 2 }, (_, at) => {
      return { shard, jobId: flat[2 * at]!, at: Number(flat[2 * at + 1]) };
    });
  }

  #queueOf(shard: number): Queue<Envelope> {
    let queue = this.#queues.get(shard);
    if (queue === undefined) {
      queue = new Queue<Envelope>(mailboxName(shard), mailboxOptions(this.#redis, shard));
      // A failed command rejects for its caller, and the connection reports its own outages: this event adds nothing.
      queue.on("error", () => undefined);
      this.#queues.set(shard, queue);
    }
    return queue;
  }
}

/** The delay of a job, milliseconds: a delayed message begins to wait when its time has come. */
function delayIn(options: string): number {
  return (JSON.parse(options) as { delay?: number }).delay ?? 0;
}

/**
 * The key of one list of the mailbox. With the empty type it is the prefix of the keys of jobs, which their ids follow.
 */
function keyOf(shard: number, type: string): string {
  return new QueueKeys(shardTag(shard)).toKey(mailboxName(shard), type);
}
