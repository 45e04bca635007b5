/**
 * Whether this node reaches the store. A worker that has lost the store alone gives its shards up; when the store is
 * gone for all workers, no shard changes its owner, because the next owner would need an epoch from the store.
 *
 * Each worker tells the others when its last answered call to the store began. A worker counts as cut off when its own
 * calls have no answer while other workers are answered for a second or longer. The first answer that another worker gets
 * is not enough: after an outage for all workers one of them is answered first, and the others a moment later.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../src/domain/logger.ts";
import type { RedisClient } from "../src/redis/connect.ts";
import { tellFact } from "./node-facts.ts";

export interface StoreReachOptions {
  readonly redis: RedisClient;
  readonly nodeId: string;
  /** Resolves when the store would accept a save; rejects or hangs when it would not. */
  readonly probe: () => Promise<void>;
  readonly log: Logger;
}

/** Hash of when each worker's last answered call began, Unix milliseconds by the clock of Redis. */
const REACHED = "{millrace}:store-reached";
/** A worker that has told nothing for this long is no evidence that the store can be reached. */
const TOLD_MS = 3_000;
/**
 * The other worker's answered call must have begun this much later than the call without an answer. In an outage for
 * all workers, the last calls that were answered began earlier than the first one that was not.
 */
const LATER_MS = 1_000;
/** For at least so long the other workers' calls must have been answered while this worker's had no answer. */
const ANSWERED_FOR_MS = 1_000;
/** A quick answer is told in the same round. */
const PROBE_WAIT_MS = 200;
/** Probes that have no answer, at most. A further one, on another connection, shows that only one connection hangs. */
const MAX_PROBES = 3;

export class StoreReach {
  readonly #options: StoreReachOptions;
  /** When the last call that was answered began, monotonic milliseconds; null before the first. */
  #answeredAt: number | null = null;
  /** Since when calls have no answer, monotonic milliseconds; null while the last call was answered. */
  #silentSince: number | null = null;
  /** When the first call began that was answered for another worker in that silence, by the clock of Redis. */
  #othersAnsweredSince: number | null = null;
  readonly #probes = new Set<Promise<void>>();
  /** A reading of the clock of Redis, and the monotonic time at which it had certainly passed. */
  #redisClock: { readonly redisNow: number; readonly monotonic: number } | null = null;
  #isCutOff = false;

  constructor(options: StoreReachOptions) {
    this.#options = options;
  }

  /** True while this node cannot reach the store and another worker can. */
  get isCutOff(): boolean {
    return this.#isCutOff;
  }

  /** True while a call to the store has no answer. */
  get isSilent(): boolean {
    return this.#silentSince !== null;
  }

  /** For a call to the store that began at `begunAt` (monotonic milliseconds) and was answered now. */
  noteAnswer(begunAt: number): void {
    this.#answeredAt = Math.max(this.#answeredAt ?? begunAt, begunAt);
    this.#silentSince = this.#probes.size === 0 ? null : performance.now();
    this.#othersAnsweredSince = null;
    this.#isCutOff = false;
  }

  /** Asks the store, tells the other workers, and learns from them. Never rejects. */
  async check(): Promise<void> {
    if (this.#probes.size < MAX_PROBES) this.#startProbe();
    await Promise.race([...this.#probes, sleep(PROBE_WAIT_MS)]);
    const { redis, nodeId, log } = this.#options;
    const askedAt = performance.now();
    try {
      const value = this.#answeredByRedisClock();
      const { redisNow, others } = await tellFact(redis, { key: REACHED, nodeId, value, ttlMs: TOLD_MS });
      this.#redisClock = { redisNow, monotonic: performance.now() };
      if (this.#silentSince === null) return;
      // Later than the truth by the time that the request took, so that a slow Redis makes no worker look cut off.
      const silentSince = redisNow - (askedAt - this.#silentSince);
      const answeredAt = Math.max(...others.values());
      if (answeredAt < silentSince + LATER_MS) return;
      this.#othersAnsweredSince ??= answeredAt;
      if (answeredAt >= this.#othersAnsweredSince + ANSWERED_FOR_MS) this.#isCutOff = true;
    } catch (error) {
      log.debug({ error: String(error) }, "the other workers cannot be asked about the store");
    }
  }

  /** When the last answered call began, by the clock of Redis; earlier than the truth by what a request may take. */
  #answeredByRedisClock(): number | null {
    if (this.#answeredAt === null || this.#redisClock === null) return null;
    const { redisNow, monotonic } = this.#redisClock;
    return Math.round(redisNow + this.#answeredAt - monotonic);
  }

  #startProbe(): void {
    const probe: Promise<void> = this.#probe(() => this.#probes.delete(probe));
    this.#probes.add(probe);
  }

  /** Resolves when the probe is answered or has failed. */
  async #probe(onEnd: () => void): Promise<void> {
    const begunAt = performance.now();
    this.#silentSince ??= begunAt;
    try {
      await this.#options.probe();
      onEnd();
      this.noteAnswer(begunAt);
    } catch (error) {
      onEnd();
      this.#options.log.debug({ error: String(error) }, "the store did not answer a probe");
    }
  }
}
