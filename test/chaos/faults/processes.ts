/** Faults of single processes: a process is killed, is frozen, joins or leaves. */
import { setTimeout as sleep } from "node:timers/promises";
import type { JobState } from "../../../actors/job/state.ts";
import type { AgentId } from "../../../src/domain/ids.ts";
import { until } from "../../support/until.ts";
import { type AgentNode, SHARDS } from "../world/installation.ts";
import type { Node } from "../world/node.ts";
import { type Fault, type FaultContext, pickVictim, waitUntilWorking } from "./fault.ts";

export const TAKEOVER_BOUND_MS = 5_000;
/** Most of it is the start of a process, which takes seconds on a slow machine. */
const AGENT_RESTART_BOUND_MS = 10_000;
const HANDOVER_BOUND_MS = 2_000;
const FREEZE_MS = 10_000;
const SPREAD_MS = 15_000;

/** Another worker takes over the dead worker's shards before the dead worker is started again. */
export const killWorker: Fault = {
  name: "SIGKILL of a worker",
  lastsMs: 7_000,
  target: "worker",
  async inject(context) {
    const victim = pickVictim(context, context.installation.workers);
    const since = await kill(context, victim);
    await waitUntilWorking(context);
    context.record.addRecovery("takeover", performance.now() - since, TAKEOVER_BOUND_MS);
    await victim.start();
  },
};

export const killGateway: Fault = {
  name: "SIGKILL of a gateway",
  lastsMs: 5_000,
  target: "gateway",
  async inject(context) {
    const victim = pickVictim(context, context.installation.gateways);
    const since = await kill(context, victim);
    await victim.start();
    await waitUntilWorking(context);
    context.record.addRecovery("gateway", performance.now() - since);
  },
};

/** Clients use the other edge until the killed one is started again. */
export const killEdge: Fault = {
  name: "SIGKILL of an edge",
  lastsMs: 5_000,
  target: "edge",
  async inject(context) {
    const victim = pickVictim(context, context.installation.edges);
    const since = await kill(context, victim);
    await waitUntilWorking(context);
    context.record.addRecovery("edge", performance.now() - since);
    await victim.start();
  },
};

/** The agent comes back under a new boot id, and the control plane gives up the old boot's jobs at once. */
export const killAgent: Fault = {
  name: "SIGKILL of an agent",
  lastsMs: 5_000,
  target: "agent",
  async inject(context) {
    const victim = pickVictim(context, context.installation.agents);
    const agentId = await agentIdOf(context, victim);
    await kill(context, victim);
    let jobs: readonly JobState[] = [];
    const since = performance.now();
    await context.record.whileAway(agentId, "killed", async () => {
      jobs = await heldJobs(context, victim);
      await victim.start();
    });
    await until("the jobs of the killed agent are given up", () => allEnded(context, jobs), 60_000);
    context.record.addRecovery("restarted agent", performance.now() - since, AGENT_RESTART_BOUND_MS);
  },
};

/** The worker wakes as a zombie: meanwhile other workers have become the owners of its shards. */
export const freezeWorker: Fault = {
  name: "SIGSTOP of a worker for 10 s",
  lastsMs: 13_000,
  target: "worker",
  async inject(context) {
    const victim = pickVictim(context, context.installation.workers);
    context.record.hasZombies = true;
    const since = freeze(context, victim);
    await waitUntilWorking(context);
    context.record.addRecovery("takeover", performance.now() - since, TAKEOVER_BOUND_MS);
    await sleep(Math.max(0, FREEZE_MS - (performance.now() - since)));
    victim.signal("SIGCONT");
    await waitUntilWorking(context);
  },
};

/** The freeze is shorter than a step lease: the agent's jobs continue, and none of them is retried. */
export const freezeAgent: Fault = {
  name: "SIGSTOP of an agent for 10 s",
  lastsMs: 13_000,
  target: "agent",
  async inject(context) {
    const victim = pickVictim(context, context.installation.agents);
    const jobs = await heldJobs(context, victim);
    await context.record.whileAway(await agentIdOf(context, victim), "frozen", async () => {
      freeze(context, victim);
      await sleep(FREEZE_MS);
      victim.signal("SIGCONT");
    });
    const since = performance.now();
    await waitUntilWorking(context);
    context.record.addRecovery("frozen agent", performance.now() - since);
    for (const { jobId, reason } of await statesOf(context, jobs)) {
      if (reason === "agent_lost")
        context.record.addViolation("wrong", `job ${jobId} was given up although its agent was frozen for only 10 s`);
    }
  },
};

/**
 * Shards move to a worker that joins and away from a worker that leaves. Meanwhile the fault probes every mailbox
 * repeatedly.
 */
export const joinAndLeave: Fault = {
  name: "a worker joins and another leaves",
  lastsMs: 12_000,
  target: "all",
  async inject(context) {
    const { installation, random, probe } = context;
    let worstMs = 0;
    let isOver = false;
    const probing = (async () => {
      while (!isOver) worstMs = Math.max(worstMs, await probe!.measureLongestWait());
    })();
    const guest = await installation.addGuest();
    await spreadEvenly(context, "after a worker joined");
    const leaver = random.pick(installation.workers);
    await leaver.end("SIGTERM");
    await spreadEvenly(context, "after a worker left");
    await leaver.start();
    await spreadEvenly(context, "after it came back");
    await guest.end("SIGTERM");
    await spreadEvenly(context, "after the guest left");
    isOver = true;
    await probing;
    context.record.addRecovery("handover", worstMs, HANDOVER_BOUND_MS);
  },
};

/** The embedded node is killed together with its private Redis. Its agents reconnect after its restart. */
export const killEmbeddedNode: Fault = {
  name: "SIGKILL of the one process",
  lastsMs: 6_000,
  target: "all",
  async inject(context) {
    const [node] = context.installation.workers;
    const since = await kill(context, node!);
    await restart(context, node!, "restart", since);
  },
};

/**
 * Starts a killed node again, and records when the installation works. The start of a process takes processor time, and
 * on a busy machine most of the recovery; so the record says how long it took.
 */
export async function restart(context: FaultContext, node: Node, what: string, since: number): Promise<void> {
  const endedAt = performance.now();
  await node.start();
  const readyAt = performance.now();
  await waitUntilWorking(context);
  context.record.addRecovery(what, performance.now() - since);
  const [ending, starting] = [endedAt - since, readyAt - endedAt].map((ms) => Math.round(ms));
  context.record.addFigure(
    `${what}: killed processes had ended after ${ending} ms, the next was ready ${starting} ms later`,
    true,
  );
}

/** Waits until every shard has an owner and no owner has two shards more than another. */
async function spreadEvenly({ installation, probe, record }: FaultContext, when: string): Promise<void> {
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
  record.addRecovery("spread", performance.now() - since, TAKEOVER_BOUND_MS);
}

/** Kills the process with SIGKILL at a random moment. Answers the time of the kill in monotonic milliseconds. */
export async function kill(context: FaultContext, victim: Node): Promise<number> {
  await sleep(context.random.between(0, 500));
  const since = performance.now();
  context.record.addKill(victim.name);
  await victim.end("SIGKILL");
  return since;
}

/** Answers the time of the signal in monotonic milliseconds. */
export function freeze({ record }: FaultContext, victim: Node): number {
  record.addKill(victim.name);
  victim.signal("SIGSTOP");
  return performance.now();
}

export async function agentIdOf({ installation }: FaultContext, agent: AgentNode): Promise<AgentId> {
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
