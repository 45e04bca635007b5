/**
 * Tells the owner of a shard that its mailbox has an envelope, on a Redis Cluster. On one server the owner waits for the
 * marker that BullMQ sets, and nothing needs to be told.
 */
import type { RedisClient } from "../src/redis/connect.ts";
import { leaseKeys } from "./owned-shard.ts";
import { ring } from "./wake-key.ts";

export class OwnerBell {
  readonly #redis: RedisClient;
  /** True: an envelope came while the owner was being told of an earlier one. */
  readonly #ringing = new Map<number, boolean>();

  constructor(redis: RedisClient) {
    this.#redis = redis;
  }

  /**
   * To be called when Redis has the envelope. Does not wait, and never throws: an owner that is not told looks into its
   * mailboxes by itself within 5 s. `except`: a node that need not be told.
   */
  ring(shard: number, except?: string): void {
    if (!this.#redis.isCluster) return;
    const isRinging = this.#ringing.has(shard);
    this.#ringing.set(shard, isRinging);
    if (!isRinging) void this.#ring(shard, except);
  }

  async #ring(shard: number, except: string | undefined): Promise<void> {
    try {
      do {
        this.#ringing.set(shard, false);
        const owner = await this.#redis.get(leaseKeys(shard).lease);
        if (owner !== null && owner !== except) await ring(this.#redis, owner, `mail:${shard}`);
      } while (this.#ringing.get(shard) === true);
    } catch {
      // The owner finds the envelope by itself.
    } finally {
      this.#ringing.delete(shard);
    }
  }
}
