/** W8: how the cost of a run grows with the number of waiting runs and with the number of ended runs. */
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { keepInFlight } from "../measure/in-flight.ts";
import { cpuTime } from "../measure/cpu.ts";
import type { Figure, Marks } from "../system.ts";
import { type FinishedRuns, FINISHED_RUNS } from "./finished-runs.ts";
import { idleCpu } from "./idle.ts";
import { Installation } from "./installation.ts";
import { NO_OP, Runs } from "./runs.ts";
import { startPipeline, starts, throughput } from "./workloads.ts";

const WAITING = [10, 100, 1_000, 10_000] as const;
const TRIGGERS_AT_ONCE = 50;
const IDLE_MS = 10_000;
/** Within this time after the kill of a node, its leases run out and the next node has taken over all shards. */
const TAKEOVER_MS = 10_000;

/** Measures one round, on two installations, one after the other. */
export async function measureGrowth(folder: string, marks: Marks, finished: FinishedRuns): Promise<readonly Figure[]> {
  const waiting = await on(join(folder, "waiting"), async (installation, runs) => {
    const takeover = await measureTakeover(installation, runs, marks, "none");
    const idleStarts = await starts(runs, marks);
    return { idleStarts, figures: [...takeover, ...(await measureWaiting(installation, runs, marks))] };
  });
  const finishedStarts = await on(await finished.copyTo(join(folder, "finished")), (_, runs) => starts(runs, marks));
  return [
    ...waiting.figures,
    ...finishedStarts.map(({ metric, unit, value }) => ({
      metric: `${metric} to the start, ${FINISHED_RUNS} finished`,
      unit,
      value,
    })),
    ratio(`p50 to the start, ${FINISHED_RUNS} finished / none`, finishedStarts[0]!, waiting.idleStarts[0]!),
  ];
}

async function measureWaiting(installation: Installation, runs: Runs, marks: Marks): Promise<readonly Figure[]> {
  await throughput(installation, runs); // A warm-up: otherwise only the first level would pay for compilation.
  const unmatched = await runs.pipeline([{ steps: [NO_OP], labels: { missing: "on-every-agent" } }]);
  const costs: Figure[] = [];
  let waiting = 0;
  for (const level of WAITING) {
    await keepInFlight(level - waiting, TRIGGERS_AT_ONCE, async () => void (await runs.trigger(unmatched)));
    waiting = level;
    const figures = await throughput(installation, runs);
    const cost = figures.find(({ metric }) => metric === "CPU of control plane")!;
    costs.push({ ...cost, metric: `${cost.metric}, ${level} waiting` });
  }
  const idleFigures = await idleCpu({ "control plane": installation.nodePid }, IDLE_MS);
  return [
    ...costs,
    ratio(`CPU of control plane, ${waiting} / ${WAITING[0]} waiting`, costs.at(-1)!, costs[0]!),
    ...idleFigures.map((figure) => ({ ...figure, metric: `${figure.metric}, ${waiting} waiting` })),
    ...(await measureTakeover(installation, runs, marks, String(waiting))),
  ];
}

/**
 * Kills the node. The time to the next start of a step includes the start of the new node, the lease of the dead node,
 * and the reconnection of the agent, which tries again at growing intervals.
 */
async function measureTakeover(
  installation: Installation,
  runs: Runs,
  marks: Marks,
  waiting: string,
): Promise<readonly Figure[]> {
  const pipeline = await startPipeline(runs, marks);
  const id = `${pipeline.id}-takeover`;
  return runs.checked(async () => {
    const from = performance.now();
    await installation.replaceNode();
    const [at] = await Promise.all([marks.seen(id), runs.run(pipeline, { id })]);
    await pause(TAKEOVER_MS - (performance.now() - from));
    return [
      { metric: `kill to the next start, ${waiting} waiting`, unit: "ms", value: at - from },
      {
        metric: `CPU of control plane in ${TAKEOVER_MS / 1_000} s after a kill, ${waiting} waiting`,
        unit: "ms",
        value: cpuTime(installation.nodePid).ownMs,
      },
    ];
  });
}

function ratio(metric: string, of: Figure, to: Figure): Figure {
  return { metric, unit: "ratio", value: of.value / to.value };
}

async function on<T>(dataDir: string, measure: (installation: Installation, runs: Runs) => Promise<T>): Promise<T> {
  const installation = await Installation.start(dataDir);
  try {
    return await measure(installation, new Runs(installation));
  } finally {
    await installation.stop();
  }
}
