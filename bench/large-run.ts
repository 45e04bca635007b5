/**
 * `node --import tsx bench/large-run.ts [JOBS] [ROUNDS]`: how long `GET run` of a large run takes on SQLite, whole and by
 * pages of 50 jobs, what it costs, and for how long it holds the event loop at most. By default the run has 5,000 jobs of
 * one step that have all been tried twice. No network: the answer is made as the route makes it.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { jobChoice } from "../src/app/runs/job-choice.ts";
import { LargeReads } from "../src/app/large-reads.ts";
import { rememberedPlans } from "../src/app/runs/loaded-run.ts";
import { renderRun } from "../src/app/runs/run-detail.ts";
import { newId } from "../src/domain/ids.ts";
import { RUN_JSON } from "../src/http/routes/run-answer.ts";
import { openSqliteStores } from "../src/stores/sqlite/open.ts";
import { LargeRun } from "../test/support/large-runs.ts";
import { planOf } from "../test/support/plans.ts";
import { storeEnded } from "../test/support/stored-large-runs.ts";
import { loadAverage } from "./machine.ts";

const jobs = Number(process.argv[2] ?? 5_000);
const rounds = Number(process.argv[3] ?? 100);
const folder = await mkdtemp(join(tmpdir(), "millrace-large-run-"));
try {
  const stores = await openSqliteStores({ path: join(folder, "millrace.db") });
  const plan = { ...planOf([Array.from({ length: jobs }, () => ({}))]), pipelineId: newId("pl") };
  const run = new LargeRun(plan);
  run.claim(run.jobs("queued"));
  run.loseAgents(run.jobs("running"));
  run.pass(3_600_000);
  run.finish();
  const runId = await storeEnded(stores, run, plan);
  const clock = { now: Date.now, monotonic: () => performance.now() };
  const context = { stores, clock, largeReads: new LargeReads(), largePlans: rememberedPlans(stores) } as never;
  const caller = { kind: "user", userId: newId("usr"), name: "bench", role: "viewer", scopes: [] } as const;
  const read = async (text: string | undefined, attempts: "newest" | "all") => {
    const chosen = text === undefined ? {} : { jobs: jobChoice.parse(text) };
    const over = new AbortController();
    const request = { runId, allAttempts: attempts === "all", ...chosen };
    const answer = await renderRun(context, caller, request, { format: RUN_JSON, over: over.signal });
    over.abort();
    return answer.length;
  };
  console.log(`a run of ${jobs} jobs that were tried twice; load average ${loadAverage()}\n`);
  console.log(
    "answer | kB | p50 ms | p99 ms | CPU ms | longest hold of the event loop, ms\n--- | ---: | ---: | ---: | ---: | ---:",
  );
  const half = Math.floor(jobs / 2);
  for (const [name, text, attempts] of [
    ["jobs=1..50", "1..50", "newest"],
    ["50 jobs in the middle", `${half}..${half + 49}`, "newest"],
    ["50 attempts in the middle", `${half}..${half + 49}`, "all"],
    ["jobs=none", "none", "newest"],
    ["whole", undefined, "newest"],
    ["whole, with all attempts", undefined, "all"],
  ] as const) {
    const count = text === undefined ? Math.ceil(rounds / 10) : rounds;
    const bytes = await read(text, attempts);
    const times: number[] = [];
    const loop = monitorEventLoopDelay({ resolution: 1 });
    loop.enable();
    const before = process.cpuUsage();
    for (let round = 0; round < count; round++) {
      const begin = performance.now();
      await read(text, attempts);
      times.push(performance.now() - begin);
    }
    const { user, system } = process.cpuUsage(before);
    await new Promise((resolve) => setTimeout(resolve, 5));
    loop.disable();
    times.sort((a, b) => a - b);
    const at = (share: number) => times[Math.min(count - 1, Math.floor(count * share))]!.toFixed(1);
    const cpuMs = ((user + system) / 1_000 / count).toFixed(1);
    const held = Math.max(0, loop.max / 1e6 - 1).toFixed(1);
    console.log(`${name} | ${Math.round(bytes / 1_000)} | ${at(0.5)} | ${at(0.99)} | ${cpuMs} | ${held}`);
  }
  await stores.close();
} finally {
  await rm(folder, { recursive: true, force: true });
}
