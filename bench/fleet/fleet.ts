/**
 * W14: a fleet of simulated agents on two gateways, with many queued jobs of many projects before them. The agents speak
 * the real protocol over connections of their own; their steps are timers.
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import { AgentClient, type HeldStepRun } from "../../proto/generated/agent/v1/agent.ts";
import { bearer, openGatewayClients } from "../../src/agent/connection/gateway-clients.ts";
import { until } from "../../test/support/until.ts";
import { keepInFlight } from "../measure/in-flight.ts";
import { residentBytes } from "../measure/memory.ts";
import { percentile } from "../measure/percentiles.ts";
import { idleCpu } from "../millrace/idle.ts";
import { NO_OP } from "../millrace/runs.ts";
import type { Figure } from "../system.ts";
import { REGISTRATION } from "../measure/agent.ts";
import { FleetWorld, pipelineOfProject } from "./fleet-world.ts";
import { type FleetListener, SimulatedAgent, spread } from "./simulated-agent.ts";

export interface FleetSize {
  readonly agents: number;
  /** Jobs that wait in all. */
  readonly jobs: number;
  /** Different selectors of the waiting jobs; each is of one project. */
  readonly selectors: number;
  readonly projects: number;
  /** Steps that end in a second, all agents together: half of W1's rate. */
  readonly stepsPerSecond: number;
}

export const WHOLE_FLEET: FleetSize = {
  agents: 2_000,
  jobs: 20_000,
  selectors: 500,
  projects: 50,
  stepsPerSecond: 100,
};

/** The same shape with fewer agents and jobs, at the same rate for each agent. */
export function fleetOf(agents: number): FleetSize {
  const share = agents / WHOLE_FLEET.agents;
  const { jobs, selectors, projects, stepsPerSecond } = WHOLE_FLEET;
  const part = (whole: number) => Math.max(1, Math.round(whole * share));
  const fewer = part(projects);
  // Each project has as many selectors as in the whole fleet, so that each selector has jobs.
  return {
    agents,
    jobs: part(jobs),
    selectors: fewer * (selectors / projects),
    projects: fewer,
    stepsPerSecond: stepsPerSecond * share,
  };
}

const JOBS_OF_RUN = 40;
/** Projects that come late, one after the other, behind all that waits. */
const LATE_PROJECTS = 20;
/** Agents that warm the gateways up before the memory is measured. */
const WARM_UP_AGENTS = 50;
const SETTLE_MS = 15_000;
const IDLE_MS = 10_000;
const STEADY_MS = 20_000;
const RETURN_MS = 120_000;
/** Measures one round. Rejects when a step was lost, or began twice. */
export async function measureFleet(folder: string, size: FleetSize): Promise<readonly Figure[]> {
  const waiting = Array.from({ length: size.projects }, (_, at) => pipelineOfProject(`waiting-${at}`));
  const late = Array.from({ length: LATE_PROJECTS }, (_, at) => pipelineOfProject(`late-${at}`));
  const world = await FleetWorld.start(folder, [...waiting, ...late]);
  const fleet = new Fleet(world, size);
  try {
    await world.startGateways();
    await fleet.register();
    const memory = await fleet.connectAll();
    const idle = await idleCpu(
      { "a gateway": world.gateways[0]!.pid, "edge and worker": world.node.pid, redis: await redisPid(world) },
      IDLE_MS,
    );
    const queued = await fleet.queue(waiting.map(({ pipelineId }) => pipelineId));
    const claims = await fleet.work(late.map(({ pipelineId }) => pipelineId));
    const back = await fleet.cutOff();
    fleet.check();
    return [...memory, ...idle, ...queued, ...claims, ...back];
  } finally {
    fleet.close();
    await world.stop();
  }
}

class Fleet implements FleetListener {
  readonly #world: FleetWorld;
  readonly #size: FleetSize;
  readonly #agents: SimulatedAgent[] = [];
  readonly #tokens: string[] = [];
  readonly #begun = new Map<string, number>();
  /** When the first step of a run came to an agent. */
  readonly #runs = new Map<string, number>();
  #doubled: HeldStepRun[] = [];
  #lost: HeldStepRun[] = [];
  #refused: HeldStepRun[] = [];
  #sinceEnd: number[] = [];
  #sinceRelease: number[] = [];
  #welcomes: { readonly agent: SimulatedAgent; readonly at: number; readonly heldSteps: boolean }[] = [];

  constructor(world: FleetWorld, size: FleetSize) {
    this.#world = world;
    this.#size = size;
  }

