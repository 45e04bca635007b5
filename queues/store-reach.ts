/**
 * Whether this node reaches the store. A worker that has lost the store alone gives its shards up; when the store is
 * gone for all workers, no shard changes its owner, because the next owner would need an epoch from the store.
 *
 * Each worker tells the others when its last answered call to the store began. A worker counts as cut off when one of
 * its own calls has no answer, and another worker began a call a second later and was answered.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../src/domain/logger.ts";
import type { RedisClient } from "../src/redis/connect.ts";
import { tellFact, type ToldFact } from "./node-facts.ts";

export interface StoreReachOptions {
  readonly redis: RedisClient;
  readonly nodeId: string;
  /** Resolves when the store would accept a save; rejects or hangs when it would not. */
  readonly probe: () => Promise<void>;
  readonly log: Logger;
}

/** Hash of how long ago each worker's last answered call began, in milliseconds before the worker told it. */
const REACHED = "{millrace}:store-reached";
/** A worker that has told nothing for this long is no evidence that the store can be reached. */
const TOLD_MS = 3_000;
/**
 * The other worker's answered call must have begun this much later than the call without an answer. In an outage for
 * all workers, the last calls that were answered began earlier than the first one that was not.
 */
const LATER_MS = 1_000;
/** A quick answer is told in the same round. */
const PROBE_WAIT_MS = 200;

export class StoreReach {
  readonly #options: StoreReachOptions;
  /** When the last call that was answered began, monotonic milliseconds; null before the first. */
  #answeredAt: number | null = null;
  /** Since when calls have no answer, monotonic milliseconds; null while the last call was answered. */
  #silentSince: number | null = null;
  #probing: Promise<void> | null = null;
  #isCutOff = false;

  constructor(options: StoreReachOptions) {
    this.#options = options;
  }

  /** True while this node cannot reach the store and another worker can. */
  get isCutOff(): boolean {
    return this.#isCutOff;
  }

  /** For a call to the store that began at `begunAt` (monotonic milliseconds) and was answered now. */
  noteAnswer(begunAt: number): void {
    this.#answeredAt = Math.max(this.#answeredAt ?? begunAt, begunAt);
    this.#silentSince = this.#probing === null ? null : performance.now();
    this.#isCutOff = false;
  }

  /** Asks the store, tells the other workers, and learns from them. Never rejects. */
  async check(): Promise<void> {
    this.#probing ??= this.#probe();
    await Promise.race([this.#probing, sleep(PROBE_WAIT_MS)]);
    const { redis, nodeId, log } = this.#options;
    const askedAt = performance.now();
    const value = this.#answeredAt === null ? null : Math.round(askedAt - this.#answeredAt);
    try {
      const { redisNow, others } = await tellFact(redis, { key: REACHED, nodeId, value, ttlMs: TOLD_MS });
      if (this.#silentSince === null) return;
      const silentSince = redisNow - (askedAt - this.#silentSince);
      const isAnswered = ({ toldAt, value: ageMs }: ToldFact) => toldAt - ageMs >= silentSince + LATER_MS;
      if ([...others.values()].some(isAnswered)) this.#isCutOff = true;
    } catch (error) {
      log.debug({ error: String(error) }, "the other workers cannot be asked about the store");
    }
  }

  /** Resolves when the probe is answered or has failed. */
  async #probe(): Promise<void> {
    const begunAt = performance.now();
    this.#silentSince ??= begunAt;
    try {
      await this.#options.probe();
      this.#probing = null;
      this.noteAnswer(begunAt);
    } catch (error) {
      this.#probing = null;
      this.#options.log.debug({ error: String(error) }, "the store did not answer a probe");
    }
  }
}
