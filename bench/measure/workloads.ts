/** The procedure of W1 to W5, the same for every system: warm-up, number of repetitions, and figures. */
import { setTimeout as pause } from "node:timers/promises";
import type { Figure, Marks } from "../system.ts";
import { cpuTime } from "./cpu.ts";
import { keepInFlight } from "./in-flight.ts";
import { median, percentile } from "./percentiles.ts";

/** The most steps that run at once in a system's worker. */
export const STEPS_AT_ONCE = 50;
export const SEQUENTIAL_STEPS = 40;
export const FEW_PARALLEL_JOBS = 40;
export const MANY_PARALLEL_JOBS = 1_000;

const IN_FLIGHT = 50;
/** V8 compiles hot code late: the first thousand runs of a process cost up to twice as much as later ones. */
const WARM_UP_RUNS = 1_000;
const WARM_UP_STARTS = 20;
const STARTS = 200;
const IDLE_MS = 5;

export interface MeasuredProcess {
  /** `control plane`, `redis` or `agent`. */
  readonly name: string;
  readonly pid: number;
  /** True when the children of the process are the steps: their CPU time becomes the figure `steps`. */
  readonly runsSteps?: boolean;
}

/** W1: `runs` one-step runs with 50 in flight, after 1,000 warm-up runs. `run` resolves when its run has ended. */
export async function measureThroughput(
  runs: number,
  processes: readonly MeasuredProcess[],
  run: () => Promise<void>,
): Promise<readonly Figure[]> {
  await keepInFlight(WARM_UP_RUNS, IN_FLIGHT, run);
  const before = processes.map(({ pid }) => cpuTime(pid));
  const from = performance.now();
  await keepInFlight(runs, IN_FLIGHT, run);
  const elapsedMs = performance.now() - from;
  const cost = (name: string, ms: number): Figure => ({ metric: `CPU of ${name}`, unit: "ms/run", value: ms / runs });
  return [
    { metric: "throughput", unit: "runs/s", value: (runs * 1_000) / elapsedMs },
    ...processes.flatMap(({ name, pid, runsSteps }, index) => {
      const after = cpuTime(pid);
      const own = cost(name, after.ownMs - before[index]!.ownMs);
      return runsSteps ? [own, cost("steps", after.childrenMs - before[index]!.childrenMs)] : [own];
    }),
  ];
}

/**
 * W2: the time from a trigger to the step's process in an idle system, 200 times after 20 warm-ups. `run` triggers a
 * run whose one step has the command `marks.command(id)`, and resolves when the run has ended. `prefix` makes the ids
 * unique among all users of `marks`.
 */
export async function measureStarts(
  marks: Marks,
  prefix: string,
  run: (id: string) => Promise<void>,
): Promise<readonly Figure[]> {
  const delays: number[] = [];
  for (let index = -WARM_UP_STARTS; index < STARTS; index++) {
    const id = `${prefix}-${index + WARM_UP_STARTS}`;
    const from = performance.now();
    const [at] = await Promise.all([marks.seen(id), run(id)]);
    if (index >= 0) delays.push(at - from);
    await pause(IDLE_MS);
  }
  return [
    { metric: "p50", unit: "ms", value: percentile(delays, 0.5) },
    { metric: "p99", unit: "ms", value: percentile(delays, 0.99) },
  ];
}

/** W3 to W5: the time from the trigger to the end of a run; the median of `times` runs after one warm-up run. */
export async function measureElapsed(times: number, run: () => Promise<void>): Promise<readonly Figure[]> {
  await run();
  const elapsed: number[] = [];
  for (let index = 0; index < times; index++) {
    const from = performance.now();
    await run();
    elapsed.push(performance.now() - from);
  }
  return [{ metric: "elapsed", unit: "ms", value: median(elapsed) }];
}
