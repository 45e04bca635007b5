/** What the parts of the kernel share. */
import type { Clock, Timers } from "../../src/domain/clock.ts";
import type { RootId } from "../../src/domain/ids.ts";
import type { Logger } from "../../src/domain/logger.ts";
import type { RunPlan } from "../../src/domain/plan.ts";
import type { AggregateHead, OwedRecord } from "../../src/stores/ports/aggregates.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import type { AggregateType } from "./actor-kind.ts";
import { CREATOR_MS } from "./first-turn.ts";
import type { PerformerPorts } from "./performer.ts";
import type { LiveActor } from "./turn.ts";

export interface KernelContext extends PerformerPorts {
  readonly stores: Stores;
  /** The type of an aggregate, by the id of its root. */
  readonly typeOf: (rootId: RootId) => AggregateType;
  readonly clock: Clock;
  readonly timers: Timers;
  /** A random number from 0 to below 1, which spreads repeated attempts over time. */
  readonly random: () => number;
  readonly log: Logger;
  readonly counters: KernelCounters;
  readonly timing: KernelTiming;
  /** For metrics and statistics. It must not throw, and must return quickly. */
  readonly onTurnSaved?: TurnSaved;
  /**
   * Called when the save of a turn has begun, with what the snapshot owes: what will be performed can be prepared meanwhile.
   * The save may yet fail. It must not throw.
   */
  readonly onSaving?: (owed: readonly OwedRecord[]) => void;
  /** For metrics, too: called after each turn that has decided something, with its milliseconds until its effects were performed. */
  readonly onTurnTaken?: (ms: number) => void;
}

/**
 * Called after each save that the store has confirmed, with the actors that it changed, all actors as they were before,
 * the head after it, and the plan.
 */
export type TurnSaved = (
  changed: readonly LiveActor[],
  before: ReadonlyMap<string, LiveActor>,
  head: AggregateHead<RootId>,
  plan: RunPlan,
) => void;

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
  /** An aggregate that has been idle for this long is dropped from memory. */
  readonly passivateMs: number;
  /** First and longest pause of an aggregate after a transient fault. */
  readonly parkMinMs: number;
  readonly parkMaxMs: number;
  /** Number of parked aggregates of a shard from which the shard fetches no more envelopes. */
  readonly parkedMax: number;
  /** Number of aggregates in memory from which a new run that waits for an agent is not kept there. */
  readonly waitingMax: number;
  /** How long the creator of an aggregate has to perform what its first turn owes. */
  readonly creatorMs: number;
  /** Between two checks of the presence of agents. */
  readonly watchMs: number;
  /** Added to a lease before its agent counts as lost. */
  readonly lossMarginMs: number;
  /** Between two checks of queued jobs. */
  readonly queueCheckMs: number;
  /** How long a job has been queued when it is told why no agent takes it. */
  readonly longWaitMs: number;
}

export const DEFAULT_TIMING: KernelTiming = {
  sweepMs: 1_000,
  passivateMs: 5_000,
  parkMinMs: 100,
  parkMaxMs: 5_000,
  parkedMax: 1_000,
  waitingMax: 1_000,
  creatorMs: CREATOR_MS,
  watchMs: 1_000,
  lossMarginMs: 5_000,
  queueCheckMs: 2_000,
  longWaitMs: 5_000,
};
