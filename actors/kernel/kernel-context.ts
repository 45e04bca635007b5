/** What the parts of the kernel share. */
import type { Clock } from "../../src/domain/clock.ts";
import type { RootId } from "../../src/domain/ids.ts";
import type { Logger } from "../../src/domain/logger.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import type { AggregateType } from "./actor-kind.ts";
import type { PerformerPorts } from "./performer.ts";
import type { LiveActor } from "./turn.ts";

export interface KernelContext extends PerformerPorts {
  readonly stores: Stores;
  /** Of what kind a root is, by its id. */
  readonly typeOf: (rootId: RootId) => AggregateType;
  readonly clock: Clock;
  readonly log: Logger;
  readonly counters: KernelCounters;
  readonly timing: KernelTiming;
  /** For metrics: it must neither throw nor take long. */
  readonly onTurnSaved?: TurnSaved;
}

/** Told of a save once the store has answered it: the actors that it changed, and all actors as they were before. */
export type TurnSaved = (changed: readonly LiveActor[], before: ReadonlyMap<string, LiveActor>) => void;

/** Totals since the start of the process, and gauges, for metrics and tests. */
export interface KernelCounters {
  turns: number;
  decided: number;
  late: number;
  deadLetters: number;
  conflicts: number;
  faults: number;
  activations: number;
  parked: number;
  /** Aggregates of owned shards that only a newer version can read. */
  unreadable: number;
}

/** Bounds of the kernel, milliseconds unless said otherwise. */
export interface KernelTiming {
  /** Between two sweeps of a shard for inbox entries, due timers and owed effects. */
  readonly sweepMs: number;
  /** An aggregate that was idle this long is dropped from memory. */
  readonly passivateMs: number;
  /** First and longest pause of an aggregate that met a transient fault. */
  readonly parkMinMs: number;
  readonly parkMaxMs: number;
  /** Parked aggregates of a shard above which nothing more is fetched (a count). */
  readonly parkedMax: number;
  /** How long the creator of an aggregate has to perform what its first turn owes. */
  readonly creatorMs: number;
  /** Between two looks at the presence of agents. */
  readonly watchMs: number;
  /** Added to a lease before its agent counts as lost. */
  readonly lossMarginMs: number;
  /** Between two looks at queued jobs. */
  readonly queueLookMs: number;
  /** For how long a job has been queued when it is told why. */
  readonly longWaitMs: number;
}

export const DEFAULT_TIMING: KernelTiming = {
  sweepMs: 1_000,
  passivateMs: 5_000,
  parkMinMs: 100,
  parkMaxMs: 5_000,
  parkedMax: 1_000,
  creatorMs: 1_500,
  watchMs: 1_000,
  lossMarginMs: 5_000,
  queueLookMs: 2_000,
  longWaitMs: 5_000,
};
