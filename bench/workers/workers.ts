/**
 * W13: many worker processes. What they cost while nothing happens, how the shards are spread over them, and how long
 * shards are not served when workers die, or are replaced one after the other.
 */
import { setTimeout as pause } from "node:timers/promises";
import { cpuTime } from "../measure/cpu.ts";
import type { Mongo } from "../millrace/mongo.ts";
import { residentMb } from "../millrace/idle.ts";
import type { Figure } from "../system.ts";
import { canariesTaken } from "./canaries.ts";
import { type Pauses, pausesDuring } from "./progress.ts";
import { type WorkersSize, WorkersWorld } from "./workers-world.ts";

export function workersOf(workers: number): WorkersSize {
  return { workers, shards: 8 * workers };
}

const SETTLE_MS = 20_000;
const IDLE_MS = 20_000;
/** The pauses without any change, beside which those of a rolling restart are to be read. */
const UNDISTURBED_MS = 15_000;
const SERVED_MS = 60_000;
const LEAST_CALLS = 0.005;

/** Measures one round. */
export async function measureWorkers(mongo: Mongo, size: WorkersSize): Promise<readonly Figure[]> {
  const world = await WorkersWorld.start(size, mongo);
  const figures: Figure[] = [];
  try {
    figures.push(...(await startAll(world)));
    await pause(SETTLE_MS);
    figures.push(...(await idle(world)));
    figures.push(...(await killSome(world, 1, "one")));
    figures.push(...(await killSome(world, Math.ceil(size.workers / 4), "a quarter")));
    figures.push(...(await restartAll(world)));
    return figures;
  } catch (cause) {
    const measured = figures.map(({ metric, value }) => `${metric} ${value.toFixed(1)}`);
    throw new Error(`measured until then: ${measured.join(", ")}`, { cause });
  } finally {
    await world.stop();
  }
}

async function startAll(world: WorkersWorld): Promise<readonly Figure[]> {
  const from = performance.now();
  await world.startWorkers();
  const startedAt = performance.now();
  await world.balanced();
  return [
    { metric: "all workers started", unit: "ms", value: startedAt - from },
    { metric: "shards spread after that", unit: "ms", value: performance.now() - startedAt },
    { metric: "spread of the shards", unit: "shards", value: await world.spread() },
  ];
}

/** CPU, memory and calls of the workers while nothing happens. */
async function idle(world: WorkersWorld): Promise<readonly Figure[]> {
  const pids = world.workers.map(({ node }) => node.pid);
  const redis = Number(/^process_id:(\d+)/m.exec(await world.redisClient.info("server"))![1]);
  const commands = async () =>
    Number(/^total_commands_processed:(\d+)/m.exec(await world.redisClient.info("stats"))![1]);
  const cpu = () => ({
    workers: pids.reduce((sum, pid) => sum + cpuTime(pid).ownMs, 0),
    redis: cpuTime(redis).ownMs,
  });
  const calls = await world.calls();
  const before = { cpu: cpu(), commands: await commands(), at: performance.now() };
  await pause(IDLE_MS);
  const ms = performance.now() - before.at;
  const after = { cpu: cpu(), commands: await commands() };
  const ofOne = Object.entries(await world.calls())
    .map(([kind, count]) => ({ kind, value: ((count - (calls[kind] ?? 0)) / ms) * 1_000 }))
    .filter(({ value }) => value > LEAST_CALLS)
    .toSorted((a, b) => b.value - a.value);
  return [
    { metric: "idle CPU of all workers", unit: "% of a core", value: share(before.cpu.workers, after.cpu.workers, ms) },
    { metric: "idle CPU of redis", unit: "% of a core", value: share(before.cpu.redis, after.cpu.redis, ms) },
    { metric: "memory of all workers", unit: "MB", value: pids.reduce((sum, pid) => sum + residentMb(pid), 0) },
    { metric: "commands of redis", unit: "/s", value: ((after.commands - before.commands) / ms) * 1_000 },
    ...ofOne.map(({ kind, value }) => ({ metric: `idle worker: ${kind}`, unit: "/s", value })),
  ];
}

function share(before: number, after: number, ms: number): number {
  return ((after - before) / ms) * 100;
}

/** Kills workers at once. Answers how long it takes until all their shards are served again. */
async function killSome(world: WorkersWorld, count: number, name: string): Promise<readonly Figure[]> {
  // The first worker counts calls and stays.
  const victims = world.workers.slice(-count);
  const byNode = await world.shardsByNode();
  const shards = victims.flatMap(({ nodeId }) => byNode.get(nodeId) ?? []);
  const from = performance.now();
  await world.kill(victims);
  await canariesTaken(world.redisClient, shards, SERVED_MS);
  const tookMs = performance.now() - from;
  await world.startWorkers();
  await world.balanced();
  return [{ metric: `shards of ${name} served after its kill`, unit: "ms", value: tookMs }];
}

/** Replaces all workers, one after the other, while runs go on. */
async function restartAll(world: WorkersWorld): Promise<readonly Figure[]> {
  const undisturbed = await pausesDuring(world, () => pause(UNDISTURBED_MS));
  const from = performance.now();
  let tookMs = 0;
  const pauses = await pausesDuring(world, async () => {
    for (const worker of world.workers.slice()) await world.replace(worker);
    tookMs = performance.now() - from;
  });
  return [
    ...figuresOf("undisturbed", undisturbed),
    { metric: "rolling restart of all", unit: "ms", value: tookMs },
    ...figuresOf("rolling restart", pauses),
  ];
}

function figuresOf(name: string, { runs, p50Ms, p99Ms, longestMs, longestOf }: Pauses): readonly Figure[] {
  return [
    { metric: `${name}: runs`, unit: "runs", value: runs },
    { metric: `${name}: pause of a run, p50`, unit: "ms", value: p50Ms },
    { metric: `${name}: pause of a run, p99`, unit: "ms", value: p99Ms },
    { metric: `${name}: pause of a run, longest`, unit: "ms", value: longestMs },
    ...Object.entries(longestOf).map(([place, value]) => ({
      metric: `${name}: longest pause before the ${place}`,
      unit: "ms",
      value,
    })),
  ];
}
