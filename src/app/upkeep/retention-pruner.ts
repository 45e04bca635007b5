/**
 * The sweeper of retention, on every worker: the owner of a shard looks at the pipelines that hash to it. It remembers
 * nothing that matters: whatever it was cut off in, the next look of whoever owns the shard then goes on.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { shardOf } from "../../../queues/shard-map.ts";
import { KEPT_PARTS, type KeptPart, type Retention } from "../../domain/retention.ts";
import type { UpkeepContext } from "./context.ts";
import { finishRemovals, pruneRecords, pruneStrayCommands } from "./prune-records.ts";
import { pruneRuns } from "./prune-runs.ts";

/** Between the end of one look at everything and the next. */
const INTERVAL_MS = 10_000;
/** The same as long as no shard is owned: what is too old by the rules of this start goes soon. */
const SOON_MS = 1_000;
/** The same for what is of no run, at most. */
const RECORDS_INTERVAL_MS = 600_000;
/** It works at least so long at a time, and then rests as long: the slower the store answers, the less it asks. */
const BURST_MS = 50;
/** What is of no pipeline belongs to the owner of this shard. */
const SHARD_OF_RECORDS = 0;

export interface PruneFigures {
  /** Since the start of the process. */
  readonly swept: Record<KeptPart, number>;
  /** When the oldest run was created that the last look has seen, Unix milliseconds; null when it has seen none. */
  oldestRunAt: number | null;
}

export class RetentionPruner {
  readonly figures: PruneFigures = { swept: { runs: 0, logs: 0, artifacts: 0, events: 0 }, oldestRunAt: null };
  readonly #context: UpkeepContext;
  readonly #retention: Retention;
  readonly #owned: () => readonly number[];
  readonly #ended = new AbortController();
  #working: Promise<void> = Promise.resolve();
  #hasLooked = false;
  /** By the monotonic clock. */
  #recordsDueAt = Number.NEGATIVE_INFINITY;

  constructor(context: UpkeepContext, retention: Retention, owned: () => readonly number[]) {
    this.#context = context;
    this.#retention = retention;
    this.#owned = owned;
  }

  start(): void {
    this.#working = this.#work();
  }

  async stop(): Promise<void> {
    this.#ended.abort();
    await this.#working;
  }

  async #work(): Promise<void> {
    const { log } = this.#context;
    while (await this.#rest(this.#hasLooked ? INTERVAL_MS : SOON_MS)) {
      this.#hasLooked ||= this.#owned().length > 0;
      const before = { ...this.figures.swept };
      try {
        await this.#burst(this.#look());
      } catch (error) {
        log.warn({ error: String(error) }, "what is too old could not be removed; the next look follows");
      }
      const { swept } = this.figures;
      const now = Object.fromEntries(KEPT_PARTS.map((part) => [part, swept[part] - before[part]]));
      log.debug(now, "a look of retention is over");
    }
  }

  async *#look(): AsyncGenerator<void, void, void> {
    const context = this.#context;
    const { rules } = this.#retention;
    let oldest: number | null = null;
    if (this.#owns(SHARD_OF_RECORDS)) yield* finishRemovals(context);
    yield* pruneRuns(context, {
      rules,
      isMine: (pipelineId) => this.#owns(shardOf(pipelineId, context.shards)),
      onSwept: (part) => void this.figures.swept[part]++,
      onOldest: (createdAt) => (oldest = Math.min(oldest ?? createdAt, createdAt)),
    });
    this.figures.oldestRunAt = oldest;
    for (const shard of this.#owned()) yield* pruneStrayCommands(context, shard);
    if (this.#owns(SHARD_OF_RECORDS)) yield* this.#lookAtRecords();
  }

  async *#lookAtRecords(): AsyncGenerator<void, void, void> {
    const { recordsMs } = this.#retention;
    const now = this.#context.clock.monotonic();
    if (now < this.#recordsDueAt) return;
    yield* pruneRecords(this.#context, recordsMs);
    this.#recordsDueAt = now + Math.min(RECORDS_INTERVAL_MS, recordsMs / 10);
  }

  async #burst(work: AsyncGenerator<void, void, void>): Promise<void> {
    const { clock } = this.#context;
    let begunAt = clock.monotonic();
    for await (const _ of work) {
      const workedMs = clock.monotonic() - begunAt;
      if (workedMs < BURST_MS) continue;
      if (!(await this.#rest(workedMs))) return;
      begunAt = clock.monotonic();
    }
  }

  /** False once it is stopped. */
  async #rest(ms: number): Promise<boolean> {
    const { signal } = this.#ended;
    await sleep(ms, undefined, { signal }).catch(() => {});
    return !signal.aborted;
  }

  #owns(shard: number): boolean {
    return this.#owned().includes(shard);
  }
}
