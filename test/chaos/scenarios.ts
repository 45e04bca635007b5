/** The scenarios: each has a name, the shape of its installation, and its faults in order. */
import { killAmongWaitingRuns, addWaitingRuns, compareWorkerCounts } from "./faults/amounts.ts";
import type { Fault } from "./faults/fault.ts";
import { fullStore } from "./faults/full-store.ts";
import { freezeCreator, freezeGateway, freezeGatewayLong, freezeRedis } from "./faults/frozen.ts";
import { filledDisk } from "./faults/filled-disk.ts";
import { fullDisk } from "./faults/full-disk.ts";
import { nextRelease, wrongClock } from "./faults/guests.ts";
import { partFromRedis, partFromStore } from "./faults/links.ts";
import { atOnce, choosePairs } from "./faults/pairs.ts";
import { longPartition, shortPartition } from "./faults/partitions.ts";
import {
  freezeAgent,
  freezeWorker,
  joinAndLeave,
  killAgent,
  killEdge,
  killGateway,
  killEmbeddedNode,
  killWorker,
} from "./faults/processes.ts";
import { cannotSave, outOfMemory, readOnly } from "./faults/refusals.ts";
import { tearEmbeddedFile, tearFile } from "./faults/torn-file.ts";
import {
  cutStore,
  emptyMaster,
  flushRedis,
  disturbMailboxes,
  redisOutage,
  restartRedis,
  checkSlots,
  slowStore,
  storeOutage,
} from "./faults/servers.ts";
import type { Shape } from "./world/installation.ts";
import type { Random } from "./world/random.ts";

export interface Scenario {
  readonly name: string;
  readonly about: string;
  readonly shape: Shape;
  /** True for a scenario without load, because other work would distort what its faults measure. */
  readonly isQuiet?: boolean;
  /** True when the clock of a worker is wrong. */
  readonly hasWrongClock?: boolean;
  readonly faults: (random: Random) => readonly Fault[];
}

const SCALED: Shape = { engine: "scaled", workers: 3, gateways: 2, edges: 2, agents: 4 };
const TWO_WORKERS: Shape = { ...SCALED, workers: 2 };
const LINKED: Shape = { ...SCALED, hasOwnLinks: true };
const STORE_DELAY_MS = 25;
const EMBEDDED: Shape = { engine: "embedded", workers: 1, gateways: 1, edges: 1, agents: 2 };
const KILLS = 10;
const PAIRS = 11;

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
  disturbMailboxes,
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
    about: "a worker and an agent are frozen for 10 s and continue as zombies",
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
    name: "logs",
    about: "agents have less room for log lines than steps write, while the store is slow and their network is cut",
    shape: { ...TWO_WORKERS, logBuffer: "1MB" },
    faults: always([slowStore, killGateway, shortPartition, killAgent, cutStore]),
  },
  {
    name: "mail",
    about: "envelopes arrive twice, late and out of order",
    shape: TWO_WORKERS,
    faults: always(times(2, disturbMailboxes)),
  },
  {
    name: "embedded",
    about: "an embedded node dies by SIGKILL, and its store is full",
    shape: EMBEDDED,
    faults: always([...times(KILLS, killEmbeddedNode), fullStore, killEmbeddedNode]),
  },
  {
    name: "redis-cluster",
    about: "a worker dies, and masters of a Redis Cluster lose their data",
    shape: { engine: "clustered", workers: 2, gateways: 1, edges: 1, agents: 2 },
    faults: always([killWorker, checkSlots, emptyMaster, killWorker, checkSlots]),
  },
  {
    name: "waiting",
    about: "20,000 runs wait while a worker dies",
    shape: { engine: "shared", workers: 2, gateways: 1, edges: 2, agents: 1, areWorkersInspected: true },
    isQuiet: true,
    faults: always([addWaitingRuns, killAmongWaitingRuns, killAmongWaitingRuns]),
  },
  {
    name: "scale-out",
    about: "the same work on 1, 2 and 3 workers",
    shape: { engine: "shared", workers: 3, gateways: 1, edges: 1, agents: 2 },
    isQuiet: true,
    faults: always([compareWorkerCounts]),
  },
  {
    name: "parted",
    about: "one worker cannot reach Redis, or cannot reach the store",
    shape: LINKED,
    faults: always(times(2, partFromRedis, partFromStore)),
  },
  {
    name: "frozen",
    about: "an edge is frozen before it performs what it stored; a gateway and Redis are frozen",
    shape: LINKED,
    faults: always([freezeCreator, freezeGateway, freezeRedis, freezeCreator, freezeGatewayLong]),
  },
  {
    name: "refusing",
    about: "Redis answers MISCONF, OOM and READONLY",
    shape: TWO_WORKERS,
    faults: always([cannotSave, outOfMemory, readOnly]),
  },
  {
    name: "torn",
    about: "Redis is killed, and its file ends in the middle of a command",
    shape: TWO_WORKERS,
    faults: always(times(4, tearFile)),
  },
  {
    name: "torn-embedded",
    about: "an embedded node and its Redis are killed, and Redis' file ends in the middle of a command",
    shape: EMBEDDED,
    faults: always(times(4, tearEmbeddedFile)),
  },
  {
    name: "clock",
    about: "the clock of one worker is an hour ahead",
    shape: TWO_WORKERS,
    hasWrongClock: true,
    faults: always([wrongClock]),
  },
  {
    name: "disk",
    about: "the journal of an agent cannot grow",
    shape: TWO_WORKERS,
    faults: always(times(3, fullDisk)),
  },
  {
    name: "filled-disk",
    about: "another program fills the disk of an embedded node (needs root), which dies afterwards",
    shape: { ...EMBEDDED, diskMebibytes: 250 },
    faults: always([filledDisk, killEmbeddedNode, filledDisk]),
  },
  {
    name: "releases",
    about: "nodes of the next release work beside those of this one, and die",
    shape: { ...TWO_WORKERS, storeDelayMs: STORE_DELAY_MS },
    faults: always([nextRelease]),
  },
  {
    name: "pairs",
    about: "two faults at once, which the seed chooses",
    shape: { ...LINKED, workers: 4, storeDelayMs: STORE_DELAY_MS },
    faults: (random) => choosePairs(random, PAIRS).map(atOnce),
  },
  {
    name: "mix",
    about: "all of these faults in random order",
    shape: { ...SCALED, workers: 4, storeDelayMs: STORE_DELAY_MS },
    faults: (random) => random.shuffled([...times(3, killWorker, killGateway, killEdge, killAgent), ...EACH_ONCE]),
  },
];

/** The scenarios of `npm test`: one of each kind of fault that does not take long. */
export const SHORT: Scenario = {
  name: "short",
  about: "every kind of process is killed, and Redis is emptied and restarted",
  shape: { ...TWO_WORKERS, agents: 2, storeDelayMs: STORE_DELAY_MS },
  faults: (random) =>
    random.shuffled([killWorker, killGateway, killEdge, killAgent, flushRedis, restartRedis, cutStore]),
};
export const SHORT_EMBEDDED: Scenario = {
  name: "short-embedded",
  about: "an embedded node dies by SIGKILL, once with a torn file of its Redis",
  shape: EMBEDDED,
  faults: always([killEmbeddedNode, tearEmbeddedFile]),
};
