/** All processes of one simulation, and what starts them again when they die. */
import { asId, type AgentId } from "../../src/domain/ids.ts";
import type { Process } from "./engine/process.ts";
import type { OwnersBeside, World } from "./engine/world.ts";
import type { Effects } from "./judge/effects.ts";
import type { Executions } from "./judge/executions.ts";
import { Agent } from "./parts/agent.ts";
import { Edge } from "./parts/edge.ts";
import { Gateway } from "./parts/gateway.ts";
import { Worker } from "./parts/worker.ts";

export interface FleetSize {
  readonly workers: number;
  readonly gateways: number;
  readonly edges: number;
  readonly agents: number;
  readonly slots: number;
  /** Which agents pull, by their numbers. */
  readonly pulling: ReadonlySet<number>;
  /** Probability that an agent cannot start a step. */
  readonly unable: number;
}

/** A process that died is started again after this long at most, milliseconds. */
const RESTART_MS = 4_000;

export class Fleet {
  readonly workers: Worker[] = [];
  readonly gateways: Gateway[] = [];
  readonly edges: Edge[] = [];
  readonly agents: Agent[] = [];
  readonly #world: World;

  constructor(world: World, size: FleetSize, executions: Executions, effects: Effects) {
    this.#world = world;
    const times = (count: number): readonly number[] => Array.from({ length: count }, (_, nth) => nth);
    for (const nth of times(size.workers)) this.#keep(this.workers, nth, () => new Worker(world, effects));
    for (const nth of times(size.gateways)) this.#keep(this.gateways, nth, () => new Gateway(world));
    for (const nth of times(size.edges)) this.#keep(this.edges, nth, () => new Edge(world, effects));
    for (const nth of times(size.agents)) {
      const agent = new Agent({
        world,
        executions,
        agentId: this.#newAgent(nth, size.slots),
        // Every simulation has at least one agent for every job.
        labels: nth === 0 ? { pool: "special" } : {},
        slots: size.slots,
        gateways: () => this.gateways,
        unable: size.unable,
        pulls: size.pulling.has(nth),
      });
      this.agents.push(agent);
      this.#startAgain(agent);
    }
  }

  /** The living owners of shards, as parts of one process with the edges and the gateways. */
  besides(): OwnersBeside {
    const here = () => this.workers.filter(({ process }) => process.isAlive && !process.isFrozen);
    return {
      adopt({ aggregate, plan }) {
        for (const { kernel } of here()) kernel.adopt(aggregate, plan);
      },
      creatorIsDone(runId) {
        for (const { kernel } of here()) kernel.creatorIsDone(runId);
      },
      take(shard, message) {
        const owner = here().find((worker) => worker.owns(shard));
        return owner?.kernel.receive(shard, [message]).then(() => owner.process.isAlive && owner.owns(shard));
      },
    };
  }

  /** The processes of one kind that are alive. */
  alive(kind: "workers" | "gateways" | "edges" | "agents"): readonly Process[] {
    const all: readonly { readonly process: Process }[] = this[kind];
    return all.map(({ process }) => process).filter(({ isAlive }) => isAlive);
  }

  #keep<Part extends { readonly process: Process }>(parts: Part[], nth: number, start: () => Part): void {
    const part = start();
    parts[nth] = part;
    onDeathOf(part.process, () => this.#later(() => this.#keep(parts, nth, start)));
  }

  #startAgain(agent: Agent): void {
    onDeathOf(agent.process, () => {
      this.#later(() => {
        agent.start();
        this.#startAgain(agent);
      });
    });
  }

  #later(start: () => void): void {
    const { scheduler, draws } = this.#world;
    scheduler.after(100 + draws.fraction() ** 2 * RESTART_MS, start);
  }

  #newAgent(nth: number, slots: number): AgentId {
    const agentId = asId<AgentId>(`agt_${nth}`);
    const labels = nth === 0 ? { pool: "special" } : {};
    this.#world.store.agents.set(agentId, { agentId, name: agentId, labels, slots, version: "", createdAt: 0 });
    return agentId;
  }
}

/** A process may have died in its first call, before anything else. */
function onDeathOf(process: Process, listener: () => void): void {
  if (process.isAlive) process.onDeath.push(listener);
  else listener();
}
