/**
 * Decides when each open shard is swept. It asks the store once for all shards which of them have work, so that idle
 * shards cost one statement together.
 */
import { type Cancel, type Clock, type Timers, untilNext } from "../../src/domain/clock.ts";
import type { Logger } from "../../src/domain/logger.ts";
import type { ShardStore } from "../../src/stores/ports/shards.ts";

/** A shard that is swept. Its methods never reject. */
export interface SweptShard {
  /** Looks for the work that is stored for the shard. */
  sweep(): Promise<void>;
  /** True when `tidy` would do something; `now`: monotonic milliseconds. */
  isUntidy(now: number): boolean;
  /** Drops idle aggregates from memory. */
  tidy(): Promise<void>;
}

export interface SweepRoundsOptions {
  readonly shards: Pick<ShardStore, "withWork">;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Logger;
  /** Between two rounds, milliseconds. */
  readonly sweepMs: number;
}

export class SweepRounds {
  readonly #options: SweepRoundsOptions;
  readonly #shards = new Map<number, SweptShard>();
  /** Shards whose sweep has not ended. The next round leaves them out. */
  readonly #sweeping = new Set<SweptShard>();
  #cancel: Cancel | undefined;

  constructor(options: SweepRoundsOptions) {
    this.#options = options;
  }

  start(): void {
    const { clock, timers, sweepMs } = this.#options;
    this.#cancel = timers.after(untilNext(sweepMs, clock.monotonic()), () => {
      void this.#round().finally(() => {
        if (this.#cancel !== undefined) this.start();
      });
    });
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  /** Sweeps the shard at once, and from now on in each round in which it has work. */
  add(index: number, shard: SweptShard): void {
    this.#shards.set(index, shard);
    void this.#sweep(shard);
  }

  remove(index: number): void {
    this.#shards.delete(index);
  }

  async #round(): Promise<void> {
    const { shards, clock, log } = this.#options;
    const rested: number[] = [];
    for (const [index, shard] of this.#shards) if (!this.#sweeping.has(shard)) rested.push(index);
    if (rested.length === 0) return;
    try {
      const found = await shards.withWork(rested, clock.now());
      const now = clock.monotonic();
      for (const index of rested) {
        const shard = this.#shards.get(index);
        // A shard that came meanwhile is being swept.
        if (shard === undefined || this.#sweeping.has(shard)) continue;
        if (found.has(index)) void this.#sweep(shard);
        else if (shard.isUntidy(now)) void this.#tidy(shard);
      }
    } catch (error) {
      log.warn({ error: String(error) }, "no shard could be swept; the next round follows");
    }
  }

  async #sweep(shard: SweptShard): Promise<void> {
    this.#sweeping.add(shard);
    await shard.sweep();
    await shard.tidy();
    this.#sweeping.delete(shard);
  }

  async #tidy(shard: SweptShard): Promise<void> {
    this.#sweeping.add(shard);
    await shard.tidy();
    this.#sweeping.delete(shard);
  }
}
