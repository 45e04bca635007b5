/** Scenarios of scale rather than faults: many waiting runs, and the same work on more workers. */
import { readFile, stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { until } from "../../support/until.ts";
import { step } from "../load/step.ts";
import { type HeldMemory, heldMemoryOf } from "../world/inspected-memory.ts";
import type { Node } from "../world/node.ts";
import { type Fault, type FaultContext, waitUntilWorking } from "./fault.ts";
import { TAKEOVER_BOUND_MS } from "./processes.ts";

const FIRST = 1_000;
/** With this many waiting runs, a worker has made all that it keeps for its work: code, buffers, connections. */
const HALF = 10_000;
const MANY = 20_000;
const TRIGGERS_AT_A_TIME = 16;
const IDLE_MS = 10_000;
const RUN_BOUND_BYTES = 1_024;
const PASSIVATED_MS = 60_000;
const CLOCK_TICKS_PER_SECOND = 100;

/**
 * Runs that no agent can take wait for their `queueTimeout`. They must cost the workers neither memory nor CPU time.
 */
export const addWaitingRuns: Fault = {
  name: `${MANY} runs wait for a label that no agent has`,
  lastsMs: 180_000,
  target: "all",
  async inject(context) {
    const { installation, load } = context;
    const [worker] = installation.workers;
    const job = { name: "waits", queueTimeout: "6h", agentSelector: { matchLabels: { seat: "none" } } };
    await load.addPipeline("waiting", { jobs: [{ ...job, steps: [step(installation.ledger, "never")] }] }, false);
    const idleShare = await cpuShareOf(worker!);

    const memory: HeldMemory[] = [];
    const since = performance.now();
    for (const [from, to] of [
      [0, FIRST],
      [FIRST, HALF],
      [HALF, MANY],
    ] as const) {
      await triggerWaiting(context, from, to);
      await waitUntilPassivated(context);
      memory.push(await heldMemoryOf(worker!));
    }
    const perSecond = Math.round(MANY / ((performance.now() - since) / 1_000));
    context.record.addFigure(`${perSecond} triggers/s of waiting runs, at two edges`, true);
    const [first, half, many] = memory as [HeldMemory, HeldMemory, HeldMemory];
    const perRun = (kind: keyof HeldMemory): number => Math.round((many[kind] - half[kind]) / (MANY - HALF));
    const sizes = `${mega(first.rss)} MB with ${FIRST} waiting runs, ${mega(half.rss)} MB with ${HALF}, ${mega(many.rss)} MB with ${MANY}`;
    const growth = `${perRun("rss")} bytes a run over the last ${MANY - HALF}, ${perRun("held")} of them held by V8`;
    context.record.addFigure(
      `a worker's memory after a collection of garbage: ${sizes}; ${growth}`,
      perRun("rss") <= RUN_BOUND_BYTES && perRun("held") <= RUN_BOUND_BYTES,
    );
    const waitingShare = await cpuShareOf(worker!);
    context.record.addFigure(
      `a worker's CPU: ${percent(idleShare)} before, ${percent(waitingShare)} with ${MANY} waiting runs`,
      true,
    );
    const redis = /used_memory:(\d+)/.exec(await context.probe!.redis.info("memory"))![1]!;
    const { size } = await stat(installation.storeFile);
    context.record.addFigure(`with them, Redis holds ${mega(Number(redis))} MB and the store ${mega(size)} MB`, true);
  },
};

/** Another worker takes over the dead worker's shards, although each shard has more than a thousand waiting runs. */
export const killAmongWaitingRuns: Fault = {
  name: `SIGKILL of a worker among ${MANY} waiting runs`,
  lastsMs: 10_000,
  target: "all",
  async inject(context) {
    const victim = context.random.pick(context.installation.workers);
    const since = performance.now();
    context.record.addKill(victim.name);
    await victim.end("SIGKILL");
    await waitUntilWorking(context);
    context.record.addRecovery(`takeover with ${MANY} waiting`, performance.now() - since, TAKEOVER_BOUND_MS);
    await victim.start();
  },
};

const BURST = 60;
const ROUNDS = 3;
const TOLERANCE = 0.8;

/** Runs the same bursts on 1, 2 and 3 workers, in rounds. More workers must not lower the throughput. */
export const compareWorkerCounts: Fault = {
  name: "the same work on 1, 2 and 3 workers",
  lastsMs: 90_000,
  target: "all",
  async inject(context) {
    const { installation, load } = context;
    const jobs = [
      { name: "short", steps: ["one", "two"].map((name) => step(installation.ledger, name, { beats: 0 })) },
    ];
    await load.addPipeline("burst", { jobs });
    const [, ...others] = installation.workers;
    const speeds: number[][] = [[], [], []];
    for (let round = 0; round < ROUNDS; round++) {
      for (const worker of others) await worker.end("SIGTERM");
      for (let workers = 1; workers <= speeds.length; workers++) {
        if (workers > 1) await others[workers - 2]!.start();
        await waitUntilWorking(context);
        speeds[workers - 1]!.push(await burst(context));
      }
    }
    const medians = speeds.map((list) => list.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)]!);
    const words = medians.map((speed, at) => `${speed.toFixed(1)} on ${at + 1}`).join(", ");
    const isKept = medians.every((speed) => speed >= medians[0]! * TOLERANCE);
    context.record.addFigure(
      `runs/s, median of ${ROUNDS} bursts of ${BURST} two-step runs on workers: ${words}`,
      isKept,
    );
  },
};

async function burst({ load, installation }: FaultContext): Promise<number> {
  const since = performance.now();
  const runIds = await Promise.all(Array.from({ length: BURST }, () => load.trigger("burst", ["success"])));
  for (const runId of runIds) {
    while (!(await installation.stores.aggregates.loadHead(runId))?.final) await sleep(10);
  }
  return BURST / ((performance.now() - since) / 1_000);
}

async function triggerWaiting({ load }: FaultContext, from: number, to: number): Promise<void> {
  let next = from;
  const one = async (): Promise<void> => {
    while (next < to) await load.triggerUnchecked("waiting", `waiting-${next++}`);
  };
  await Promise.all(Array.from({ length: TRIGGERS_AT_A_TIME }, one));
}

/** Resolves when the workers hold hardly any aggregate in memory. */
async function waitUntilPassivated({ installation }: FaultContext): Promise<void> {
  await until(
    "waiting runs have left the memory",
    async () => {
      const counts = await Promise.all(installation.workers.map((worker) => metricOf(worker, 'kind="activations"')));
      return counts.every((count) => count < FIRST / 10);
    },
    PASSIVATED_MS,
  );
}

async function metricOf(node: Node, label: string): Promise<number> {
  const text = await (await fetch(`http://${node.metricsAddress}/metrics`)).text();
  const line = text.split("\n").find((candidate) => candidate.includes(label));
  return Number(line!.split(" ").at(-1));
}

/** Share of one core that the process uses during the next `IDLE_MS`; 1 is a whole core. */
async function cpuShareOf({ pid }: Node): Promise<number> {
  const ticks = async (): Promise<number> => {
    const fields = (await readFile(`/proc/${pid}/stat`, "utf8")).split(") ")[1]!.split(" ");
    return Number(fields[11]) + Number(fields[12]);
  };
  const before = await ticks();
  await sleep(IDLE_MS);
  return ((await ticks()) - before) / CLOCK_TICKS_PER_SECOND / (IDLE_MS / 1_000);
}

const mega = (bytes: number) => (bytes / 1_000_000).toFixed(0);
const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
