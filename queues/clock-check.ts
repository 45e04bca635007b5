/**
 * Compares the clock of this node with those of Redis and of the other nodes. A worker whose clock is far ahead would
 * fire timeouts that are not due.
 */
import type { Clock } from "../src/domain/clock.ts";
import type { Logger } from "../src/domain/logger.ts";
import type { RedisClient } from "../src/redis/connect.ts";
import { clockDeviation, clockVerdict, type ClockVerdict, WRONG_MS } from "./clock-deviation.ts";
import { everySecond } from "./every-second.ts";
import { tellFact, type ToldFacts } from "./node-facts.ts";

export interface ClockCheckOptions {
  readonly redis: RedisClient;
  readonly nodeId: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Hash of how far each node's clock is ahead of the clock of Redis, milliseconds. */
const CLOCKS = "{millrace}:clocks";
/** A node that has told nothing for this long does not count. */
const TOLD_MS = 5_000;
/** An answer that took longer says too little about the time, milliseconds. */
const SLOW_MS = 2_000;

export class ClockCheck {
  readonly #options: ClockCheckOptions;
  #offsetMs: number | null = null;
  #deviationMs = 0;
  #verdict: ClockVerdict = "right";
  /** The last reading of both clocks at which the time was not wrong. */
  #confirmed: { readonly wall: number; readonly monotonic: number } | null = null;
  #cancel: (() => void) | undefined;
  #checking: Promise<void> = Promise.resolve();

  constructor(options: ClockCheckOptions) {
    this.#options = options;
  }

  /** Resolves after the first comparison, so that a worker with a wrong clock owns nothing from the start. */
  async start(): Promise<void> {
    await this.#check();
    this.#cancel = everySecond(() => (this.#checking = this.#check()));
  }

  async stop(): Promise<void> {
    this.#cancel?.();
    await this.#checking;
  }

  /** How far this clock is ahead of the others, milliseconds; negative when it is behind. 0 before the first answer. */
  get deviationMs(): number {
    return this.#deviationMs;
  }

  /** For people, when this node should own no shard; else null. */
  get reason(): string | null {
    return this.#verdict === "wrong" || this.#jumpMs() !== 0 ? this.#describe() : null;
  }

  /** For people, when the clock is wrong by so little that the node continues; else null. */
  get warning(): string | null {
    return this.#verdict === "off" ? this.#describe() : null;
  }

  /**
   * The clock for decisions about time. When the clock of the machine has jumped since it was last compared, this clock
   * continues without the jump until the comparison confirms the new time.
   */
  get clock(): Clock {
    const { clock } = this.#options;
    return { now: () => clock.now() - this.#jumpMs(), monotonic: () => clock.monotonic() };
  }

  /** How far the clock has jumped since it was last confirmed; 0 for less than {@link WRONG_MS}. */
  #jumpMs(): number {
    if (this.#confirmed === null) return 0;
    const { clock } = this.#options;
    const expected = this.#confirmed.wall + clock.monotonic() - this.#confirmed.monotonic;
    const jump = clock.now() - expected;
    return Math.abs(jump) > WRONG_MS ? jump : 0;
  }

  async #check(): Promise<void> {
    const { redis, nodeId, clock, log } = this.#options;
    const askedAt = clock.monotonic();
    let told: ToldFacts;
    try {
      told = await tellFact(redis, { key: CLOCKS, nodeId, value: this.#offsetMs, ttlMs: TOLD_MS });
    } catch (error) {
      log.debug({ error: String(error) }, "the clock cannot be compared with that of Redis; trying again");
      return;
    }
    const wall = clock.now();
    const monotonic = clock.monotonic();
    if (monotonic - askedAt > SLOW_MS) return;
    this.#offsetMs = Math.round(wall - (monotonic - askedAt) / 2 - told.redisNow);
    this.#deviationMs = clockDeviation(this.#offsetMs, [...told.others.values()]);
    const verdict = clockVerdict(this.#deviationMs);
    if (verdict !== "wrong") this.#confirmed = { wall, monotonic };
    if (verdict === this.#verdict) return;
    this.#verdict = verdict;
    this.#logVerdict(verdict);
  }

  #logVerdict(verdict: ClockVerdict): void {
    const { log } = this.#options;
    const fields = { deviationMs: this.#deviationMs, offsetToRedisMs: this.#offsetMs };
    if (verdict === "right") log.info(fields, "the clock of this node agrees with the other clocks again");
    else if (verdict === "off") log.warn(fields, `${this.#describe()}: synchronise the clocks`);
    else log.error(fields, `${this.#describe()}: this node owns no shard until its clock is right`);
  }

  #describe(): string {
    const ms = this.#verdict === "wrong" ? this.#deviationMs : this.#jumpMs() || this.#deviationMs;
    const seconds = (Math.abs(ms) / 1_000).toFixed(1);
    return `the clock of this node is ${seconds} s ${ms < 0 ? "behind" : "ahead of"} the clocks of Redis and the other nodes`;
  }
}
