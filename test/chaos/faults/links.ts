/** Faults of one node's networks: a worker cannot reach Redis, or cannot reach the store, while all other nodes can. */
import { setTimeout as sleep } from "node:timers/promises";
import type { TcpProxy } from "../../support/tcp-proxy.ts";
import { until } from "../../support/until.ts";
import { type Fault, type FaultContext, pickVictim, PROBE_PIPELINE, waitUntilWorking } from "./fault.ts";
import { TAKEOVER_BOUND_MS } from "./processes.ts";

const PARTED_MS = 15_000;
const RUNS = 12;
const RECOVERY_DEADLINE_MS = 60_000;
/** A worker that cannot save gives its shards up, and then another one takes them over. */
const GIVEN_UP_BOUND_MS = 10_000;

/** Another worker takes the shards over. The parted worker changes nothing, and comes back by itself. */
export const partFromRedis: Fault = {
  name: "a worker parted from Redis for 15 s",
  lastsMs: 20_000,
  target: "worker",
  inject: (context) => part(context, "Redis", TAKEOVER_BOUND_MS),
};

/** The parted worker holds its leases in Redis, and cannot save a turn: it must give its shards up. */
export const partFromStore: Fault = {
  name: "a worker parted from the store for 15 s",
  lastsMs: 20_000,
  target: "worker",
  inject: (context) => part(context, "the store", GIVEN_UP_BOUND_MS),
};

async function part(context: FaultContext, server: "Redis" | "the store", boundMs: number): Promise<void> {
  const victim = pickVictim(context, context.installation.workers);
  const network: TcpProxy = server === "Redis" ? victim.links!.redis : victim.links!.store;
  context.record.addKill(`the network from ${victim.name} to ${server}`);
  const since = performance.now();
  context.record.hasZombies = true;
  network.fallSilent();
  const parted = sleep(PARTED_MS).then(() => network.speak());
  await Promise.all([waitUntilWorking(context), untilAllShardsTakeTurns(context)]);
  context.record.addRecovery(`parted from ${server}`, performance.now() - since, boundMs);
  await parted;
  await waitUntilWorking(context);
}

/** Runs enough short runs to meet the shards of every worker: a shard whose owner cannot save takes envelopes too. */
async function untilAllShardsTakeTurns({ installation, load }: FaultContext): Promise<void> {
  const triggered = Array.from({ length: RUNS }, () => load.trigger(PROBE_PIPELINE, ["success"]));
  const runIds = await Promise.all(triggered);
  const { aggregates } = installation.stores;
  const haveEnded = async () => {
    const heads = await Promise.all(runIds.map((runId) => aggregates.loadHead(runId)));
    return heads.every((head) => head!.final);
  };
  await until("runs of every worker's shards end", haveEnded, RECOVERY_DEADLINE_MS);
}
