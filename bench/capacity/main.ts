/**
 * `npm run capacity -- --runs-per-day 10M --steps 12 --agents 20000`: prints the installation that a load needs, which limit
 * comes first, and how far the model is from the measured runs that it was not fitted to. Exit status 2: the command line is
 * wrong.
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import {
  type Capacity,
  capacityFor,
  costOf,
  type Costs,
  FIGURES,
  fitCosts,
  type Load,
  type MeasuredRun,
} from "./model.ts";

const RECORD = new URL("../history/run-costs.json", import.meta.url);
const UNITS = { k: 1e3, M: 1e6, G: 1e9 } as const;
/** The measured runs that the model is fitted to come first. */
const FITTED = 4;

interface Recorded {
  readonly commit: string;
  readonly date: string;
  readonly machine: { readonly cpu: string; readonly loadAverage: number };
  /** `steps` of each job, `lines` of each step. */
  readonly costs: readonly (MeasuredRun & { readonly store: string })[];
}

class UsageError extends Error {}

const OPTIONS = {
  "runs-per-day": "1M",
  steps: "12",
  jobs: "1",
  lines: "50",
  agents: "1000",
  peak: "3",
  waiting: "20k",
  "keep-runs": "90",
  "keep-logs": "30",
  "store-calls": "10k",
} as const;

function readLoad(args: readonly string[]): Load {
  let values: Partial<Record<keyof typeof OPTIONS, string>>;
  try {
    const options = Object.fromEntries(Object.keys(OPTIONS).map((name) => [name, { type: "string" as const }]));
    values = parseArgs({ args: [...args], options }).values as typeof values;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  const number = (name: keyof typeof OPTIONS): number => {
    const text = values[name] ?? OPTIONS[name];
    const [, digits, unit] = /^(\d+(?:\.\d+)?)([kMG]?)$/.exec(text) ?? [];
    const value = Number(digits) * (UNITS[unit as keyof typeof UNITS] ?? 1);
    if (value > 0) return value;
    throw new UsageError(`--${name} must be a number above 0 such as 500, 20k or 10M, not ${JSON.stringify(text)}`);
  };
  const steps = number("steps");
  return {
    runsPerDay: number("runs-per-day"),
    jobs: number("jobs"),
    steps,
    lines: number("lines") * steps,
    agents: number("agents"),
    peak: number("peak"),
    waiting: number("waiting"),
    keepRunsDays: number("keep-runs"),
    keepLogsDays: number("keep-logs"),
    storeCallsPerSecond: number("store-calls"),
  };
}

/** The measured runs of a store, with their steps and lines in all. */
function measuredOn(store: string, { costs }: Recorded): readonly MeasuredRun[] {
  return costs
    .filter((cost) => cost.store === store)
    .map((cost) => ({ ...cost, steps: cost.jobs * cost.steps, lines: cost.jobs * cost.steps * cost.lines }));
}

const bytes = (count: number): string =>
  count >= 1e12
    ? `${(count / 1e12).toFixed(1)} TB`
    : count >= 1e9
      ? `${(count / 1e9).toFixed(1)} GB`
      : `${(count / 1e6).toFixed(0)} MB`;
const whole = (count: number): string => Math.round(count).toLocaleString("en");

function show(load: Load, costs: Costs, capacity: Capacity): void {
  const ofRun = (figure: (typeof FIGURES)[number]): string => costOf(costs, figure, load).toFixed(1);
  console.log(
    `${whole(load.runsPerDay)} runs a day of ${load.jobs} jobs, ${load.steps} steps and ${whole(load.lines)} log lines:`,
  );
  console.log(
    `  a run: ${ofRun("nodeMs")} ms of the control plane, ${ofRun("redisMs")} ms of Redis, ${ofRun("storeCalls")} calls of the store`,
  );
  console.log(
    `  at the peak: ${capacity.runsPerSecond.toFixed(1)} runs/s, ${whole(capacity.runsPerSecond * load.steps)} steps/s, ${whole(capacity.linesPerSecond)} lines/s`,
  );
  for (const { name, needed, runsPerDayOfOne } of capacity.parts) {
    const ofOne = runsPerDayOfOne === null ? "" : `; one carries ${whole(runsPerDayOfOne)} runs a day`;
    console.log(`  ${name}: ${needed}${ofOne}`);
  }
  console.log(`  shards: ${capacity.shards}`);
  console.log(`  memory of Redis: ${bytes(capacity.redisBytes)} for ${whole(load.waiting)} waiting jobs`);
  console.log(
    `  MongoDB, before its compression and without indexes: ${bytes(capacity.runBytes)} for the runs of ${load.keepRunsDays} days, ${bytes(capacity.logBytes)} for the logs of ${load.keepLogsDays} days`,
  );
  console.log(`  the limit that comes first: ${capacity.firstLimit}`);
}

/** How far the model is from the runs that it was not fitted to. */
function showChecks(costs: Costs, measured: readonly MeasuredRun[]): void {
  for (const run of measured.slice(FITTED)) {
    const figures = FIGURES.map((figure) => {
      const [expected, found] = [costOf(costs, figure, run), run[figure]];
      return `${figure} ${expected.toFixed(1)} for ${found.toFixed(1)} (${((expected / found - 1) * 100).toFixed(0)} %)`;
    });
    console.log(`  ${run.jobs} jobs, ${run.steps} steps, ${run.lines} lines: ${figures.join(", ")}`);
  }
}

try {
  const load = readLoad(process.argv.slice(2));
  const record = JSON.parse(readFileSync(RECORD, "utf8")) as Recorded;
  const measured = measuredOn("mongodb", record);
  const costs = fitCosts(measured.slice(0, FITTED) as unknown as Parameters<typeof fitCosts>[0]);
  show(load, costs, capacityFor(load, costs));
  const { commit, date, machine } = record;
  console.log(
    `measured on commit ${commit}, ${date}, ${machine.cpu}, load average ${machine.loadAverage}; the model for runs that it was not fitted to:`,
  );
  showChecks(costs, measured);
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(error.message);
  process.exitCode = 2;
}
