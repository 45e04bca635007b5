/** The embedded store of a real installation reaches its limit, and gets room again. */
import { expect } from "chai";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type ApiAnswer, EmbeddedInstallation } from "../support/embedded.ts";
import { ProcessWorld, type StartedProcess } from "../support/processes.ts";
import { until } from "../support/until.ts";
import { SqliteConnection } from "../../src/sqlite/connection.ts";

/** How long the store stays full while the test measures the log lines and the processor time of the processes. */
const FULL_MS = 6_000;
/** Sizes of the definitions that are saved until none fits. */
const KILOBYTES = [400, 40, 4];
const RUNS = 12;

describe("an embedded store that is full", function () {
  this.timeout(150_000);
  let world: ProcessWorld;
  let installation: EmbeddedInstallation;
  let agent: StartedProcess;
  let dataDir: string;

  before(async () => {
    world = await ProcessWorld.create();
    installation = await EmbeddedInstallation.create(world);
    dataDir = join(world.folder, "data");
    await installation.serve(dataDir, { MILLRACE_STORE_LIMIT: "2MB" });
    agent = await installation.agent("only");
  });
  after(() => world?.end());

  /** Triggers runs whose steps print lines until the file `go` exists, and then append one line to the ledger. */
  async function startRuns(name: string): Promise<{ readonly runIds: readonly string[]; readonly go: string }> {
    const go = join(world.folder, `go-${name}`);
    const script = `until [ -e "$GO" ]; do echo waiting; sleep 0.05; done; echo "$MILLRACE_STEP_RUN_ID" >> "$LEDGER"`;
    const env = { GO: go, LEDGER: join(world.folder, "ledger") };
    const step = { uses: "shell", args: { script }, env };
    const pipelineId = await installation.pipeline(name, [
      { name: "first", steps: [{ name: "one", ...step }] },
      { name: "second", needs: ["first"], steps: [{ name: "two", ...step }] },
    ]);
    const runIds: string[] = [];
    while (runIds.length < RUNS) runIds.push((await installation.api.trigger(pipelineId, {})).runId);
    await until("first steps run", async () => (await statuses(runIds)).filter((it) => it === "running").length >= 4);
    return { runIds, go };
  }

  const statuses = (runIds: readonly string[]) =>
    Promise.all(runIds.map(async (runId) => (await installation.api.run(runId)).status));
  const haveSucceeded = (runIds: readonly string[]) =>
    until("every run has succeeded", async () => (await statuses(runIds)).every((it) => it === "success"), 60_000);

  /** Saves definitions until even a small one does not fit; answers the last refusal. */
  async function fill(pipelineId: string): Promise<ApiAnswer> {
    let answer: ApiAnswer | undefined;
    for (const kilobytes of KILOBYTES) {
      do {
        const script = `# ${Math.random()} ${"x".repeat(kilobytes * 1_000)}`;
        const spec = { jobs: [{ name: "big", steps: [{ uses: "shell", args: { script } }] }] };
        answer = await installation.call("POST", `/pipelines/${pipelineId}/spec/save`, { spec, format: "yaml" });
      } while (answer.status === 200);
    }
    return answer!;
  }

  it("refuses writes, answers reads and logs little; runs continue after a deletion", async () => {
    const { runIds, go } = await startRuns("freed");
    const { pipelineId: ballast } = await installation.api.createPipeline("ballast", "");
    const { status, body } = await fill(ballast);
    expect([status, body.reason]).to.deep.equal([503, "unavailable"]);
    expect(body.errMsg).to.include("is full").and.to.include("MILLRACE_STORE_LIMIT (2 MB)");

    await writeFile(go, "");
    await until("runs wait for the store", async () => (await parked()) > 0);
    const [node, cpuBefore] = [installation.node.process, await cpuSeconds(installation.node.pid)];
    const linesBefore = [linesOf(node), linesOf(agent)];
    await sleep(FULL_MS);
    const linesASecond = [linesOf(node), linesOf(agent)].map(
      (lines, i) => ((lines - linesBefore[i]!) / FULL_MS) * 1_000,
    );
    const cpuShare = ((await cpuSeconds(installation.node.pid)) - cpuBefore) / (FULL_MS / 1_000);
    expect(Math.max(...linesASecond), "lines logged a second").to.be.below(5);
    expect(cpuShare, "share of a processor").to.be.below(0.5);
    expect(node.stderr.split('"msg":"an aggregate is parked"').length - 1, "one line a run").to.be.at.most(RUNS);

    expect((await installation.call("GET", `/pipelines/${ballast}`)).status).to.equal(200);
    expect(await statuses(runIds)).to.include("running");
    expect((await stat(join(dataDir, "millrace.db"))).size).to.be.at.most(2e6);
    // The log begins with the blocks that are kept for a full disk.
    expect((await stat(join(dataDir, "millrace.db-wal"))).size).to.be.below(25e6);

    expect((await installation.call("DELETE", `/pipelines/${ballast}`)).status).to.equal(200);
    await haveSucceeded(runIds);
  });

  it("is intact after a kill, and runs continue after a start with a higher limit", async () => {
    const { runIds, go } = await startRuns("raised");
    await fill((await installation.api.createPipeline("more ballast", "")).pipelineId);
    await writeFile(go, "");
    await until("runs wait for the store", async () => (await parked()) > 0);
    installation.node.kill("SIGKILL");
    await installation.node.exited;
    expect(integrityOf(join(dataDir, "millrace.db"))).to.equal("ok");

    await installation.serve(dataDir, { MILLRACE_STORE_LIMIT: "100MB" });
    await haveSucceeded(runIds);
    expect(integrityOf(join(dataDir, "millrace.db"))).to.equal("ok");
    const ledger = (await readFile(join(world.folder, "ledger"), "utf8")).trim().split("\n");
    expect(new Set(ledger).size, "no step ran twice").to.equal(ledger.length);
    expect(ledger).to.have.length(2 * 2 * RUNS);
  });

  async function parked(): Promise<number> {
    const metrics = await (await fetch(`http://${installation.node.metrics}/metrics`)).text();
    return Number(/^millrace_kernel\{kind="parked"\} (\d+)/m.exec(metrics)?.[1]);
  }
});

const linesOf = ({ stderr }: StartedProcess) => stderr.split("\n").length;

/** The processor time that a process has used, seconds. */
async function cpuSeconds(pid: number): Promise<number> {
  const ticks = (await readFile(`/proc/${pid}/stat`, "utf8")).split(") ")[1]!.split(" ").slice(11, 13);
  return ticks.map(Number).reduce((sum, part) => sum + part, 0) / 100;
}

function integrityOf(path: string): unknown {
  const connection = new SqliteConnection(path);
  try {
    return (connection.prepare("PRAGMA integrity_check").get() as { integrity_check: string }).integrity_check;
  } finally {
    connection.close();
  }
}
