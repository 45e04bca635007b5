import { expect } from "chai";
import { join } from "node:path";
import { ApiClient } from "../../src/cli/api-client.ts";
import { isFinalRunStatus } from "../../src/domain/status.ts";
import { ProcessWorld, type StartedProcess } from "../support/processes.ts";
import { until } from "../support/until.ts";

const FREE_PORTS = {
  MILLRACE_HTTP_ADDRESS: "127.0.0.1:0",
  MILLRACE_GRPC_ADDRESS: "127.0.0.1:0",
  MILLRACE_METRICS_ADDRESS: "127.0.0.1:0",
};

const urlOf = ({ stdout }: StartedProcess) => /URL {4}(\S+)/.exec(stdout)![1]!;

describe("start", function () {
  this.timeout(120_000);
  let world: ProcessWorld;
  let dataDir: string;
  beforeEach(async () => {
    world = await ProcessWorld.create();
    dataDir = join(world.folder, "data");
  });
  afterEach(() => world.end());

  const start = (...args: readonly string[]): StartedProcess =>
    world.start(["start", "--data-dir", dataDir, ...args], { env: FREE_PORTS });
  const nothingIsLeft = () => until("nothing was left", async () => (await world.alive()).length === 0);

  it("runs the sample with --once on a new data directory, exits with 0 and leaves no process", async () => {
    const once = start("--once");
    expect((await once.exited).code, once.stdout + once.stderr).to.equal(0);
    for (const part of ["Redis", "store", "worker", "gateway", "edge", "agent"])
      expect(once.stdout).to.contain(`✔ ${part}`);
    expect(once.stdout)
      .to.match(/Token {2}mrt_\S+/)
      .and.to.contain(dataDir)
      .and.to.contain("✔ hello  success");
    expect(once.stdout).to.match(/^build\/check\/copy the sources \| /m);
    expect(once.stderr).to.equal("");
    expect(await world.alive()).to.deep.equal([]);

    const again = start("--once");
    expect((await again.exited).code, again.stdout + again.stderr).to.equal(0);
    expect(again.stdout).not.to.match(/Token {2}mrt_/);
    expect(again.stdout).to.contain("✔ hello  success");
  });

  it("refuses TLS, which its parts do not use, and leaves no process", async () => {
    const env = { ...FREE_PORTS, MILLRACE_GRPC_TLS_CERT_FILE: "/c.pem", MILLRACE_GRPC_TLS_KEY_FILE: "/k.pem" };
    const refused = world.start(["start", "--data-dir", dataDir], { env });
    expect((await refused.exited).code).to.equal(1);
    expect(refused.stderr).to.contain("MILLRACE_GRPC_TLS_CERT_FILE is for `millrace serve`");
    expect(await world.alive()).to.deep.equal([]);
  });

  it("refuses a data directory in use, and leaves its user alone", async () => {
    const first = start();
    await first.prints("Serving.");
    const second = start();
    expect((await second.exited).code).to.equal(1);
    expect(second.stderr).to.equal(`error: already running (pid ${first.pid}) on ${dataDir}\n`);
    expect((await fetch(`${urlOf(first)}/readyz`)).status).to.equal(200);
  });

  it("ends everything on Ctrl-C, and a second start serves the same data", async () => {
    const first = start();
    await first.prints("Serving.");
    first.pressCtrlC();
    expect((await first.exited).code, first.stdout + first.stderr).to.equal(130);
    await nothingIsLeft();

    const second = start("--new-token");
    await second.prints("Serving.");
    const [, token] = /Token {2}(\S+)/.exec(second.stdout)!;
    const answer = await fetch(`${urlOf(second)}/api/v1/pipelines`, { headers: { authorization: `Bearer ${token}` } });
    const { detail } = (await answer.json()) as { detail: { list: readonly { name: string; status: string }[] } };
    expect(detail.list.map(({ name, status }) => ({ name, status }))).to.deep.equal([
      { name: "hello", status: "success" },
    ]);
  });

  it("cleans up when Ctrl-C comes during the start", async () => {
    const started = start();
    await started.prints("✔ Redis");
    started.pressCtrlC();
    expect((await started.exited).code).to.equal(130);
    await nothingIsLeft();
  });

  it("ends the agent and Redis when it is killed, and the next start finishes the run", async () => {
    const first = start();
    await first.prints("Serving.");
    const [, token = ""] = /Token {2}(\S+)/.exec(first.stdout)!;
    let api = new ApiClient({ baseUrl: urlOf(first), token: () => Promise.resolve(token) });
    const { pipelineId } = await api.createPipeline("slow", "");
    const steps = [{ uses: "shell", args: { script: "sleep 2" } }];
    await api.saveSpec(pipelineId, { jobs: [{ name: "wait", steps }] });
    const { runId } = await api.trigger(pipelineId, {});
    await until("the step runs", async () => (await api.run(runId)).jobs[0]?.steps[0]?.status === "running");
    first.kill("SIGKILL");
    await first.exited;
    await nothingIsLeft();

    const second = start();
    await second.prints("Serving.");
    api = new ApiClient({ baseUrl: urlOf(second), token: () => Promise.resolve(token) });
    const run = await until(
      "the run ended",
      async () => {
        const found = await api.run(runId);
        return isFinalRunStatus(found.status) && found;
      },
      30_000,
    );
    expect(run.status).to.equal("success");
    expect(run.jobs.map(({ attempt }) => attempt)).to.deep.equal([2]);
  });

  it("says which port is in use, exits with 1 and stops everything", async () => {
    const first = start();
    await first.prints("✔ edge");
    const [, port] = /edge +listens on 127\.0\.0\.1:(\d+)/.exec(first.stdout)!;
    const second = world.start(["start", "--data-dir", join(world.folder, "other")], {
      env: { ...FREE_PORTS, MILLRACE_HTTP_ADDRESS: `127.0.0.1:${port}` },
    });
    expect((await second.exited).code).to.equal(1);
    expect(second.stderr).to.contain(`port ${port} on 127.0.0.1 is in use`).and.to.contain("MILLRACE_HTTP_ADDRESS");
    const others = (await world.alive()).filter(({ command }) => command.includes(join(world.folder, "other")));
    expect(others).to.deep.equal([]);
  });
});
