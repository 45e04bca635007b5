/**
 * The kernel: what a worker does with the shards that it owns. Only the kernel loads a stored aggregate and saves it
 * again. The first turn of a run is not taken here: the creator of the run takes it, before the run is stored
 * (`first-turn.ts`).
 */
import type { AddressedMessage } from "../../queues/envelope.ts";
import type { ShardHandler } from "../../queues/ports.ts";
import type { Presence } from "../../src/board/board.ts";
import { asId, type RootId } from "../../src/domain/ids.ts";
import { DEFAULT_TIMING, type KernelContext, type KernelCounters, type KernelTiming } from "./kernel-context.ts";
import { LeaseWatcher } from "./lease-watcher.ts";
import { QueueWatcher } from "./queue-watcher.ts";
import { Shard } from "./shard.ts";

export interface KernelOptions extends Omit<KernelContext, "counters" | "timing"> {
  readonly presence: Pick<Presence, "read" | "online" | "declareLost">;
  /** Overrides of the default timing, for tests. */
  readonly timing?: Partial<KernelTiming>;
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
  readonly #shards = new Map<number, Shard>();

  constructor(options: KernelOptions) {
    const timing = { ...DEFAULT_TIMING, ...options.timing };
    this.#context = { ...options, counters: this.counters, timing };
    this.#watcher = new LeaseWatcher({ ...options, ...timing });
    this.#watcher.start();
    this.#queueWatcher = new QueueWatcher({
      ...options,
      ...timing,
      aggregates: options.stores.aggregates,
      shards: () => this.#shards.keys(),
      deliver: async (shard, rootId, message) => this.#shards.get(shard)?.deliver(rootId, message),
    });
    this.#queueWatcher.start();
  }

  /** Stops watching agents and queued jobs, and closes the shards that their owner has not closed yet. */
  stop(): Promise<void> {
    this.#watcher.stop();
    this.#queueWatcher.stop();
    for (const index of this.#shards.keys()) this.close(index);
    return Promise.resolve();
  }

  async open(index: number, epoch = 0): Promise<void> {
    const shard = new Shard(this.#context, this.#watcher, index, epoch);
    await shard.start();
    this.#shards.set(index, shard);
  }

  async redisLost(index: number): Promise<void> {
    const { log } = this.#context;
    this.#queueWatcher.forgetPresence();
    log.warn({ shard: index }, "Redis was emptied or restarted: telling it again what waits in this shard");
    await this.#shards.get(index)?.recover();
  }

  async receive(index: number, messages: readonly AddressedMessage[]): Promise<void> {
    const shard = this.#shards.get(index);
    if (shard === undefined) return;
    await shard.waitForRoom();
    await Promise.all(
      messages.map(({ rootId, to, message }) =>
        shard.deliver(asId<RootId>(rootId), to === null ? null : { to, message }),
      ),
    );
  }

  async drain(index: number): Promise<void> {
    await this.#shards.get(index)?.drain();
  }

  close(index: number): void {
    this.#shards.get(index)?.close();
    this.#shards.delete(index);
  }
}
