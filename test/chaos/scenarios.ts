/** The scenarios by name: on which installation, and which faults in which order. */
import { killAmongMany, manyWait, sameWorkOnMore } from "./faults/amounts.ts";
import type { Fault } from "./faults/fault.ts";
import { fullStore } from "./faults/full-store.ts";
import { longPartition, shortPartition } from "./faults/partitions.ts";
import {
  freezeAgent,
  freezeWorker,
  joinAndLeave,
  killAgent,
  killEdge,
  killGateway,
  killPlane,
  killWorker,
} from "./faults/processes.ts";
import {
  cutStore,
  emptyMaster,
  flushRedis,
  meddleWithMail,
  redisOutage,
  restartRedis,
  slotsAreKept,
  slowStore,
  storeOutage,
} from "./faults/servers.ts";
import type { Shape } from "./world/installation.ts";
import type { Random } from "./world/random.ts";

export interface Scenario {
  readonly name: string;
  readonly about: string;
  readonly shape: Shape;
  /** Only what the faults themselves trigger runs, since something is measured that other work would blur. */
  readonly isQuiet?: boolean;
  readonly faults: (random: Random) => readonly Fault[];
}

const SCALED: Shape = { engine: "scaled", workers: 3, gateways: 2, edges: 2, agents: 4 };
const TWO_WORKERS: Shape = { ...SCALED, workers: 2 };
const STORE_DELAY_MS = 25;
const EMBEDDED: Shape = { engine: "embedded", workers: 1, gateways: 1, edges: 1, agents: 2 };
const KILLS = 10;

const EACH_ONCE: readonly Fault[] = [
  freezeWorker,
  freezeAgent,
  joinAndLeave,
  restartRedis,
  redisOutage,
  flushRedis,
  storeOutage,
  slowStore,
  cutStore,
  shortPartition,
  longPartition,
  meddleWithMail,
];

const times = (count: number, ...faults: readonly Fault[]) => Array.from({ length: count }, () => faults).flat();
const always = (faults: readonly Fault[]) => () => faults;

export const SCENARIOS: readonly Scenario[] = [
  {
    name: "kill-worker",
    about: "workers die by SIGKILL",
    shape: { ...SCALED, storeDelayMs: STORE_DELAY_MS },
    faults: always(times(KILLS, killWorker)),
  },
  {
    name: "kill-gateway",
    about: "gateways die by SIGKILL",
    shape: { ...TWO_WORKERS, storeDelayMs: STORE_DELAY_MS },
    faults: always(times(KILLS, killGateway)),
  },
  {
    name: "kill-edge",
    about: "edges die by SIGKILL",
    shape: { ...TWO_WORKERS, storeDelayMs: STORE_DELAY_MS },
    faults: always(times(KILLS, killEdge)),
  },
  {
    name: "kill-agent",
    about: "agents die by SIGKILL and come back",
    shape: { ...TWO_WORKERS, storeDelayMs: STORE_DELAY_MS },
    faults: always(times(KILLS, killAgent)),
  },
  {
    name: "freeze",
    about: "a worker and an agent stand still for 10 s and go on as zombies",
    shape: SCALED,
    faults: always(times(2, freezeWorker, freezeAgent)),
  },
  {
    name: "scale",
    about: "workers join and leave by SIGTERM",
    shape: TWO_WORKERS,
    faults: always(times(2, joinAndLeave)),
  },
  {
    name: "redis",
    about: "Redis is killed, gone for 15 s, and emptied",
    shape: TWO_WORKERS,
    faults: always([restartRedis, redisOutage, flushRedis, restartRedis, flushRedis]),
  },
  {
    name: "store",
    about: "MongoDB is gone for 15 s, slow, and cut off in the middle of calls",
    shape: TWO_WORKERS,
    faults: always([storeOutage, slowStore, cutStore]),
  },
  {
    name: "partition",
    about: "an agent is cut off for 20 s and for 60 s",
    shape: TWO_WORKERS,
    faults: always([shortPartition, longPartition]),
  },
  {
    name: "mail",
    about: "envelopes come twice, late and out of order",
    shape: TWO_WORKERS,
    faults: always(times(2, meddleWithMail)),
  },
  {
    name: "embedded",
    about: "the embedded default in one process dies by SIGKILL, and its store is full",
    shape: EMBEDDED,
    faults: always([...times(KILLS, killPlane), fullStore, killPlane]),
  },
  {
    name: "redis-cluster",
    about: "on a Redis Cluster of three masters a worker dies, and masters lose their memory",
    shape: { engine: "clustered", workers: 2, gateways: 1, edges: 1, agents: 2 },
    faults: always([killWorker, slotsAreKept, emptyMaster, killWorker, slotsAreKept]),
  },
  {
    name: "waiting",
    about: "20,000 runs wait, and a worker dies among them",
    shape: { engine: "shared", workers: 2, gateways: 1, edges: 2, agents: 1 },
    isQuiet: true,
    faults: always([manyWait, killAmongMany, killAmongMany]),
  },
  {
    name: "scale-out",
    about: "the same work on 1, 2 and 3 workers",
    shape: { engine: "shared", workers: 3, gateways: 1, edges: 1, agents: 2 },
    isQuiet: true,
    faults: always([sameWorkOnMore]),
  },
  {
    name: "mix",
    about: "all of these in an order of chance",
    shape: { ...SCALED, workers: 4, storeDelayMs: STORE_DELAY_MS },
    faults: (random) => random.shuffled([...times(3, killWorker, killGateway, killEdge, killAgent), ...EACH_ONCE]),
  },
];

/** Part of `npm test`: one of each kind that does not take long by itself. */
export const SHORT_SCENARIOS: readonly Scenario[] = [
  {
    name: "short",
    about: "kills of every kind of process, and an emptied and a restarted Redis",
    shape: { ...TWO_WORKERS, agents: 2, storeDelayMs: STORE_DELAY_MS },
    faults: (random) =>
      random.shuffled([killWorker, killGateway, killEdge, killAgent, flushRedis, restartRedis, cutStore]),
  },
  {
    name: "short-embedded",
    about: "the embedded default dies by SIGKILL",
    shape: EMBEDDED,
    faults: always(times(2, killPlane)),
  },
];
