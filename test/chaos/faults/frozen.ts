/** Processes that stop in the middle of their work and continue later: an edge, a gateway and Redis. */
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { until } from "../../support/until.ts";
import { type Fault, type FaultContext, pickVictim, PROBE_PIPELINE } from "./fault.ts";
import { agentIdOf, freeze } from "./processes.ts";
import { measure, OUTAGE_MS } from "./servers.ts";

const CREATOR_BOUND_MS = 5_000;
const FROZEN_MS = 10_000;
const LONG_MS = 45_000;

/**
 * The edge has stored the run, and has performed none of its effects: it cannot reach Redis when the run is stored, and
 * is frozen then. The owner of the shard performs them. When the edge continues, it performs them late.
 */
export const freezeCreator: Fault = {
  name: "SIGSTOP of an edge between creating a run and performing its effects",
  lastsMs: 15_000,
  target: "edge",
  async inject(context) {
    const { installation, load, record } = context;
    const victim = pickVictim(context, installation.edges);
    const url = installation.urls[installation.edges.indexOf(victim)]!;
    await victim.links!.redis.goDown();
    const runIds = await Promise.all([1, 2, 3].map(() => load.triggerAt(url, PROBE_PIPELINE, ["success"])));
    const since = freeze(context, victim);
    await victim.links!.redis.comeUp();
    const { aggregates } = installation.stores;
    const haveEnded = async () => {
      const heads = await Promise.all(runIds.map((runId) => aggregates.loadHead(runId)));
      return heads.every((head) => head!.final);
    };
    try {
      await until("the runs of the frozen edge have ended", haveEnded, 60_000);
    } finally {
      record.addRecovery("frozen creator", performance.now() - since, CREATOR_BOUND_MS);
      await sleep(Math.max(0, FROZEN_MS - (performance.now() - since)));
      victim.signal("SIGCONT");
    }
    await measure(context, "creator continues");
  },
};

/** The agents of the gateway are cut off for less than their lease: none of their jobs is given up. */
export const freezeGateway: Fault = {
  name: "SIGSTOP of a gateway for 10 s",
  lastsMs: 15_000,
  target: "gateway",
  inject: (context) => freezeGatewayFor(context, FROZEN_MS),
};

/** The agents of the gateway are cut off for longer than their lease: the agents of another gateway get their jobs. */
export const freezeGatewayLong: Fault = {
  name: "SIGSTOP of a gateway for 45 s",
  lastsMs: 50_000,
  target: "gateway",
  inject: (context) => freezeGatewayFor(context, LONG_MS),
};

/** The connections to Redis stay open and carry nothing. */
export const freezeRedis: Fault = {
  name: "SIGSTOP of Redis for 15 s",
  lastsMs: 20_000,
  target: "redis",
  async inject(context) {
    const client = new Redis(context.installation.redis!.url);
    const pid = Number(/process_id:(\d+)/.exec(await client.info("server"))![1]);
    client.disconnect();
    context.record.addKill("Redis");
    await context.record.whileOut(async () => {
      process.kill(pid, "SIGSTOP");
      await sleep(OUTAGE_MS);
      process.kill(pid, "SIGCONT");
    });
    await measure(context, "Redis continues");
  },
};

async function freezeGatewayFor(context: FaultContext, forMs: number): Promise<void> {
  const { installation, record } = context;
  const victim = pickVictim(context, installation.gateways);
  const at = installation.gateways.indexOf(victim);
  // Neighbouring seats use different gateways.
  const agents = installation.agents.filter(({ seat }) => (seat - 1) % installation.gateways.length === at);
  const agentIds = await Promise.all(agents.map((agent) => agentIdOf(context, agent)));
  const frozen = sleep(0).then(async () => {
    freeze(context, victim);
    await sleep(forMs);
    victim.signal("SIGCONT");
  });
  await Promise.all(agentIds.map((agentId) => record.whileAway(agentId, "cutOff", () => frozen)));
  await measure(context, "gateway continues");
}
