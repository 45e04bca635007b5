/**
 * Compares the jobs that the store has as bound with those whose agents this owner watches. The two differ when an
 * earlier owner of the shard, which did not know yet that it had lost it, saved something after this owner had read the
 * bound jobs: then an agent's loss would never be noticed, or an ended job would keep its places in quotas.
 */
import type { Clock } from "../../src/domain/clock.ts";
import type { RootId } from "../../src/domain/ids.ts";
import type { Logger } from "../../src/domain/logger.ts";
import type { AggregateStore } from "../../src/stores/ports/aggregates.ts";

/**
 * The first check of a shard, milliseconds after it was opened. It is longer than the lease of a shard: what an earlier
 * owner has saved until its lease ran out is in the store by then.
 */
export const FIRST_BOUND_CHECK_MS = 5_000;
/** Between two checks of a shard in which something is watched, milliseconds. */
const EVERY_MS = 30_000;
const PAGE = 100;

export interface BoundCheckOptions {
  readonly shard: number;
  readonly aggregates: Pick<AggregateStore, "pageBoundJobs">;
  readonly clock: Pick<Clock, "monotonic">;
  readonly log: Logger;
  /** What is watched in the shard now: the roots by the actors. */
  readonly watched: () => Map<string, RootId>;
  /** Compares the aggregate in memory with the store, or loads it; either way what is watched follows from the store. */
  readonly recheck: (rootId: RootId) => Promise<void>;
}

export class BoundCheck {
  readonly #options: BoundCheckOptions;
  #isFirst = true;
  #nextAt: number;
  #running: Promise<void> | null = null;

  constructor(options: BoundCheckOptions) {
    this.#options = options;
    this.#nextAt = options.clock.monotonic() + FIRST_BOUND_CHECK_MS;
  }

  /** True when the time of the next check has come; `now`: monotonic milliseconds. */
  isDue(now: number): boolean {
    return this.#running === null && now >= this.#nextAt;
  }

  /** Begins a check when its time has come. A shard in which nothing is watched is checked only once. */
  begin(): void {
    const { clock, watched, shard, log } = this.#options;
    const now = clock.monotonic();
    if (!this.isDue(now)) return;
    this.#nextAt = now + EVERY_MS;
    if (!this.#isFirst && watched().size === 0) return;
    this.#running = this.#check()
      .then(() => void (this.#isFirst = false))
      .catch((error: unknown) => log.debug({ shard, error: String(error) }, "bound jobs could not be checked"))
      .finally(() => (this.#running = null));
  }

  /** Resolves when no check runs. */
  async end(): Promise<void> {
    await this.#running;
  }

  async #check(): Promise<void> {
    const { shard, aggregates, watched, recheck } = this.#options;
    const unseen = watched();
    const differing = new Set<RootId>();
    for (let after = ""; ;) {
      const page = await aggregates.pageBoundJobs(shard, after, PAGE);
      for (const { runId, jobId } of page) {
        if (!unseen.delete(jobId)) differing.add(runId);
        after = jobId;
      }
      if (page.length < PAGE) break;
    }
    for (const rootId of unseen.values()) differing.add(rootId);
    // A job that was granted, or has ended, since the check began differs too: that costs one read.
    for (const rootId of differing) await recheck(rootId);
  }
}
