/** All contestants, in the order of a round. */
import { join } from "node:path";
import type { BenchSettings, Workload } from "./arguments.ts";
import { fleetOf, measureFleet } from "./fleet/fleet.ts";
import { startFloor } from "./floor/start.ts";
import { FollowedEnds } from "./millrace/followed-ends.ts";
import { FinishedRuns } from "./millrace/finished-runs.ts";
import { measureCancels } from "./millrace/cancels.ts";
import { measureCrowd } from "./millrace/crowd.ts";
import { measureDefinition } from "./millrace/definition.ts";
import { measureGrowth } from "./millrace/growth.ts";
import { measureIdle } from "./millrace/idle.ts";
import { Installation, TOKEN } from "./millrace/installation.ts";
import { measureLargeRun } from "./millrace/large-run.ts";
import { measureLogs } from "./millrace/logs.ts";
import type { Mongo } from "./millrace/mongo.ts";
import { startCounted } from "./millrace/operations.ts";
import { Runs } from "./millrace/runs.ts";
import { measureTurns } from "./millrace/turns.ts";
import { comparableWorkloads } from "./millrace/workloads.ts";
import { startRestate } from "./peers/restate/start.ts";
import { measureViewers } from "./viewers/viewers.ts";
import { measureWorkers, workersOf } from "./workers/workers.ts";
import type { Contestant } from "./rounds.ts";
import type { Figure } from "./system.ts";

const SQLITE = { system: "millrace", store: "SQLite" } as const;
const MONGODB = { system: "millrace", store: "MongoDB" } as const;
const COMPARABLE = ["W1", "W2", "W3", "W4", "W5"] as const;

/** `folder` is for data that are made once and used in every round. `mongo` is null when no MongoDB is available. */
export function contestantsOf(
  { peers, agents, workers, node }: Pick<BenchSettings, "peers" | "agents" | "workers" | "node">,
  mongo: Mongo | null,
  folder: string,
): readonly Contestant[] {
  const finished = new FinishedRuns(join(folder, "finished-runs"));
  return [
    // W7 comes first, because it measures a fresh installation.
    { ...SQLITE, workloads: ["W7", ...COMPARABLE, "W6", "W10"], start: millraceWith(node, () => ({})) },
    { system: "BullMQ", store: "Redis", workloads: COMPARABLE, start: startFloor },
    ...(peers ? [{ system: "Restate", store: "its own", workloads: COMPARABLE, start: startRestate }] : []),
    ...(mongo?.real
      ? [{ ...MONGODB, workloads: ["W1", "W2", "W3"] as const, start: millraceWith(node, mongo.env) }]
      : []),
    {
      ...SQLITE,
      workloads: ["W8"],
      start: (place, marks) => standalone("W8", () => measureGrowth(place, marks, finished)),
    },
    { ...SQLITE, workloads: ["W12"], start: (place) => standalone("W12", () => measureCrowd(place)) },
    {
      ...SQLITE,
      workloads: ["W14"],
      start: (place) => standalone("W14", () => measureFleet(place, fleetOf(agents))),
    },
    ...(mongo === null
      ? []
      : [
          {
            ...MONGODB,
            workloads: ["W13"] as const,
            start: () => standalone("W13", () => measureWorkers(mongo, workersOf(workers))),
          },
        ]),
    { ...SQLITE, workloads: ["W15"], start: (place) => standalone("W15", () => measureLargeRun(place)) },
    { ...SQLITE, workloads: ["W16"], start: (place) => standalone("W16", () => measureViewers(place)) },
    { ...SQLITE, workloads: ["W9"], start: () => standalone("W9", measureDefinition) },
    { system: "millrace", store: "none", workloads: ["W11"], start: () => standalone("W11", measureTurns) },
    { ...SQLITE, workloads: ["W1"], once: true, start: countedWith(node, () => ({})) },
    ...(mongo === null
      ? []
      : [{ ...MONGODB, workloads: ["W1"] as const, once: true, start: countedWith(node, mongo.env) }]),
  ];
}

/** A contestant with one workload that starts and stops its processes itself. */
async function standalone(
  workload: Workload,
  measure: () => Promise<readonly Figure[]>,
): ReturnType<Contestant["start"]> {
  return { workloads: { [workload]: measure }, stop: () => Promise.resolve() };
}

function millraceWith(node: string, env: Mongo["env"]): Contestant["start"] {
  return async (folder, marks) => {
    const installation = await Installation.start(join(folder, "data"), env(), node);
    const { api, http } = installation;
    const runs = new Runs(installation, new FollowedEnds(installation));
    return {
      workloads: {
        ...comparableWorkloads(installation, runs, marks),
        W6: () => measureLogs({ api, http, token: TOKEN }),
        W7: () => measureIdle(installation),
        W10: () => measureCancels(installation, runs, marks),
      },
      stop: () => installation.stop(),
    };
  };
}

function countedWith(node: string, env: Mongo["env"]): Contestant["start"] {
  return async (folder) => {
    const { operations, stop } = await startCounted(folder, env(), node);
    return { workloads: { W1: () => operations() }, stop };
  };
}
