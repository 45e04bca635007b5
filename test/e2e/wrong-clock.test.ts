/** Nodes whose clock is wrong: real processes, whose clock a module shifts before the program starts. */
import { join } from "node:path";
import { expect } from "chai";
import { ApiClient } from "../../src/cli/api-client.ts";
import { EmbeddedInstallation } from "../support/embedded.ts";
import { ProcessWorld, type ServeNode } from "../support/processes.ts";
import { startTestRedis, type TestRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

const HOUR_MS = 3_600_000;
const ADMIN = "an-administrator-token-for-this-test-only";
const CLOCK = new URL("../support/shifted-clock.mjs", import.meta.url).href;

const aheadBy = (ms: number): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: `--import=${CLOCK}`,
  MILLRACE_TEST_CLOCK_OFFSET_MS: String(ms),
});
const job = { name: "wait", steps: [{ name: "say", uses: "shell", args: { script: "true" } }] };

describe("a node with a wrong clock", function () {
  this.timeout(90_000);
  let world: ProcessWorld;

  beforeEach(async () => {
    world = await ProcessWorld.create();
  });
  afterEach(() => world?.end());

  describe("as a worker of several nodes", () => {
    let redis: TestRedis;
    beforeEach(async () => {
      redis = await startTestRedis();
    });
    afterEach(() => redis?.stop());

    const serve = (roles: string, env: Readonly<Record<string, string>> = {}): Promise<ServeNode> =>
      world.serve(roles, { env: { REDIS_URL: redis.url, MILLRACE_BOOTSTRAP_TOKEN: ADMIN, ...env } });
    const metricsOf = async ({ metrics }: ServeNode) => (await fetch(`http://${metrics!}/metrics`)).text();

    it("owns nothing, fires no timeout, says why, and leaves the shards to a worker with a right clock", async () => {
      const edge = await serve("edge");
      const wrong = await serve("worker", aheadBy(HOUR_MS));
      const api = new ApiClient({ baseUrl: `http://${edge.http}`, token: () => Promise.resolve(ADMIN) });
      const { pipelineId } = await api.createPipeline("p", "");
      await api.saveSpec(pipelineId, { jobs: [{ ...job, queueTimeout: "30m" }] });
      const { runId } = await api.trigger(pipelineId, {});

      const answer = await fetch(`http://${wrong.metrics!}/readyz`);
      expect(answer.status).to.equal(503);
      const { failed, reasons } = (await answer.json()) as { failed: string[]; reasons: Record<string, string> };
      expect(failed).to.deep.equal(["clock", "ownership"]);
      expect(reasons["ownership"]).to.match(/it owns no shard: the clock of this node is 3[56]\d\d\.\d s ahead/);
      expect(wrong.process.stderr).to.include("this node owns no shard until its clock is right");
      const figures = await metricsOf(wrong);
      expect(figures).to.include('millrace_worker_barred{reason="clock"} 1');
      expect(figures).to.match(/millrace_clock_deviation_seconds 3[56]\d\d/);
      expect(figures).to.include("millrace_shards_owned 0");

      const right = await serve("worker");
      await until("it owns all", async () => (await metricsOf(right)).includes("millrace_shards_owned 64"));
      expect((await fetch(`http://${right.metrics!}/readyz`)).status).to.equal(200);
      expect((await api.run(runId)).endTime, "30 minutes have not passed").to.equal(null);
      await api.stop(pipelineId, runId, "the end of the test");
      await until("the run is stopped", async () => (await api.run(runId)).endTime !== null);
      expect(await metricsOf(wrong)).to.include("millrace_shards_owned 0");
    });
  });

  it("as an embedded installation days ahead, deletes no history", async () => {
    const installation = await EmbeddedInstallation.create(world);
    const dataDir = join(world.folder, "data");
    const serve = (keep: string, env: Readonly<Record<string, string>> = {}): Promise<ServeNode> =>
      installation.serve(dataDir, { MILLRACE_KEEP_RUNS: keep, LOG_LEVEL: "debug", ...env });
    const end = async (node: ServeNode): Promise<void> => {
      node.kill("SIGTERM");
      await node.exited;
    };
    const passed = (node: ServeNode) => node.process.prints(/"runs":\d+,.*a pass of the retention pruner has ended/);
    const statusOf = async (runId: string) => (await installation.call("GET", `/pipelines/runs/${runId}`)).status;

    let node = await serve("1d");
    const pipelineId = await installation.pipeline("p", [job]);
    const runs: string[] = [];
    for (let run = 0; run < 2; run++) {
      const { runId } = await installation.api.trigger(pipelineId, {});
      await installation.api.stop(pipelineId, runId, "the end of the test");
      await until("the run has ended", async () => (await installation.api.run(runId)).endTime !== null);
      runs.push(runId);
    }
    await end(node);

    node = await serve("1d", aheadBy(30 * 24 * HOUR_MS));
    await node.process.prints("nothing is deleted by age: the clock is more than an hour ahead");
    await passed(node);
    expect(await Promise.all(runs.map(statusOf))).to.deep.equal([200, 200]);
    await end(node);

    node = await serve("1s");
    await until(
      "the older run goes with a right clock and a short rule",
      async () => (await statusOf(runs[0]!)) === 404,
    );
    expect(await statusOf(runs[1]!)).to.equal(200);
    await end(node);
  });
});
