/**
 * A simulation of one fixed case: the test decides which processes there are, and which fault meets which call. Nothing
 * else goes wrong.
 */
import { asId, type AgentId } from "../../src/domain/ids.ts";
import type { Violation } from "../chaos/check/evidence.ts";
import { drawsOfSeed } from "./engine/draws.ts";
import type { Fate } from "./engine/service.ts";
import { World } from "./engine/world.ts";
import { Effects } from "./judge/effects.ts";
import { isOutsideDone } from "./judge/deliveries.ts";
import { Executions } from "./judge/executions.ts";
import { checkFinal, isSettled } from "./judge/final.ts";
import { areTimesDone } from "./judge/schedules.ts";
import { QuietWatch } from "./judge/quiet.ts";
import { Sender } from "./outside/pushes.ts";
import { Clients, type Triggered } from "./load/clients.ts";
import { shapeOf } from "./load/shapes.ts";
import { Agent } from "./parts/agent.ts";
import { Edge } from "./parts/edge.ts";
import { Gateway } from "./parts/gateway.ts";
import { Worker } from "./parts/worker.ts";

/** A fault for each call of one process whose name begins with these words, until the test ends it. */
export interface CallRule {
  readonly of: { readonly name: string };
  readonly call: string;
  readonly fate: Exclude<Fate, undefined>;
  /** How many calls it meets; default 1. */
  readonly times?: number;
}

export class Stage {
  readonly world = new World({
    seed: 1,
    shards: 1,
    quotas: { everyProject: 1_000, projects: new Map(), labels: [] },
    tracing: "last",
  });
  readonly executions = new Executions(this.world.scheduler, this.world.trace);
  readonly effects = new Effects(() => this.world.now);
  readonly workers: Worker[] = [];
  readonly edges: Edge[] = [new Edge(this.world, this.effects)];
  /** The gateways to which agents connect from now on. */
  gateways: Gateway[] = [new Gateway(this.world)];
  readonly clients = new Clients(this.world, drawsOfSeed(1, "clients"), () => this.edges);
  /** Tells pushes, once the stage has pipelines that listen: see outside/pushes.ts. */
  readonly sender = new Sender(this.world, drawsOfSeed(1, "pushes"), this.clients);
  #agents = 0;
  #quiet: QuietWatch | undefined;

  worker(): Worker {
    const worker = new Worker(this.world, this.effects);
    this.workers.push(worker);
    return worker;
  }

  gateway(): Gateway {
    const gateway = new Gateway(this.world);
    this.gateways.push(gateway);
    return gateway;
  }

  agent(slots = 2, pulls = false): Agent {
    const { world, executions } = this;
    const agentId = asId<AgentId>(`agt_${this.#agents++}`);
    world.store.agents.set(agentId, { agentId, name: agentId, labels: {}, slots, version: "", createdAt: 0 });
    return new Agent({
      world,
      executions,
      agentId,
      labels: {},
      slots,
      gateways: () => this.gateways,
      unable: 0,
      pulls,
    });
  }

  trigger(shape: string): Triggered {
    return this.clients.trigger(shapeOf(shape));
  }

  /** Lets virtual time pass. */
  async pass(ms: number): Promise<void> {
    const until = this.world.now + ms;
    await this.world.scheduler.runUntil(() => this.world.now >= until);
  }

  /** Lets time pass until `is` holds. Throws when that takes longer than `ms`. */
  async until(what: string, is: () => boolean, ms = 30_000): Promise<void> {
    const until = this.world.now + ms;
    await this.world.scheduler.runUntil(() => is() || this.world.now >= until);
    if (!is()) throw new Error(`not within ${ms} ms: ${what}\n${this.world.trace.lines.join("\n")}`);
  }

  /** Meets the next calls that the rules name with their faults. */
  meet(...rules: readonly CallRule[]): void {
    const left = new Map(rules.map((rule) => [rule, rule.times ?? 1]));
    const fateOf = (process: { readonly name: string }, what: string): Fate => {
      for (const [rule, times] of left) {
        if (times === 0 || rule.of !== process || !what.startsWith(rule.call)) continue;
        left.set(rule, times - 1);
        return rule.fate;
      }
      return undefined;
    };
    const { storeService, redis, host } = this.world;
    storeService.fateOf = redis.service.fateOf = host.service.fateOf = fateOf;
  }

  /** From now on, every difference that stays is a violation. */
  beQuiet(): void {
    this.#quiet = new QuietWatch(this.world, this.effects, false);
  }

  /** All violations, when every run has ended or `ms` have passed. */
  async end(ms = 120_000): Promise<readonly Violation[]> {
    const { world, clients, effects, executions } = this;
    const { store, host } = world;
    const until = world.now + ms;
    const isOver = (): boolean =>
      clients.triggered.every(({ runId }) => isSettled(store, runId)) && areTimesDone(store) && isOutsideDone(store);
    await world.scheduler.runUntil(() => world.now >= until || isOver());
    await this.pass(15_000);
    this.#quiet?.stop();
    const { haveClocksJumped } = world;
    const { pushes } = this.sender;
    const found = checkFinal({
      store,
      host,
      pushes,
      clients,
      executions,
      effects,
      isFaultless: false,
      haveClocksJumped,
    });
    return [...(this.#quiet?.violations ?? []), ...found];
  }
}
