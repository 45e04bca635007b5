/** W1 to W5 on an installation. */
import {
  FEW_PARALLEL_JOBS,
  MANY_PARALLEL_JOBS,
  measureStarts,
  measureThroughput,
  SEQUENTIAL_STEPS,
} from "../measure/workloads.ts";
import { median } from "../measure/percentiles.ts";
import type { Figure, Marks, WorkloadName } from "../system.ts";
import type { Installation } from "./installation.ts";
import { type Job, NO_OP, type Pipeline, type Runs } from "./runs.ts";

const THROUGHPUT_RUNS = 500;
const ONE_STEP: readonly Job[] = [{ steps: [NO_OP] }];

export function comparableWorkloads(installation: Installation, runs: Runs, marks: Marks) {
  return {
    W1: () => throughput(installation, runs),
    W2: () => starts(runs, marks),
    W3: () => elapsed(runs, 5, [{ steps: repeated(SEQUENTIAL_STEPS, NO_OP) }]),
    W4: () => elapsed(runs, 5, repeated(FEW_PARALLEL_JOBS, ONE_STEP[0]!)),
    W5: () => elapsed(runs, 2, repeated(MANY_PARALLEL_JOBS, ONE_STEP[0]!)),
  } satisfies Record<WorkloadName, () => Promise<readonly Figure[]>>;
}

/** W1. */
export async function throughput(installation: Installation, runs: Runs): Promise<readonly Figure[]> {
  const pipeline = await runs.pipeline(ONE_STEP);
  return runs.checked(() =>
    measureThroughput(THROUGHPUT_RUNS, installation.processes, async () => void (await runs.run(pipeline))),
  );
}

/** W2. */
export async function starts(runs: Runs, marks: Marks): Promise<readonly Figure[]> {
  const pipeline = await startPipeline(runs, marks);
  const run = async (id: string): Promise<void> => void (await runs.run(pipeline, { id }));
  return runs.checked(() => measureStarts(marks, pipeline.id, run));
}

/** A pipeline of one step, which writes a mark when it starts. The mark is the run's variable `id`. */
export function startPipeline(runs: Runs, marks: Marks): Promise<Pipeline> {
  const [command, ...args] = marks.command("${{ variables.id }}");
  return runs.pipeline([{ steps: [{ uses: "shell", args: { command, args } }] }]);
}

/**
 * W3 to W5: the time from before the trigger to the run's `endTime`, both by this machine's clock. The median of
 * `times` runs.
 */
async function elapsed(runs: Runs, times: number, jobs: readonly Job[]): Promise<readonly Figure[]> {
  const pipeline = await runs.pipeline(jobs);
  return runs.checked(async () => {
    await runs.run(pipeline); // A warm-up.
    const tookMs: number[] = [];
    for (let index = 0; index < times; index++) {
      const from = Date.now();
      tookMs.push((await runs.endOf(await runs.run(pipeline))) - from);
    }
    return [{ metric: "elapsed", unit: "ms", value: median(tookMs) }];
  });
}

function repeated<T>(times: number, item: T): readonly T[] {
  return Array.from({ length: times }, () => item);
}
