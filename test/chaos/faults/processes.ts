/** Faults of single processes: killed, frozen, joining and leaving. */
import { setTimeout as sleep } from "node:timers/promises";
import type { JobState } from "../../../actors/job/state.ts";
import type { AgentId } from "../../../src/domain/ids.ts";
import { until } from "../../support/until.ts";
import { type AgentNode, SHARDS } from "../world/installation.ts";
import type { Node } from "../world/node.ts";
import { type Fault, type FaultContext, worksAgain } from "./fault.ts";

export const TAKEOVER_BOUND_MS = 5_000;
const AGENT_RESTART_BOUND_MS = 5_000;
const HANDOVER_BOUND_MS = 2_000;
const FREEZE_MS = 10_000;
const SPREAD_MS = 15_000;

/** Another worker carries the mail of the dead one on before it is started again. */
export const killWorker: Fault = {
  name: "SIGKILL of a worker",
  lastsMs: 7_000,
  async strike(context) {
    const victim = pickRunning(context, context.installation.workers);
    const since = await kill(context, victim);
    await worksAgain(context);
    context.protocol.recovered("takeover", performance.now() - since, TAKEOVER_BOUND_MS);
    await victim.start();
  },
};

export const killGateway: Fault = {
  name: "SIGKILL of a gateway",
  lastsMs: 5_000,
  async strike(context) {
    const victim = pickRunning(context, context.installation.gateways);
    const since = await kill(context, victim);
    await victim.start();
    await worksAgain(context);
    context.protocol.recovered("gateway", performance.now() - since);
  },
};

/** Clients go to the other edge. */
export const killEdge: Fault = {
  name: "SIGKILL of an edge",
  lastsMs: 5_000,
  async strike(context) {
    const victim = pickRunning(context, context.installation.edges);
    const since = await kill(context, victim);
    await worksAgain(context);
    context.protocol.recovered("edge", performance.now() - since);
    await victim.start();
  },
};

/** An agent that comes back under a new boot id gives its jobs up at once. */
export const killAgent: Fault = {
  name: "SIGKILL of an agent",
  lastsMs: 5_000,
  async strike(context) {
    const victim = pickRunning(context, context.installation.agents);
    const agentId = await agentIdOf(context, victim);
    await kill(context, victim);
    context.protocol.agentKills.push({ agentId, at: Date.now() });
    const jobs = await heldJobs(context, victim);
    const since = performance.now();
    await victim.start();
    await until("the jobs of the killed agent are given up", () => allEnded(context, jobs), 60_000);
    context.protocol.recovered("restarted agent", performance.now() - since, AGENT_RESTART_BOUND_MS);
  },
};

/** The zombie wakes into a world in which its shards are another's. */
export const freezeWorker: Fault = {
  name: "SIGSTOP of a worker for 10 s",
  lastsMs: 13_000,
  async strike(context) {
    const victim = pickRunning(context, context.installation.workers);
    const since = await strike(context, victim, "SIGSTOP");
    await worksAgain(context);
    context.protocol.recovered("takeover", performance.now() - since, TAKEOVER_BOUND_MS);
    await sleep(Math.max(0, FREEZE_MS - (performance.now() - since)));
    victim.signal("SIGCONT");
    await worksAgain(context);
  },
};

/** Shorter than a lease: what the agent holds goes on, and nothing of it is repeated. */
export const freezeAgent: Fault = {
  name: "SIGSTOP of an agent for 10 s",
  lastsMs: 13_000,
  async strike(context) {
    const victim = pickRunning(context, context.installation.agents);
    const jobs = await heldJobs(context, victim);
    await strike(context, victim, "SIGSTOP");
    await sleep(FREEZE_MS);
    victim.signal("SIGCONT");
    const since = performance.now();
    await worksAgain(context);
    context.protocol.recovered("frozen agent", performance.now() - since);
    for (const { jobId, reason } of await statesOf(context, jobs)) {
      if (reason === "agent_lost")
        context.protocol.violated("wrong", `job ${jobId} was given up although its agent slept for 10 s only`);
    }
  },
};

