/**
 * `npm run bench:capacity -- [--store mongodb] [--only check] [--steps N] [--record]`: measures what the model of capacity is
 * fitted to, and what it is checked against. It takes some minutes for each store. Processor time counts, not time, so that other
 * programs on the machine show little; the loop of unit.ts tells how fast the machine was meanwhile. `--only` names a shape, or all
 * shapes of `fit` or `check`, or `rates`. `--steps` is how many steps of each shape are run. `--record` writes what was measured
 * into measured.json.
 */
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { stopTestMongo } from "../../test/support/mongo.ts";
import { until } from "../../test/support/until.ts";
import { currentCommit, describeMachine } from "../machine.ts";
import { keepInFlight } from "../measure/in-flight.ts";
import { FollowedEnds } from "../millrace/followed-ends.ts";
import { type Pipeline, Runs } from "../millrace/runs.ts";
import { idleAgents, removals, viewedLines } from "./rates.ts";
import { type MeasuredRow, type Rates, type Session, type StoreName, STORES } from "./model.ts";
import { type Measured, merged, readRecord, writeRecord } from "./record.ts";
import { amountsOf, jobsOf, type MeasuredShape, SHAPES } from "./shapes.ts";
import { measureUnit } from "./unit.ts";
import { differenceOf, type Idle, rounded, scaled, usedBy } from "./usage.ts";
import { CapacityWorld } from "./world.ts";

const IN_FLIGHT = 8;
/** V8 compiles hot code late. */
const WARM_UP_STEPS = 600;
const LEAST_RUNS = 6;
/** Workers count ended runs every 10 s; that is a part of their cost. */
const SETTLE_MS = 12_000;
const IDLE_MS = 24_000;
const LINES_MS = 120_000;

/** What is to be measured of each store. */
interface Choice {
  readonly shapes: readonly MeasuredShape[];
  readonly rates: boolean;
  /** How many steps of each shape are run. */
  readonly steps: number;
}

async function measureStore(store: StoreName, { shapes, rates, steps }: Choice): Promise<Measured> {
  const { loadAverage, ...machine } = describeMachine(process.execPath);
  const session: Session = { commit: currentCommit(), date: new Date().toISOString().slice(0, 10), loadAverage };
  const world = await CapacityWorld.start(store);
  try {
    const runs = new Runs(world, new FollowedEnds(world));
    await warmUp(world, runs, shapes);
    const idle = await idleRate(world);
    const rows: MeasuredRow[] = [];
    for (const shape of shapes) {
      rows.push({ ...(await measureShape(world, runs, idle, shape, steps)), session });
      console.log(JSON.stringify({ store, ...rows.at(-1) }));
    }
    if (!rates) return { store, machine, rows };
    const measured = await measureRates(world, idle, session);
    console.log(JSON.stringify({ store, rates: measured }));
    return { store, machine, rows, rates: measured };
  } catch (error) {
    throw new Error(world.logTails(), { cause: error });
  } finally {
    await world.stop();
  }
}

async function measureRates(world: CapacityWorld, idle: Idle, session: Session): Promise<Rates> {
  const unitMs = measureUnit();
  const agentSecond = await idleAgents(world, idle);
  const viewedLine = await viewedLines(world, idle);
  const removedRun = await removals(world, idle);
  return { session, unitMs, idleSecond: rounded(scaled(idle, 1_000)), agentSecond, viewedLine, removedRun };
}

async function warmUp(world: CapacityWorld, runs: Runs, shapes: readonly MeasuredShape[]): Promise<void> {
  const all = shapes.length === 0 ? SHAPES : shapes;
  for (const shape of all) {
    const pipeline = await runs.pipeline(jobsOf(shape, world.stepProgram));
    await runAll(runs, pipeline, Math.ceil(WARM_UP_STEPS / all.length / (shape.jobs * shape.steps)));
  }
  await pause(SETTLE_MS);
}

function runAll(runs: Runs, pipeline: Pipeline, count: number): Promise<void> {
  return keepInFlight(count, IN_FLIGHT, async () => void (await runs.run(pipeline)));
}

async function idleRate(world: CapacityWorld): Promise<Idle> {
  const from = performance.now();
  const before = await world.used();
  await pause(IDLE_MS);
  return scaled(differenceOf(await world.used(), before), 1 / (performance.now() - from));
}

/** Rejects unless each step of the runs started exactly once. */
async function measureShape(
  world: CapacityWorld,
  runs: Runs,
  idle: Idle,
  shape: MeasuredShape,
  steps: number,
): Promise<Omit<MeasuredRow, "session">> {
  const pipeline = await runs.pipeline(jobsOf(shape, world.stepProgram));
  const count = Math.max(LEAST_RUNS, Math.round(steps / (shape.jobs * shape.steps)));
  const unitBefore = measureUnit();
  const lines = (await world.storedLines()) + count * amountsOf(shape).line;
  const bytes = await world.storeBytes();
  const used = await usedBy(world, idle, async () => {
    await runs.checked(async () => {
      await runAll(runs, pipeline, count);
      return [];
    });
    const hasAll = async (): Promise<boolean> => (await world.storedLines()) >= lines;
    await until("all lines are stored", hasAll, LINES_MS);
    await pause(SETTLE_MS);
  });
  const storeBytes = (await world.storeBytes()) - bytes;
  const unitMs = Number(((unitBefore + measureUnit()) / 2).toFixed(2));
  return { ...shape, runs: count, unitMs, cost: rounded(scaled({ ...used, storeBytes }, 1 / count)) };
}

const { values } = parseArgs({
  options: {
    store: { type: "string", multiple: true, default: [...STORES] },
    only: { type: "string", multiple: true },
    steps: { type: "string", default: "240" },
    record: { type: "boolean", default: false },
  },
});
const stores = values.store.map((name) => {
  const store = STORES.find((known) => known === name);
  if (store === undefined) throw new Error(`--store must be ${STORES.join(" or ")}, not ${name}`);
  return store;
});
const steps = Number(values.steps);
if (!Number.isInteger(steps) || steps < 1) throw new Error("--steps must be a whole number above 0");
const { only } = values;
const choice: Choice = {
  shapes: SHAPES.filter(({ name, use }) => only === undefined || only.includes(name) || only.includes(use)),
  rates: only === undefined || only.includes("rates"),
  steps,
};
try {
  for (const store of stores) {
    const measured = await measureStore(store, choice);
    if (values.record) writeRecord(merged(readRecord(), measured));
  }
} finally {
  await stopTestMongo();
}
