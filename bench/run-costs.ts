/**
 * `npm run bench:run-costs -- [RUNS] [--record]`: what runs of several shapes cost on each store: processor time of the
 * control plane and of Redis, calls of the store and of Redis, and bytes stored. `--record` writes
 * bench/history/run-costs.json, which the model of capacity (`npm run capacity`) is fitted to. The test server of MongoDB is
 * not MongoDB: of it only the bytes of documents, the calls, and the processor time of this side count.
 */
import { writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { BSON, MongoClient } from "mongodb";
import { storeFile } from "../src/node/data-dir.ts";
import { SqliteConnection } from "../src/sqlite/connection.ts";
import { stopTestMongo } from "../test/support/mongo.ts";
import { currentCommit, describeMachine } from "./machine.ts";
import { cpuTime } from "./measure/cpu.ts";
import { keepInFlight } from "./measure/in-flight.ts";
import { FollowedEnds } from "./millrace/followed-ends.ts";
import { Installation } from "./millrace/installation.ts";
import { startMongo } from "./millrace/mongo.ts";
import { NO_OP, type Pipeline, Runs } from "./millrace/runs.ts";

/** Lines are those of each step. The shapes that the model is fitted to come first, then those that it is checked against. */
const SHAPES = [
  { jobs: 1, steps: 1, lines: 0 },
  { jobs: 1, steps: 12, lines: 0 },
  { jobs: 8, steps: 1, lines: 0 },
  { jobs: 1, steps: 1, lines: 1_000 },
  { jobs: 4, steps: 3, lines: 50 },
  { jobs: 2, steps: 20, lines: 0 },
] as const;
const IN_FLIGHT = 8;
const WARM_UP_STEPS = 1_500;
/** In which the upkeep has done what it owes to the runs that have ended, and the idle costs are measured. */
const IDLE_MS = 6_000;
const RECORD = fileURLToPath(new URL("history/run-costs.json", import.meta.url));

/** What was used until now. */
interface Used {
  readonly atMs: number;
  readonly nodeMs: number;
  readonly redisMs: number;
  readonly storeCalls: number;
  readonly redisCalls: number;
}

type Bytes = () => Promise<number>;

async function measure(store: string, runsOfShape: number, dataDir: string, env: Record<string, string>, bytes: Bytes) {
  const installation = await Installation.start(dataDir, env);
  try {
    const runs = new Runs(installation, new FollowedEnds(installation));
    const pipelineOf = ({ jobs, steps, lines }: (typeof SHAPES)[number]) => {
      const script = `i=0; while [ $i -lt ${lines} ]; do i=$((i+1)); echo "line $i of the log of a build, which is not very long"; done`;
      const step = lines === 0 ? NO_OP : { uses: "shell", args: { script } };
      return runs.pipeline(Array.from({ length: jobs }, () => ({ steps: Array.from({ length: steps }, () => step) })));
    };
    const runAll = (pipeline: Pipeline, count: number) =>
      keepInFlight(count, IN_FLIGHT, async () => void (await runs.run(pipeline)));
    const used = async (): Promise<Used> => ({
      atMs: performance.now(),
      nodeMs: cpuTime(installation.nodePid).ownMs,
      redisMs: cpuTime(installation.redisPid).ownMs,
      ...(await callsOf(installation)),
    });
    await runAll(await pipelineOf(SHAPES[0]), WARM_UP_STEPS);
    await pause(IDLE_MS);
    const before = await used();
    await pause(IDLE_MS);
    const idle = await used();
    const results = [];
    for (const shape of SHAPES) {
      const pipeline = await pipelineOf(shape);
      const count = Math.max(20, Math.round(runsOfShape / (shape.jobs * shape.steps)));
      const bytesBefore = await bytes();
      const from = await used();
      await runAll(pipeline, count);
      await pause(IDLE_MS);
      const to = await used();
      const perRun = (of: Exclude<keyof Used, "atMs">): number => {
        const idleRate = (idle[of] - before[of]) / (idle.atMs - before.atMs);
        return Number(((to[of] - from[of] - idleRate * (to.atMs - from.atMs)) / count).toFixed(3));
      };
      const result = {
        store,
        ...shape,
        runs: count,
        nodeMs: perRun("nodeMs"),
        redisMs: perRun("redisMs"),
        storeCalls: perRun("storeCalls"),
        redisCalls: perRun("redisCalls"),
        bytes: Math.round(((await bytes()) - bytesBefore) / count),
      };
      results.push(result);
      console.log(JSON.stringify(result));
    }
    return results;
  } finally {
    await installation.stop();
  }
}

/** The calls that the node itself counts. */
async function callsOf(installation: Installation): Promise<Pick<Used, "storeCalls" | "redisCalls">> {
  const text = await (await fetch(`http://${installation.metrics}/metrics`)).text();
  const sum = (family: string): number =>
    [...text.matchAll(new RegExp(`^${family}_count(?:\\{.*\\})? (\\d+)$`, "gm"))].reduce(
      (all, [, n]) => all + Number(n),
      0,
    );
  return { storeCalls: sum("millrace_store_call_seconds"), redisCalls: sum("millrace_redis_call_seconds") };
}

async function onSqlite(runs: number) {
  const folder = await mkdtemp(join(tmpdir(), "millrace-run-costs-"));
  try {
    const usedBytes = (): Promise<number> => {
      const db = new SqliteConnection(storeFile(folder), { readonly: true });
      const read = (name: string): number => Number(Object.values(db.prepare(`PRAGMA ${name}`).get() as object)[0]);
      // All used pages of the file: also what indexes and free parts of pages take.
      const bytes = (read("page_count") - read("freelist_count")) * read("page_size");
      db.close();
      return Promise.resolve(bytes);
    };
    return await measure("sqlite", runs, folder, {}, usedBytes);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function onMongo(runs: number) {
  const folder = await mkdtemp(join(tmpdir(), "millrace-run-costs-"));
  const env = (await startMongo()).env();
  const client = await MongoClient.connect(env["MONGODB_URL"]!);
  const database = client.db(env["MONGODB_DATABASE"]);
  try {
    const documentBytes = async (): Promise<number> => {
      let bytes = 0;
      for (const { name } of await database.listCollections().toArray()) {
        for await (const document of database.collection(name).find()) bytes += BSON.calculateObjectSize(document);
      }
      return bytes;
    };
    return await measure("mongodb", runs, folder, env, documentBytes);
  } finally {
    await client.close();
    await stopTestMongo();
    await rm(folder, { recursive: true, force: true });
  }
}

const isRecorded = process.argv.includes("--record");
const runs = Number(process.argv.slice(2).find((argument) => /^\d+$/.test(argument)) ?? 600);
const machine = describeMachine(process.execPath);
const costs = [...(await onSqlite(runs)), ...(await onMongo(Math.ceil(runs / 4)))];
console.log(`load average before: ${machine.loadAverage}`);
if (isRecorded) {
  const record = { commit: currentCommit(), date: new Date().toISOString().slice(0, 10), machine, costs };
  writeFileSync(RECORD, `${JSON.stringify(record, null, 2)}\n`);
}
