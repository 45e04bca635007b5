/**
 * `npm run bench:stored-runs -- [RUNS]`: W1 and W2 on SQLite with very many stored runs (1,000,000), beside the same on an
 * empty store: blocks of runs on one installation and on the other in turn. It compares processor time and calls, which other
 * programs of the machine change little. Exit status 1: a run costs more than {@link BOUND} times as much.
 */
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { storeFile } from "../src/node/data-dir.ts";
import { loadAverage } from "./machine.ts";
import { cpuTime } from "./measure/cpu.ts";
import { keepInFlight } from "./measure/in-flight.ts";
import { median } from "./measure/percentiles.ts";
import { makeFinishedRuns } from "./millrace/finished-runs.ts";
import { FollowedEnds } from "./millrace/followed-ends.ts";
import { Installation } from "./millrace/installation.ts";
import { startCounted } from "./millrace/operations.ts";
import { NO_OP, type Pipeline, Runs } from "./millrace/runs.ts";

const BOUND = 1.1;
const WARM_UP_RUNS = 1_000;
const BLOCKS = 8;
/** Runs of a block and how many of them are in flight. */
const WORKLOADS = { W1: { runs: 200, inFlight: 50 }, W2: { runs: 50, inFlight: 1 } } as const;
type Workload = keyof typeof WORKLOADS;

interface Side {
  readonly installation: Installation;
  readonly runs: Runs;
  readonly pipeline: Pipeline;
  /** Processor time of the control plane and of Redis for each run, ms, by block. */
  readonly costs: Readonly<Record<Workload, number[]>>;
}

async function openSide(dataDir: string): Promise<Side> {
  const installation = await Installation.start(dataDir);
  const runs = new Runs(installation, new FollowedEnds(installation));
  const pipeline = await runs.pipeline([{ steps: [NO_OP] }]);
  await keepInFlight(WARM_UP_RUNS, WORKLOADS.W1.inFlight, async () => void (await runs.run(pipeline)));
  return { installation, runs, pipeline, costs: { W1: [], W2: [] } };
}

async function playBlock({ installation, runs, pipeline, costs }: Side, workload: Workload): Promise<void> {
  const used = (): number => cpuTime(installation.nodePid).ownMs + cpuTime(installation.redisPid).ownMs;
  const { runs: count, inFlight } = WORKLOADS[workload];
  const before = used();
  await keepInFlight(count, inFlight, async () => void (await runs.run(pipeline)));
  costs[workload].push((used() - before) / count);
}

/** The ratio of each workload's costs with stored runs to those without. */
async function compare(empty: Side, filled: Side): Promise<Readonly<Record<Workload, number>>> {
  for (let block = 0; block < BLOCKS; block++) {
    const sides = block % 2 === 0 ? [empty, filled] : [filled, empty];
    for (const workload of ["W1", "W2"] as const) for (const side of sides) await playBlock(side, workload);
  }
  const ratioOf = (workload: Workload): number => {
    const [with_, without] = [median(filled.costs[workload]), median(empty.costs[workload])];
    console.log(
      `${workload}: ${with_.toFixed(2)} ms of processor time a run, ${without.toFixed(2)} ms on an empty store: ${(with_ / without).toFixed(3)} times`,
    );
    return with_ / without;
  };
  return { W1: ratioOf("W1"), W2: ratioOf("W2") };
}

/** The calls of a run by kind, on the store in `folder`. */
async function callsOn(folder: string): Promise<string> {
  const { operations, stop } = await startCounted(folder);
  try {
    const figures = await operations();
    return figures.map(({ metric, value }) => `${metric} ${value.toFixed(2)}`).join(", ");
  } finally {
    await stop();
  }
}

const count = Number(process.argv[2] ?? 1_000_000);
if (!Number.isInteger(count) || count < 2) throw new Error("the number of runs must be a whole number above 1");
const folder = await mkdtemp(join(tmpdir(), "millrace-stored-runs-"));
try {
  const [empty, filled] = [join(folder, "empty"), join(folder, "filled")];
  const began = performance.now();
  await makeFinishedRuns(join(filled, "data"), count);
  const { size } = await stat(storeFile(join(filled, "data")));
  console.log(
    `${count} runs stored in ${((performance.now() - began) / 1_000).toFixed(0)} s, ${(size / count / 1_000).toFixed(1)} kB each; load average ${loadAverage()}`,
  );
  const sides = [await openSide(join(empty, "data")), await openSide(join(filled, "data"))] as const;
  let ratios: Awaited<ReturnType<typeof compare>>;
  try {
    ratios = await compare(...sides);
  } finally {
    for (const { installation } of sides) await installation.stop();
  }
  console.log(`calls of a run, empty store: ${await callsOn(empty)}`);
  console.log(`calls of a run, ${count} runs: ${await callsOn(filled)}`);
  console.log(`load average: ${loadAverage()}`);
  if (Math.max(ratios.W1, ratios.W2) > BOUND) process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}
