/** A pipeline and a project that are deleted while they have live runs, in a real node that is killed meanwhile. */
import { join } from "node:path";
import { expect } from "chai";
import { storeFile } from "../../src/node/data-dir.ts";
import { EmbeddedInstallation } from "../support/embedded.ts";
import { ProcessWorld } from "../support/processes.ts";
import { until } from "../support/until.ts";
import { SqliteConnection } from "../../src/sqlite/connection.ts";

const RUNS = 150;
const STEPS = [{ name: "s", uses: "shell", args: { script: "true" } }];
/** No agent has this label, so the runs stay live until they are stopped. */
const JOBS = [{ name: "waits", agentSelector: { matchLabels: { name: "missing" } }, steps: STEPS }];

const STOPPED = "inbox JOIN aggregates USING (root_id) WHERE pipeline_id = ? AND body LIKE '%pipeline is deleted%'";

describe("a deleted pipeline", function () {
  this.timeout(120_000);
  let world: ProcessWorld;
  let installation: EmbeddedInstallation;
  let dataDir: string;
  let store: SqliteConnection;

  before(async () => {
    world = await ProcessWorld.create();
    installation = await EmbeddedInstallation.create(world);
    dataDir = join(world.folder, "data");
    await installation.serve(dataDir);
    store = new SqliteConnection(storeFile(dataDir), { readonly: true });
  });
  after(async () => {
    store?.close();
    await world?.end();
  });

  const count = (query: string, ...values: readonly string[]): number =>
    (store.prepare(`SELECT count(*) AS total FROM ${query}`).get(...values) as { total: number }).total;
  const stored = (pipelineId: string) => count("aggregates WHERE pipeline_id = ?", pipelineId);
  const live = (pipelineId: string) =>
    count("aggregates WHERE pipeline_id = ? AND status IN ('pending', 'running', 'paused')", pipelineId);
  const isThere = (pipelineId: string) => count("pipelines WHERE pipeline_id = ?", pipelineId) === 1;
  const trigger = (pipelineId: string) =>
    installation.call("POST", `/pipelines/${pipelineId}/trigger`, {}).then(({ status }) => status);
  const remove = (pipelineId: string) => installation.call("DELETE", `/pipelines/${pipelineId}?force=true`);

  it("keeps no live run of the triggers that met its deletion", async () => {
    const pipelineId = await installation.pipeline("raced", JOBS);
    const triggers: Promise<number>[] = [];
    for (let n = 0; n < RUNS; n++) triggers.push(trigger(pipelineId));
    await until("some runs are stored", () => stored(pipelineId) > 20);
    expect((await remove(pipelineId)).status).to.equal(200);
    const statuses = new Set(await Promise.all(triggers));
    expect([...statuses].filter((status) => ![200, 404, 409].includes(status))).to.deep.equal([]);
    expect(await trigger(pipelineId)).to.equal(404);
    await until("no run is live", () => live(pipelineId) === 0, 30_000);
    expect(stored(pipelineId)).to.be.greaterThan(20);
  });

  it("is deleted by the next worker, with all its runs stopped, when the node is killed in between", async () => {
    const pipelineId = await installation.pipeline("cut off", JOBS);
    for (let n = 0; n < RUNS; n += 30) await Promise.all(Array.from({ length: 30 }, () => trigger(pipelineId)));
    const removing = remove(pipelineId).catch(() => undefined);
    await until("the first stops are stored", () => count(STOPPED, pipelineId) > 0);
    installation.node.kill("SIGKILL");
    await removing;
    await installation.node.exited;
    expect(live(pipelineId), "the deletion was cut off").to.be.greaterThan(0);

    await installation.serve(dataDir);
    await until(
      "the pipeline is gone and no run is live",
      () => !isThere(pipelineId) && live(pipelineId) === 0,
      30_000,
    );
    const verify = world.start(["verify", "--data-dir", dataDir, "--json"]);
    expect((await verify.exited).code, verify.stdout + verify.stderr).to.equal(0);
  });

  it("goes with its project, and all that the project has, when the node is killed right after the decision", async () => {
    const { projectId } = (await installation.call("POST", "/projects", { name: "cut off" })).body.detail;
    const made = await installation.call("POST", "/pipelines", { name: "in it", projectId });
    const { pipelineId } = made.body.detail;
    await installation.call("POST", `/pipelines/${pipelineId}/spec/save`, { spec: { jobs: JOBS } });
    await Promise.all(Array.from({ length: 30 }, () => trigger(pipelineId)));
    await installation.call("POST", `/projects/${projectId}/secrets`, { name: "KEY", value: "a long value" });
    const upload = { name: "a.txt", size: 5 };
    expect((await installation.call("POST", `/projects/${projectId}/uploads`, upload)).status).to.equal(200);

    const removing = installation.call("DELETE", `/projects/${projectId}?force=true`).catch(() => undefined);
    await until("the deletion is decided", () => count("area_deletions WHERE owner = ?", `project/${projectId}`) > 0);
    installation.node.kill("SIGKILL");
    await removing;
    await installation.node.exited;
    expect(stored(pipelineId), "the deletion was cut off").to.equal(30);

    await installation.serve(dataDir);
    expect((await installation.call("GET", `/projects/${projectId}`)).status).to.equal(404);
    expect(await trigger(pipelineId)).to.equal(404);
    const rest = () =>
      ["projects", "pipelines", "aggregates", "secrets", "uploads"]
        .map((table) => count(`${table} WHERE project_id = ?`, projectId))
        .reduce((sum, one) => sum + one);
    await until("nothing of the project is left", () => rest() === 0, 60_000);
  });
});
