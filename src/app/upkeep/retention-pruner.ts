/**
 * The retention pruner, on every worker: the owner of a shard prunes the pipelines that hash to the shard. The pruner
 * keeps no state that matters: when a pass is cut off, the next pass of the shard's owner continues.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { shardOf } from "../../../queues/shard-map.ts";
import { KEPT_PARTS, type KeptPart, type Retention } from "../../domain/retention.ts";
import type { Ages } from "../pruner.ts";
import { countRuns, forgetCounters } from "../statistics/count-runs.ts";
import type { EndedRuns } from "../statistics/ended-runs.ts";
import type { UpkeepContext } from "./context.ts";
import { joinLogs } from "./join-logs.ts";
import { finishRemovals, pruneRecords, pruneStrayCommands, settleSystemEvents } from "./prune-records.ts";
import { pruneRuns } from "./prune-runs.ts";
import { PruneSchedule } from "./prune-schedule.ts";

/** Between the end of one pass and the start of the next. */
const INTERVAL_MS = 10_000;
/** The same until this worker has owned a shard: rules that changed with a restart apply soon. */
const FIRST_INTERVAL_MS = 1_000;
/** The longest time between two passes over records that belong to no run. */
const RECORDS_INTERVAL_MS = 600_000;
/** Between two looks for system events that a crash has left owed. */
const EVENTS_INTERVAL_MS = 60_000;
/**
 * After this much work the pruner rests for as long as it worked: the slower the store answers, the less the pruner
 * asks of it.
 */
const BURST_MS = 50;
/** The owner of this shard prunes the records that belong to no pipeline. */
const SHARD_OF_RECORDS = 0;

/** After so many countings the rest of a pass has its turn: an upgrade may leave a million runs to count. */
const COUNTINGS_OF_A_PASS = 250;
/** The same for logs that are joined, in hundreds. */
const JOININGS_OF_A_PASS = 20;

export interface PruneFigures {
  /** Deleted parts since the start of the process. */
  readonly deleted: Record<KeptPart, number>;
  /** When the oldest run of the last pass was created, Unix milliseconds; null when there was no run. */
  oldestRunAt: number | null;
}

interface PrunerParts {
  readonly owned: () => readonly number[];
  readonly ages: Ages;
  /** Absent: all that is counted is read. */
  readonly endedRuns?: EndedRuns | undefined;
}

export class RetentionPruner {
  readonly figures: PruneFigures = { deleted: { runs: 0, logs: 0, artifacts: 0, events: 0 }, oldestRunAt: null };
  readonly #context: UpkeepContext;
  readonly #retention: Retention;
  readonly #owned: () => readonly number[];
  readonly #ages: Ages;
  readonly #endedRuns: EndedRuns | undefined;
  readonly #ended = new AbortController();
  #working: Promise<void> = Promise.resolve();
  /** The shards whose pipelines the schedule holds. */
  #scheduled: ReadonlySet<number> = new Set();
  #schedule = new PruneSchedule();
  /** By the monotonic clock. */
  #recordsDueAt = Number.NEGATIVE_INFINITY;
  /** The same for system events that a crash has left owed. */
  #eventsDueAt = Number.NEGATIVE_INFINITY;

  constructor(context: UpkeepContext, retention: Retention, { owned, ages, endedRuns }: PrunerParts) {
    this.#context = context;
    this.#retention = retention;
    this.#owned = owned;
    this.#ages = ages;
    this.#endedRuns = endedRuns;
  }

  start(): void {
    this.#working = this.#work();
  }

  async stop(): Promise<void> {
    this.#ended.abort();
    await this.#working;
  }

  /** One pass, without the rests between its pieces. */
  async pass(): Promise<void> {
    for await (const _ of this.#pass());
  }

  async #work(): Promise<void> {
    const { log } = this.#context;
    let hasOwnedShard = false;
    while (await this.#rest(hasOwnedShard ? INTERVAL_MS : FIRST_INTERVAL_MS)) {
      hasOwnedShard ||= this.#owned().length > 0;
      const before = { ...this.figures.deleted };
      try {
        await this.#burst(this.#pass());
      } catch (error) {
        log.warn({ error: String(error) }, "what is too old could not be deleted; the next pass tries again");
      }
      const { deleted } = this.figures;
      const now = Object.fromEntries(KEPT_PARTS.map((part) => [part, deleted[part] - before[part]]));
      log.debug(now, "a pass of the retention pruner has ended");
    }
  }

  async *#pass(): AsyncGenerator<void, void, void> {
    const context = this.#context;
    const { rules } = this.#retention;
    this.#renewSchedule();
    const schedule = this.#schedule;
    if (this.#owns(SHARD_OF_RECORDS)) {
      const counting = { ...context, endedRuns: this.#endedRuns };
      // Before anything is deleted that is not counted.
      yield* this.#attempt(countRuns(counting, COUNTINGS_OF_A_PASS), "ended runs could not be counted");
      yield* this.#attempt(joinLogs(context, JOININGS_OF_A_PASS), "the chunks of logs could not be joined");
      yield* finishRemovals(context);
      yield* this.#settleEventsWhenDue();
    }
    const byAge = await this.#ages.mayDelete();
    yield* pruneRuns(context, {
      rules,
      isMine: (pipelineId) => this.#owns(shardOf(pipelineId, context.shards)),
      onPruned: (part) => void this.figures.deleted[part]++,
      byAge,
      schedule,
    });
    this.figures.oldestRunAt = schedule.oldestRunAt;
    if (!byAge) return;
    yield* pruneStrayCommands(context, this.#owned());
    if (this.#owns(SHARD_OF_RECORDS)) yield* this.#pruneRecordsWhenDue();
  }

  /** What cannot be done now must not keep what is too old. */
  async *#attempt(work: AsyncGenerator<void, void, void>, failure: string): AsyncGenerator<void, void, void> {
    try {
      yield* work;
    } catch (error) {
      this.#context.log.warn({ error: String(error) }, `${failure}; the next pass tries again`);
    }
  }

  /** The pipelines of a shard that this node did not own before are not in the schedule. */
  #renewSchedule(): void {
    const owned = new Set(this.#owned());
    if ([...owned].some((shard) => !this.#scheduled.has(shard))) this.#schedule = new PruneSchedule();
    this.#scheduled = owned;
  }

  async *#pruneRecordsWhenDue(): AsyncGenerator<void, void, void> {
    const { recordsMs, auditMs } = this.#retention;
    const now = this.#context.clock.monotonic();
    if (now < this.#recordsDueAt) return;
    yield* pruneRecords(this.#context, recordsMs, auditMs);
    yield* forgetCounters(this.#context);
    const shortestMs = Math.min(recordsMs, auditMs);
    this.#recordsDueAt = now + Math.min(RECORDS_INTERVAL_MS, shortestMs / 10);
  }

  async *#settleEventsWhenDue(): AsyncGenerator<void, void, void> {
    const now = this.#context.clock.monotonic();
    if (now < this.#eventsDueAt) return;
    yield* settleSystemEvents(this.#context);
    this.#eventsDueAt = now + EVENTS_INTERVAL_MS;
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

  /** Sleeps. False when the pruner was stopped. */
  async #rest(ms: number): Promise<boolean> {
    const { signal } = this.#ended;
    await sleep(ms, undefined, { signal }).catch(() => {});
    return !signal.aborted;
  }

  #owns(shard: number): boolean {
    return this.#owned().includes(shard);
  }
}
