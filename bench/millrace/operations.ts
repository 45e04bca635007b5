/** The calls of one run to Redis and to the store, by kind. Other load on the machine does not change these figures. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { until } from "../../test/support/until.ts";
import { CALLS } from "../report.ts";
import type { Figure } from "../system.ts";
import { Installation } from "./installation.ts";
import { NO_OP, Runs } from "./runs.ts";

type Counts = Readonly<Record<string, number>>;

const COUNTER = new URL("./operation-counter.mjs", import.meta.url).href;
const RUNS = 40;
const WARM_UP_RUNS = 5;
/**
 * Time from one trigger to the next, longer than any run. The benchmark does not ask for the run's end, because that
 * would be counted.
 */
const RUN_MS = 300;
/** Time in which the upkeep of the node has counted the runs that have ended. That is a part of their cost. */
const UPKEEP_MS = 6_000;
const LEAST = 0.05;

/**
 * Starts an installation that counts its calls. `operations` measures one-step runs, one after the other; `counts` answers
 * all calls since the start. `program` is the program `node` that runs the installation.
 */
export async function startCounted(
  folder: string,
  env: Readonly<Record<string, string>> = {},
  program: string = process.execPath,
) {
  const file = join(folder, "operations.json");
  const counting = { ...env, NODE_OPTIONS: `--import=${COUNTER}`, BENCH_OPERATIONS: file };
  // The compiled program holds its dependencies, in which the counter could count nothing.
  const installation = await Installation.start(join(folder, "data"), counting, program, { sources: true });
  const runs = new Runs(installation);

  /** All counts until now. */
  async function read(): Promise<Counts> {
    rmSync(file, { force: true });
    installation.signalNode("SIGUSR2");
    await until("the counts of the node", () => existsSync(file));
    return JSON.parse(readFileSync(file, "utf8")) as Counts;
  }

  async function operations(count = RUNS): Promise<readonly Figure[]> {
    const pipeline = await runs.pipeline([{ steps: [NO_OP] }]);
    const triggerAll = async (times: number): Promise<void> => {
      for (let index = 0; index < times; index++) await Promise.all([runs.trigger(pipeline), pause(RUN_MS)]);
      await pause(UPKEEP_MS);
    };
    await triggerAll(WARM_UP_RUNS);
    const before = await read();
    await triggerAll(count);
    const after = await read();
    await pause(count * RUN_MS + UPKEEP_MS);
    return perRun(count, before, after, await read());
  }

  return { operations, counts: read, stop: () => installation.stop() };
}

/** The calls that one run adds to the calls of an idle node in the same time. */
function perRun(runs: number, before: Counts, after: Counts, idle: Counts): readonly Figure[] {
  return Object.keys(idle).flatMap((metric): readonly Figure[] => {
    const [first, second, third] = [before, after, idle].map((counts) => counts[metric] ?? 0);
    const value = (second! - first! - (third! - second!)) / runs;
    return value < LEAST ? [] : [{ metric, unit: CALLS, value }];
  });
}
