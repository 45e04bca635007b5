/**
 * `npm run bench:capacity -- [--store mongodb] [--only check] [--seconds N] [--record]`: measures what the model of capacity is
 * fitted to, and what it is checked against. It takes 7 minutes for each store. Processor time counts, not time, so that other
 * programs on the machine show little; the loop of unit.ts tells how fast the machine was meanwhile. `--only` names a shape, or all
 * shapes of `fit` or `check`, or `rates`. `--seconds` is for how long runs of each shape are started. `--record` writes what was measured
 * into measured.json.
 */
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { stopTestMongo } from "../../test/support/mongo.ts";
import { until } from "../../test/support/until.ts";
import { currentCommit, describeMachine } from "../machine.ts";
import { FollowedEnds } from "../millrace/followed-ends.ts";
import { type Pipeline, Runs } from "../millrace/runs.ts";
import { idleAgents, removals, viewedLines } from "./rates.ts";
import { type MeasuredRow, type Rates, type Session, type StoreName, STORES } from "./model.ts";
import { type Measured, merged, readRecord, writeRecord } from "./record.ts";
import { amountsOf, jobsOf, type MeasuredShape, SHAPES } from "./shapes.ts";
import { measureUnit } from "./unit.ts";
import { differenceOf, type Idle, rounded, scaled, usedBy } from "./usage.ts";
import { CapacityWorld } from "./world.ts";

/** Runs in flight, whose steps end at once. The installation is busy with them. */
const IN_FLIGHT = 8;
/** Steps that last leave it idle, so runs of so many jobs are in flight. No job waits for a slot of the agent. */
const IN_FLIGHT_LASTING_JOBS = 40;
/** For all shapes together: V8 compiles hot code late. */
const WARM_UP_MS = 20_000;
/** Workers count ended runs every 10 s; that is a part of their cost. */
const SETTLE_MS = 11_000;
const IDLE_MS = 20_000;
const LINES_MS = 120_000;
/** Read before the record of the first store is written, which changes the checkout. */
const COMMIT = currentCommit();

/** What is to be measured of each store. */
interface Choice {
  readonly shapes: readonly MeasuredShape[];
  readonly rates: boolean;
  /** For so long, runs of each shape are started. */
  readonly seconds: number;
}

async function measureStore(store: StoreName, { shapes, rates, seconds }: Choice): Promise<Measured> {
  const { loadAverage, ...machine } = describeMachine(process.execPath);
  const session: Session = { commit: COMMIT, date: new Date().toISOString().slice(0, 10), loadAverage };
  const world = await CapacityWorld.start(store);
  try {
    const runs = new Runs(world, new FollowedEnds(world));
    await warmUp(world, runs, shapes);
    const idle = await idleRate(world);
    const rows: MeasuredRow[] = [];
    for (const shape of shapes) {
      rows.push({ ...(await measureShape(world, runs, idle, shape, seconds)), session });
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
  for (const shape of all) await runFor(runs, await pipelineOf(world, runs, shape), shape, WARM_UP_MS / all.length);
  await pause(SETTLE_MS);
}

function pipelineOf(world: CapacityWorld, runs: Runs, shape: MeasuredShape): Promise<Pipeline> {
  return runs.pipeline(jobsOf(shape, world.stepFolder));
}

/** Starts runs for so long, and resolves when they have ended, with their number. */
async function runFor(runs: Runs, pipeline: Pipeline, shape: MeasuredShape, ms: number): Promise<number> {
  const lanes = amountsOf(shape).lasting > 0 ? Math.floor(IN_FLIGHT_LASTING_JOBS / shape.jobs) : IN_FLIGHT;
  const from = performance.now();
  let count = 0;
  const lane = async (): Promise<void> => {
    do {
      count++;
      await runs.run(pipeline);
    } while (performance.now() - from < ms);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return count;
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
  seconds: number,
): Promise<Omit<MeasuredRow, "session">> {
  const pipeline = await pipelineOf(world, runs, shape);
  const unitBefore = measureUnit();
  const lines = await world.storedLines();
  const bytes = await world.storeBytes();
  let count = 0;
  const used = await usedBy(world, idle, async () => {
    await runs.checked(async () => {
      count = await runFor(runs, pipeline, shape, seconds * 1_000);
      return [];
    });
    const wanted = lines + count * amountsOf(shape).line;
    await until("all lines are stored", async () => (await world.storedLines()) >= wanted, LINES_MS);
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
    seconds: { type: "string", default: "6" },
    record: { type: "boolean", default: false },
  },
});
const stores = values.store.map((name) => {
  const store = STORES.find((known) => known === name);
  if (store === undefined) throw new Error(`--store must be ${STORES.join(" or ")}, not ${name}`);
  return store;
});
const seconds = Number(values.seconds);
if (!(seconds > 0)) throw new Error("--seconds must be a number above 0");
const { only } = values;
const choice: Choice = {
  shapes: SHAPES.filter(({ name, use }) => only === undefined || only.includes(name) || only.includes(use)),
  rates: only === undefined || only.includes("rates"),
  seconds,
};
try {
  for (const store of stores) {
    const measured = await measureStore(store, choice);
    if (values.record) writeRecord(merged(readRecord(), measured));
  }
} finally {
  await stopTestMongo();
}
