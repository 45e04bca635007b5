/** A simulated worker: the real kernel, on a model of the owner of shards. */
import { aggregateTypeOf } from "../../../actors/aggregates.ts";
import { Kernel } from "../../../actors/kernel/kernel.ts";
import type { Process } from "../engine/process.ts";
import type { World } from "../engine/world.ts";
import type { Effects } from "../judge/effects.ts";
import { beginOutside, type OutsideWork } from "../outside/workers.ts";
import { scheduledStarts } from "./scheduled-starts.ts";
import { SimulatedOwner } from "./simulated-owner.ts";
import { portsOf } from "./simulated-ports.ts";

export class Worker {
  readonly process: Process;
  readonly kernel: Kernel;
  readonly #owner: SimulatedOwner;
  readonly #outside: OutsideWork | undefined;

  constructor(world: World, effects: Effects) {
    const { redis, draws, shards } = world;
    this.process = world.newProcess("worker");
    const ports = effects.counted(portsOf(world, this.process));
    this.kernel = new Kernel({
      ...ports,
      typeOf: aggregateTypeOf,
      schedules: scheduledStarts(world, ports),
      timers: this.process.timers,
      random: () => draws.fraction(),
    });
    this.#owner = new SimulatedOwner({
      redis,
      process: this.process,
      draws,
      nodeId: this.process.name,
      shards,
      handler: this.kernel,
      epochs: ports.stores.shards,
    });
    this.#owner.start();
    if (world.hasOutside) this.#outside = beginOutside(world, this.process, ports, () => this.#owner.owned());
  }

  owns(shard: number): boolean {
    return this.#owner.owns(shard);
  }

  /** Gives up the shards in good order, and ends. */
  leave(): void {
    void Promise.all([this.#outside?.stop(), this.#owner.stop()]).then(() => this.process.kill());
  }
}