  dispatched(step: HeldStepRun, sinceEndMs: number, sinceReleaseMs: number): void {
    if (this.#begun.has(step.stepRunId)) this.#doubled.push(step);
    this.#begun.set(step.stepRunId, performance.now());
    if (!this.#runs.has(step.runId)) this.#runs.set(step.runId, performance.now());
    this.#sinceEnd.push(sinceEndMs);
    this.#sinceRelease.push(sinceReleaseMs);
  }

  welcomed(agent: SimulatedAgent): void {
    this.#welcomes.push({ agent, at: performance.now(), heldSteps: agent.holdsSteps });
  }

  lost(step: HeldStepRun): void {
    this.#lost.push(step);
  }

  refused(step: HeldStepRun): void {
    this.#refused.push(step);
  }

  /** Throws unless every step has begun once and none was lost. */
  check(): void {
    const [lost, doubled, refused] = [this.#lost.length, this.#doubled.length, this.#refused.length];
    if (lost + doubled + refused === 0) return;
    throw new Error(`${lost} steps were lost, ${refused} were refused, and ${doubled} began twice`);
  }

  close(): void {
    for (const agent of this.#agents) agent.close();
  }

  async register(): Promise<void> {
    const clients = await openGatewayClients({ address: this.#world.addresses[0]! });
    try {
      await keepInFlight(this.#size.agents, 20, async (at) => {
        this.#tokens[at] = await registerOne(clients.agent, `agent-${at}`);
      });
    } finally {
      clients.close();
    }
  }

  /** Connects the agents. Answers the memory that one more agent costs a gateway. */
  async connectAll(): Promise<readonly Figure[]> {
    const [warm, all] = [Math.min(WARM_UP_AGENTS, this.#size.agents / 2), this.#size.agents];
    await this.#connect(0, warm);
    await pause(SETTLE_MS);
    const before = this.#gatewayBytes();
    const from = performance.now();
    await this.#connect(warm, all);
    const connectedMs = performance.now() - from;
    await pause(SETTLE_MS);
    const bytes = this.#gatewayBytes() - before;
    return [
      { metric: "connecting all", unit: "ms", value: connectedMs },
      { metric: "gateway memory of an agent", unit: "kB", value: bytes / (all - warm) / 1_000 },
    ];
  }

  /** Puts all jobs on the board while the agents take none. */
  async queue(pipelineIds: readonly string[]): Promise<readonly Figure[]> {
    const { jobs, projects, selectors } = this.#size;
    for (const [at, pipelineId] of pipelineIds.entries()) {
      const own = Math.floor(selectors / projects);
      const pools = Array.from({ length: JOBS_OF_RUN }, (_, index) => at * own + (index % own));
      await this.#save(
        pipelineId,
        pools.map((pool) => ({ pool: `p${pool}` })),
      );
    }
    const before = await redisBytes(this.#world);
    const runs = Math.ceil(jobs / JOBS_OF_RUN);
    const from = performance.now();
    await keepInFlight(runs, 4, async (at) => {
      await this.#trigger(pipelineIds[at % pipelineIds.length]!);
    });
    const waiting = () => this.#world.redisClient.hlen("{board}:offers");
    await until("all jobs on the board", async () => (await waiting()) >= runs * JOBS_OF_RUN, 120_000);
    const tookMs = performance.now() - from;
    // Messages and other traces of the triggers leave Redis first.
    await pause(5_000);
    const bytes = (await redisBytes(this.#world)) - before;
    return [
      { metric: "queued jobs", unit: "jobs", value: runs * JOBS_OF_RUN },
      { metric: "queueing all", unit: "ms", value: tookMs },
      { metric: "Redis memory of a queued job", unit: "bytes", value: bytes / (runs * JOBS_OF_RUN) },
    ];
  }

  /** The agents work at the rate of the fleet; projects that come late are served meanwhile. */
  async work(latePipelines: readonly string[]): Promise<readonly Figure[]> {
    for (const pipelineId of latePipelines) await this.#save(pipelineId, [{}]);
    const aroundMs = this.#stepMs;
    await Promise.all(this.#agents.map(async (agent) => (await spread(aroundMs), agent.takeJobs())));
    this.#sinceEnd = [];
    this.#sinceRelease = [];
    const delay = monitorEventLoopDelay();
    delay.enable();
    const { node, gateways } = this.#world;
    const redis = await redisPid(this.#world);
    const before = this.#begun.size;
    const from = performance.now();
    const firsts: number[] = [];
    const [cpu] = await Promise.all([
      idleCpu({ "a gateway": gateways[0]!.pid, "edge and worker": node.pid, redis }, STEADY_MS),
      (async () => {
        for (const pipelineId of latePipelines) {
          const at = performance.now();
          const runId = await this.#trigger(pipelineId);
          await until("the first step of a late project", () => this.#runs.has(runId), 30_000);
          firsts.push(this.#runs.get(runId)! - at);
          await pause(200);
        }
      })(),
    ]);
    const seconds = (performance.now() - from) / 1_000;
    const steps = this.#begun.size - before;
    const waiting = await this.#world.redisClient.hlen("{board}:offers");
    return [
      { metric: "jobs that still wait", unit: "jobs", value: waiting },
      { metric: "steps begun", unit: "steps/s", value: steps / seconds },
      { metric: "claim of a free slot, p50", unit: "ms", value: percentile(this.#sinceRelease, 0.5) },
      { metric: "claim of a free slot, p99", unit: "ms", value: percentile(this.#sinceRelease, 0.99) },
      { metric: "end of a step to the next, p50", unit: "ms", value: percentile(this.#sinceEnd, 0.5) },
      { metric: "end of a step to the next, p99", unit: "ms", value: percentile(this.#sinceEnd, 0.99) },
      { metric: "delay of the harness itself, p99", unit: "ms", value: delay.percentile(99) / 1e6 },
      { metric: "first job of a late project, p50", unit: "ms", value: percentile(firsts, 0.5) },
      { metric: "first job of a late project, most", unit: "ms", value: Math.max(...firsts) },
      ...cpu.map((figure) => ({ ...figure, metric: figure.metric.replace("idle CPU", "CPU at work") })),
    ];
  }

  /** All gateways die and start again. Answers how long it takes until all agents are back. */
  async cutOff(): Promise<readonly Figure[]> {
    this.#welcomes = [];
    const [hellos, sentAway] = [this.#hellos(), this.#sentAway()];
    const from = performance.now();
    const holding = new Set(this.#agents.filter(({ holdsSteps }) => holdsSteps));
    await this.#world.killGateways();
    await this.#world.startGateways();
    const startedMs = performance.now() - from;
    await until("all agents are back", () => this.#agents.every(({ isConnected }) => isConnected), RETURN_MS);
    const backAt = (agent: SimulatedAgent) => this.#welcomes.findLast((welcome) => welcome.agent === agent)!.at - from;
    const ofHolding = [...holding].map(backAt);
    const ofOthers = this.#agents.filter((agent) => !holding.has(agent)).map(backAt);
    const all = this.#agents.map(backAt);
    // Whatever was lost is told by now.
    await pause(10_000);
    return [
      { metric: "gateways started again", unit: "ms", value: startedMs },
      { metric: "agents with steps", unit: "agents", value: holding.size },
      { metric: "last agent with steps back", unit: "ms", value: Math.max(...ofHolding) },
      { metric: "last of the others back", unit: "ms", value: ofOthers.length === 0 ? 0 : Math.max(...ofOthers) },
      { metric: "last of all back", unit: "ms", value: Math.max(...all) },
      { metric: "hellos of an agent", unit: "hellos", value: (this.#hellos() - hellos) / this.#agents.length },
      { metric: "agents that were told to come back", unit: "times", value: this.#sentAway() - sentAway },
      { metric: "steps lost", unit: "steps", value: this.#lost.length + this.#refused.length },
    ];
  }

  /** How long a step takes, so that the whole fleet reaches its rate. */
  get #stepMs(): number {
    return (this.#size.agents / this.#size.stepsPerSecond) * 1_000;
  }

  #hellos(): number {
    return this.#agents.reduce((sum, { hellos }) => sum + hellos, 0);
  }

  #sentAway(): number {
    return this.#agents.reduce((sum, agent) => sum + agent.sentAway, 0);
  }

  async #connect(from: number, to: number): Promise<void> {
    const { addresses } = this.#world;
    for (let at = from; at < to; at++) {
      const agent = await SimulatedAgent.open({
        address: addresses[at % addresses.length]!,
        token: this.#tokens[at]!,
        labels: { pool: `p${at % this.#size.selectors}` },
        stepMs: () => this.#stepMs * (0.75 + Math.random() / 2),
        listener: this,
      });
      agent.takesNoJobs = "the jobs are being queued";
      this.#agents.push(agent);
    }
    await until("all agents are connected", () => this.#agents.every(({ isConnected }) => isConnected), RETURN_MS);
  }

  #gatewayBytes(): number {
    return this.#world.gateways.reduce((sum, { pid }) => sum + residentBytes(pid), 0);
  }

  async #save(pipelineId: string, selectors: readonly Readonly<Record<string, string>>[]): Promise<void> {
    const jobs = selectors.map((matchLabels, at) => ({
      name: `job-${at}`,
      agentSelector: { matchLabels },
      steps: [{ ...NO_OP, name: "step" }],
    }));
    await this.#world.api.call("POST", `/pipelines/${pipelineId}/spec/save`, { spec: { jobs } });
  }

  async #trigger(pipelineId: string): Promise<string> {
    return (await this.#world.api.call<{ runId: string }>("POST", `/pipelines/${pipelineId}/trigger`, {})).runId;
  }
}

/** Resolves with the token of the new agent. */
export function registerOne(client: AgentClient, name: string): Promise<string> {
  const request = { name, labels: {}, slots: 1, version: "simulated" };
  return new Promise((resolve, reject) => {
    client.register(request, bearer(REGISTRATION), { deadline: Date.now() + 30_000 }, (error, answer) =>
      error === null ? resolve(answer.agentToken) : reject(error),
    );
  });
}

async function redisBytes({ redisClient }: FleetWorld): Promise<number> {
  return Number(/^used_memory:(\d+)/m.exec(await redisClient.info("memory"))![1]);
}

async function redisPid({ redisClient }: FleetWorld): Promise<number> {
  return Number(/^process_id:(\d+)/m.exec(await redisClient.info("server"))![1]);
}