/** Shards move to a newcomer, and from one that leaves; meanwhile each mailbox is asked again and again. */
export const joinAndLeave: Fault = {
  name: "a worker joins, one leaves",
  lastsMs: 12_000,
  async strike(context) {
    const { installation, random, probe } = context;
    let worstMs = 0;
    let isOver = false;
    const asking = (async () => {
      while (!isOver) worstMs = Math.max(worstMs, await probe!.carriesMail());
    })();
    const guest = await installation.addWorker();
    await spreadEvenly(context, "after a worker joined");
    const leaver = random.pick(installation.workers);
    await leaver.end("SIGTERM");
    await spreadEvenly(context, "after a worker left");
    await leaver.start();
    await spreadEvenly(context, "after it came back");
    await guest.end("SIGTERM");
    await spreadEvenly(context, "after the guest left");
    isOver = true;
    await asking;
    context.protocol.recovered("handover", worstMs, HANDOVER_BOUND_MS);
  },
};

/** The whole embedded control plane with its private Redis; agents find it again. */
export const killPlane: Fault = {
  name: "SIGKILL of the one process",
  lastsMs: 6_000,
  async strike(context) {
    const [plane] = context.installation.workers;
    const since = await kill(context, plane!);
    await plane!.start();
    await worksAgain(context);
    context.protocol.recovered("restart", performance.now() - since);
  },
};

/** Every shard has an owner, and no owner has two shards more than another. */
async function spreadEvenly({ installation, probe, protocol }: FaultContext, when: string): Promise<void> {
  const workers = installation.nodes.filter(({ name, isRunning }) => isRunning && /worker|guest/.test(name)).length;
  const since = performance.now();
  await until(
    `the shards are spread evenly ${when}`,
    async () => {
      const counts = new Map<string, number>();
      for (const owner of await probe!.owners()) {
        if (owner === null) return false;
        counts.set(owner, (counts.get(owner) ?? 0) + 1);
      }
      const shares = [...counts.values()];
      return shares.length === Math.min(workers, SHARDS) && Math.max(...shares) - Math.min(...shares) <= 1;
    },
    SPREAD_MS,
  );
  protocol.recovered("spread", performance.now() - since, TAKEOVER_BOUND_MS);
}

function pickRunning<T extends Node>({ random }: FaultContext, nodes: readonly T[]): T {
  return random.pick(nodes.filter(({ isRunning }) => isRunning));
}

/** Answers the time of the kill, monotonic milliseconds. */
async function kill(context: FaultContext, victim: Node): Promise<number> {
  await sleep(context.random.between(0, 500));
  const since = performance.now();
  context.protocol.struck(victim.name);
  await victim.end("SIGKILL");
  return since;
}

async function strike({ protocol }: FaultContext, victim: Node, signal: "SIGSTOP"): Promise<number> {
  protocol.struck(victim.name);
  victim.signal(signal);
  return performance.now();
}

async function agentIdOf({ installation }: FaultContext, agent: AgentNode): Promise<AgentId> {
  const agents = await installation.stores.identity.listAgents();
  return agents.find(({ name }) => name === agent.name)!.agentId;
}

async function heldJobs(context: FaultContext, agent: AgentNode): Promise<readonly JobState[]> {
  const held = await context.installation.stores.aggregates.jobsHeldBy(await agentIdOf(context, agent));
  return held.map(({ actor }) => actor.state as JobState);
}

function statesOf({ installation }: FaultContext, jobs: readonly JobState[]): Promise<readonly JobState[]> {
  const { aggregates } = installation.stores;
  return Promise.all(jobs.map(async ({ jobId }) => (await aggregates.findJob(jobId))!.actor.state as JobState));
}

async function allEnded(context: FaultContext, jobs: readonly JobState[]): Promise<boolean> {
  return (await statesOf(context, jobs)).every(({ endedAt }) => endedAt !== null);
}
