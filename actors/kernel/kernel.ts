/**
 * The kernel: what a worker does with the shards that it owns. Only the kernel loads a stored aggregate and saves it
 * again. The first turn of a run is not taken here: the creator of the run takes it, before the run is stored
 * (`first-turn.ts`).
 */
import type { AddressedMessage } from "../../queues/envelope.ts";
import type { ShardHandler } from "../../queues/ports.ts";
import type { Presence } from "../../src/board/board.ts";
import { asId, type RootId, type RunId } from "../../src/domain/ids.ts";
import { systemTimers } from "../../src/domain/clock.ts";
import type { RunPlan } from "../../src/domain/plan.ts";
import type { Aggregate } from "../../src/stores/ports/aggregates.ts";
import { DoneCreations } from "./done-creations.ts";
import { DEFAULT_TIMING, type KernelContext, type KernelCounters, type KernelTiming } from "./kernel-context.ts";
import { LeaseWatcher } from "./lease-watcher.ts";
import { QueueWatcher } from "./queue-watcher.ts";
import { Shard } from "./shard.ts";
import { SweepRounds } from "./sweep-rounds.ts";

/** Without `timers` and `random`, the kernel uses those of the process. */
export interface KernelOptions
  extends
    Omit<KernelContext, "counters" | "timing" | "timers" | "random">,
    Partial<Pick<KernelContext, "timers" | "random">> {
  readonly presence: Pick<Presence, "read" | "online" | "declareLost">;
  /** Overrides of the default timing, for tests. */
  readonly timing?: Partial<KernelTiming>;
}

/** Shards that notice a loss of Redis within this time after another one notice the same loss. */
const ONE_LOSS_MS = 10_000;

/** A shard that this node has opened, or is opening. */
interface OpenShard {
  readonly epoch: number;
  readonly shard: Shard;
}

export class Kernel implements ShardHandler {
  readonly counters: KernelCounters = {
    turns: 0,
    decided: 0,
    late: 0,
    deadLetters: 0,
    conflicts: 0,
    faults: 0,
    activations: 0,
    parked: 0,
    unreadable: 0,
  };
  readonly #context: KernelContext;
  readonly #watcher: LeaseWatcher;
  readonly #queueWatcher: QueueWatcher;
  readonly #sweeps: SweepRounds;
  readonly #shards = new Map<number, OpenShard>();
  readonly #done = new DoneCreations();
  /** When a shard has last noticed that Redis was emptied, by the monotonic clock. */
  #lossAt = -Infinity;

  constructor(options: KernelOptions) {
    const timing = { ...DEFAULT_TIMING, ...options.timing };
    const { timers = systemTimers, random = Math.random } = options;
    this.#context = { ...options, timers, random, counters: this.counters, timing };
    this.#watcher = new LeaseWatcher({ ...this.#context, presence: options.presence, ...timing });
    this.#watcher.start();
    this.#queueWatcher = new QueueWatcher({
      ...this.#context,
      ...timing,
      presence: options.presence,
      aggregates: options.stores.aggregates,
      shards: () => this.#shards.keys(),
      deliver: async (shard, rootId, message) => this.#shards.get(shard)?.shard.deliver(rootId, message),
      refresh: async (shard, rootId) => this.#shards.get(shard)?.shard.refresh(rootId),
    });
    this.#queueWatcher.start();
    this.#sweeps = new SweepRounds({ ...this.#context, ...timing, shards: options.stores.shards });
    this.#sweeps.start();
  }

  /** Stops sweeping and watching agents and queued jobs, and closes the shards that their owner has not closed yet. */
  stop(): Promise<void> {
    this.#watcher.stop();
    this.#queueWatcher.stop();
    this.#sweeps.stop();
    for (const [index, { epoch }] of this.#shards) this.close(index, epoch);
    return Promise.resolve();
  }

  /**
   * Rejects when the store cannot be read, and when the shard was closed or opened under a later epoch meanwhile. An
   * ownership that has ended may still be opening while the same node opens its successor, so each call names its epoch.
   */
  async open(index: number, epoch: number): Promise<void> {
    const current = this.#shards.get(index);
    if (current !== undefined && current.epoch >= epoch) throw new Error("the shard was opened under a later epoch");
    current?.shard.close();
    const shard = new Shard({ ...this.#context, done: this.#done }, this.#watcher, index, epoch);
    this.#shards.set(index, { epoch, shard });
    try {
      await shard.start();
    } catch (error) {
      this.close(index, epoch);
      throw error;
    }
    this.#sweeps.add(index, shard);
  }

  async redisLost(index: number): Promise<void> {
    this.#queueWatcher.forgetPresence();
    this.#logLoss(index);
    await this.#shards.get(index)?.shard.recover();
  }

  /** All shards of a node notice a loss, within seconds. It is worth one warning. */
  #logLoss(shard: number): void {
    const { clock, log } = this.#context;
    const now = clock.monotonic();
    const isKnown = now - this.#lossAt < ONE_LOSS_MS;
    this.#lossAt = now;
    if (isKnown) log.debug({ shard }, "telling Redis again what waits in this shard");
    else log.warn({}, "Redis was emptied or restarted: telling it again what waits in the shards of this node");
  }

  async receive(index: number, messages: readonly AddressedMessage[]): Promise<void> {
    const shard = this.#shards.get(index)?.shard;
    if (shard === undefined) return;
    await shard.waitForRoom();
    await Promise.all(
      messages.map(({ rootId, to, message }) =>
        shard.deliver(asId<RootId>(rootId), to === null ? null : { to, message }),
      ),
    );
  }

  /**
   * Takes a run into memory that this process has just stored, with version 1, if its shard is open here. A run that is
   * bound to no agent stays out when many are in memory, because it may wait for long.
   */
  adopt(aggregate: Aggregate, plan: RunPlan): void {
    const { shard, summary } = aggregate.head;
    const hasRoom = this.counters.activations < this.#context.timing.waitingMax;
    if (summary.bound || hasRoom) this.#shards.get(shard)?.shard.adopt(aggregate, plan);
  }

  /** This process has performed all that the first turn of the run owes. */
  creatorIsDone(runId: RunId): void {
    this.#done.add(runId);
  }

  async drain(index: number): Promise<void> {
    this.#sweeps.remove(index);
    await this.#shards.get(index)?.shard.drain();
  }

  close(index: number, epoch: number): void {
    const current = this.#shards.get(index);
    if (current?.epoch !== epoch) return;
    this.#sweeps.remove(index);
    current.shard.close();
    this.#shards.delete(index);
  }
}
