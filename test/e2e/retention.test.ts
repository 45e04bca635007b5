/**
 * Retention in a real node that is repeatedly killed while it prunes: no run is ever half removed, and nothing is left
 * over.
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import type { AppContext } from "../../src/app/context.ts";
import { systemClock } from "../../src/domain/clock.ts";
import { asId, newId, type ProjectId, type StepRunId } from "../../src/domain/ids.ts";
import { makeDataDir, storeFile } from "../../src/node/data-dir.ts";
import { openSqliteStores } from "../../src/stores/sqlite/open.ts";
import { lines } from "../contracts/samples.ts";
import { EmbeddedInstallation } from "../support/embedded.ts";
import { silentLog } from "../support/kernel-ports.ts";
import { planOf } from "../support/plans.ts";
import { ProcessWorld } from "../support/processes.ts";
import { saveTurn, stepEvent, type StoredRun, storeRun } from "../support/stored-runs.ts";
import { until } from "../support/until.ts";
import { pipelineRecord } from "../support/pipelines.ts";
import { SqliteConnection } from "../../src/sqlite/connection.ts";

const RUNS = 200;
const KILLS = 2;
const DEADLINE_MS = 60_000;

/** Conditions, by table, that match leftovers of removed runs. */
const LEFT_OVER = {
  actors: "root_id NOT IN (SELECT root_id FROM aggregates)",
  plans: "run_id NOT IN (SELECT root_id FROM aggregates)",
  job_specs: "run_id NOT IN (SELECT root_id FROM aggregates)",
  events: "run_id NOT IN (SELECT root_id FROM aggregates)",
  log_heads: "step_run_id NOT IN (SELECT id FROM actors)",
  log_sizes: "step_run_id NOT IN (SELECT id FROM actors)",
  log_chunks: "step_run_id NOT IN (SELECT id FROM actors)",
  removals: "body IS NOT NULL",
} as const;

describe("retention", function () {
  this.timeout(240_000);
  let world: ProcessWorld;
  let installation: EmbeddedInstallation;
  let dataDir: string;
  let runs: readonly StoredRun[];
  let store: SqliteConnection;

  before(async () => {
    world = await ProcessWorld.create();
    installation = await EmbeddedInstallation.create(world);
    dataDir = join(world.folder, "data");
    await makeDataDir(dataDir);
    runs = await storeRuns(storeFile(dataDir));
    store = new SqliteConnection(storeFile(dataDir), { readonly: true });
  });
  after(async () => {
    store?.close();
    await world?.end();
  });

  const count = (table: string, where: string): number =>
    (store.prepare(`SELECT count(*) AS total FROM ${table} WHERE ${where}`).get() as { total: number }).total;
  const runsLeft = () => count("aggregates", "pipeline_id <> ''");

  /** Expects that every run is either complete or gone, and that there are runs of both kinds. */
  async function expectWholeOrNothing(): Promise<void> {
    const seen = new Set<number>();
    for (const { runId, stepIds } of runs) {
      const [run, timeline] = [
        await installation.call("GET", `/pipelines/runs/${runId}`),
        await installation.call("GET", `/pipelines/runs/${runId}/timeline`),
      ];
      expect(timeline.status).to.equal(run.status);
      if (timeline.status === 200) expect(timeline.body.detail.list).to.have.length(3);
      if (run.status === 200) expect(run.body.detail.jobs[0].steps[0].stepRunId).to.equal(stepIds[0]![0]);
      seen.add(run.status);
    }
    expect(seen).to.deep.equal(new Set([404, 200]));
  }

  it("continues after kills of the node, and keeps the newest run and nothing of the others", async () => {
    for (let kill = 0; kill < KILLS; kill++) {
      await installation.serve(dataDir, { MILLRACE_KEEP_RUNS: "1/pipeline" });
      const before = runsLeft();
      while (runsLeft() > before - 20) await sleep(1);
      installation.node.kill("SIGKILL");
      await installation.node.exited;
      expect(runsLeft(), "killed while it prunes").to.be.within(2, before - 1);
      // Only runs whose removal is recorded may have leftovers.
      const recorded = "SELECT run_id FROM removals WHERE body IS NOT NULL";
      expect(count("events", `${LEFT_OVER.events} AND run_id NOT IN (${recorded})`)).to.equal(0);
    }
    await installation.serve(dataDir, { MILLRACE_KEEP_RUNS: "forever" });
    await until("started removals are finished", () => count("removals", LEFT_OVER.removals) === 0, DEADLINE_MS);
    await expectWholeOrNothing();
    installation.node.kill("SIGTERM");
    await installation.node.exited;

    await installation.serve(dataDir, { MILLRACE_KEEP_RUNS: "1/pipeline" });
    await until("one run is left", () => runsLeft() === 1, DEADLINE_MS);
    await until("no removal is unfinished", () => count("removals", LEFT_OVER.removals) === 0, DEADLINE_MS);
    for (const [table, where] of Object.entries(LEFT_OVER)) expect(count(table, where), table).to.equal(0);
    const newest = runs.at(-1)!;
    expect((await installation.call("GET", `/pipelines/runs/${newest.runId}`)).status).to.equal(200);
    const metrics = await (await fetch(`http://${installation.node.metrics}/metrics`)).text();
    expect(metrics).to.match(/^millrace_retention_removed\{part="runs"\} [1-9]/m);
  });
});

/** Stores ended runs of one pipeline, each with a log and events. */
async function storeRuns(path: string): Promise<readonly StoredRun[]> {
  const stores = await openSqliteStores({ path });
  try {
    const nothing = () => Promise.resolve();
    const subscribe = () => Promise.resolve(nothing);
    const feed = { publish: nothing, close: nothing, subscribe, follow: subscribe, isFollowed: () => false };
    const context = { stores, feed, clock: systemClock, log: silentLog } as Partial<AppContext> as AppContext;
    const pipelineId = newId("pl");
    const projectId = asId<ProjectId>("default");
    await stores.pipelines.create(pipelineRecord(pipelineId, { projectId, name: "kept" }));
    const plan = { ...planOf([[{ steps: 1 }]]), pipelineId, projectId };
    const stored: StoredRun[] = [];
    for (let made = 0; made < RUNS; made++) {
      const run = await storeRun(context, plan);
      const stepRunId: StepRunId = run.stepIds[0]![0]!;
      await stores.logs.append({ stepRunId, agentId: "a", lines: lines(1, 50) });
      await saveTurn(context, run, {
        run: { state: "success", endedAt: systemClock.now() },
        events: [
          stepEvent(run, "started", "running"),
          stepEvent(run, "completed", "success"),
          stepEvent(run, "completed", "success"),
        ],
      });
      stored.push(run);
    }
    return stored;
  } finally {
    await stores.close();
  }
}
