/** Faults of one node's networks: a worker cannot reach Redis, or cannot reach the store, while all other nodes can. */
import { setTimeout as sleep } from "node:timers/promises";
import type { TcpProxy } from "../../support/tcp-proxy.ts";
import { type Fault, type FaultContext, pickVictim, waitUntilWorking } from "./fault.ts";
import { TAKEOVER_BOUND_MS } from "./processes.ts";

const PARTED_MS = 15_000;
/** A worker that cannot save gives its shards up within its lease, and then another one takes them over. */
const GIVEN_UP_BOUND_MS = TAKEOVER_BOUND_MS + 3_000;

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
  network.fallSilent();
  try {
    await waitUntilWorking(context);
    context.record.addRecovery(`parted from ${server}`, performance.now() - since, boundMs);
    await sleep(Math.max(0, PARTED_MS - (performance.now() - since)));
  } finally {
    network.speak();
  }
  await waitUntilWorking(context);
}
