import { expect } from "chai";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, stat, symlink } from "node:fs/promises";
import { createServer } from "node:net";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { ApiClient } from "../../src/cli/api-client.ts";
import { isFinalRunStatus } from "../../src/domain/status.ts";
import { TestRepository } from "../support/git-server.ts";
import { freePort } from "../support/ports.ts";
import { ProcessWorld, type StartedProcess } from "../support/processes.ts";
import { until } from "../support/until.ts";

const FREE_PORTS = {
  MILLRACE_HTTP_ADDRESS: "127.0.0.1:0",
  MILLRACE_GRPC_ADDRESS: "127.0.0.1:0",
  MILLRACE_METRICS_ADDRESS: "127.0.0.1:0",
};

const run = promisify(execFile);
/** The command that the program prints for trying the hook of its sample. */
const printedLine = ({ stdout }: StartedProcess): string =>
  /^ +(curl .*)$/m.exec(stdout)?.[1] ?? expect.fail(`no line to try was printed:\n${stdout}`);
const urlOf = ({ stdout }: StartedProcess) => /URL {4}(\S+)/.exec(stdout)![1]!;

describe("start", function () {
  this.timeout(240_000);
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

  it("refuses a data directory and a port in use, stops everything, and leaves their user alone", async () => {
    const first = start();
    await first.prints("Serving.");
    const second = start();
    expect((await second.exited).code).to.equal(1);
    expect(second.stderr).to.equal(`error: already running (pid ${first.pid}) on ${dataDir}\n`);

    const { port } = new URL(urlOf(first));
    const other = join(world.folder, "other");
    const third = world.start(["start", "--data-dir", other], {
      env: { ...FREE_PORTS, MILLRACE_HTTP_ADDRESS: `127.0.0.1:${port}` },
    });
    expect((await third.exited).code).to.equal(1);
    expect(third.stderr).to.contain(`port ${port} on 127.0.0.1 is in use`).and.to.contain("MILLRACE_HTTP_ADDRESS");
    expect((await world.alive()).filter(({ command }) => command.includes(other))).to.deep.equal([]);
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
      { name: "hello-git", status: "pending" },
      { name: "hello", status: "success" },
    ]);
  });

  it("serves the sample in Git, which a push and the printed line run, also at another port after a kill", async () => {
    const sample = join(dataDir, "sample");
    const first = start();
    await first.prints("Serving.");
    const [, token] = /Token {2}(\S+)/.exec(first.stdout)!;
    const apiOf = (started: StartedProcess) =>
      new ApiClient({ baseUrl: urlOf(started), token: () => Promise.resolve(token!) });
    const newestRun = (started: StartedProcess, after: string | undefined) =>
      until("a run of the sample ended", async () => {
        const run = (await apiOf(started).findPipeline("hello-git"))!.lastRun;
        return run !== null && run.runId !== after && isFinalRunStatus(run.status) && run;
      });

    expect((await run("sh", ["-c", printedLine(first)])).stdout).to.contain('"duplicate":false');
    const greeted = await newestRun(first, undefined);
    expect(greeted).to.include({ status: "success" });

    const clone = new TestRepository(join(world.folder, "mine"), "unused");
    clone.git("fetch", "--quiet", join(sample, "hello.git"), "main");
    clone.git("checkout", "--quiet", "-B", "main", "FETCH_HEAD");
    clone.git("commit", "--quiet", "--allow-empty", "--message", "a change");
    clone.git("push", "--quiet", join(sample, "hello.git"), "main");
    const pushed = await newestRun(first, greeted.runId);
    expect(pushed.status).to.equal("success");
    expect((await apiOf(first).run(pushed.runId)).commitSha).to.equal(clone.git("rev-parse", "HEAD"));

    first.kill("SIGKILL");
    await first.exited;
    const port = Number(await readFile(join(sample, "port"), "utf8"));
    const other = createServer().listen(port, "127.0.0.1");
    await once(other, "listening");
    try {
      const second = start();
      await second.prints("Serving.");
      expect(await readFile(join(sample, "port"), "utf8")).not.to.equal(String(port));
      expect((await run("sh", ["-c", printedLine(second)])).stdout).to.contain('"duplicate":false');
      expect(await newestRun(second, pushed.runId)).to.include({ status: "success" });
      // Other users of the machine neither read nor push.
      const url = (await readFile(join(sample, "address"), "utf8")).trim();
      expect((await fetch(`${url}/info/refs?service=git-receive-pack`)).status).to.equal(401);
      expect((await stat(join(sample, "key"))).mode & 0o077).to.equal(0);
    } finally {
      other.close();
    }
  });

  it("goes on without the sample in Git where there is no Git", async () => {
    const bin = join(world.folder, "bin");
    await mkdir(bin);
    for (const folder of process.env["PATH"]!.split(delimiter)) {
      for (const program of await readdir(folder).catch(() => [])) {
        if (program !== "git") await symlink(join(folder, program), join(bin, program)).catch(() => {});
      }
    }
    const started = world.start(["start", "--data-dir", dataDir], { env: { ...FREE_PORTS, PATH: bin } });
    await started.prints("Serving.");
    expect(started.stdout).to.contain("✔ hello  success");
    expect(started.stdout).to.contain("The sample in Git is left out: git is not on PATH");
  });

  it("cleans up when Ctrl-C comes during the start", async () => {
    const started = start();
    await started.prints("✔ Redis");
    started.pressCtrlC();
    expect((await started.exited).code).to.equal(130);
    await nothingIsLeft();
  });

  describe("when it is killed", () => {
    let ports: typeof FREE_PORTS;
    let api: ApiClient;
    let token = "";

    beforeEach(async () => {
      const [http, grpc] = [await freePort(), await freePort()];
      ports = {
        ...FREE_PORTS,
        MILLRACE_HTTP_ADDRESS: `127.0.0.1:${http}`,
        MILLRACE_GRPC_ADDRESS: `127.0.0.1:${grpc}`,
      };
      api = new ApiClient({ baseUrl: `http://127.0.0.1:${http}`, token: () => Promise.resolve(token) });
    });

    const startWith = (env: Record<string, string> = ports) => world.start(["start", "--data-dir", dataDir], { env });

    async function serving(started = startWith()): Promise<StartedProcess> {
      await started.prints("Serving.");
      token = /Token {2}(mrt_\S+)/.exec(started.stdout)?.[1] ?? token;
      return started;
    }

    async function kill(started: StartedProcess): Promise<void> {
      started.kill("SIGKILL");
      await started.exited;
    }

    /**
     * Triggers a run whose only step writes a line to `marks`, waits, and writes another line. A second attempt does not
     * wait.
     */
    async function triggerSlow(seconds: number, job: Record<string, unknown> = {}): Promise<string> {
      const { pipelineId } = await api.createPipeline("slow", "");
      const script = `echo begun >> ${marks()}; [ $(wc -l < ${marks()}) -gt 1 ] || sleep ${seconds}; echo done >> ${marks()}`;
      await api.saveSpec(pipelineId, {
        jobs: [{ name: "wait", steps: [{ uses: "shell", args: { script } }], ...job }],
      });
      const { runId } = await api.trigger(pipelineId, {});
      await until("the step has begun", async () => (await written()) === "begun\n");
      return runId;
    }
    const marks = () => join(world.folder, "marks");
    const written = () => readFile(marks(), "utf8").catch(() => "");
    const ended = (runId: string) =>
      until(
        "the run ended",
        async () => {
          const found = await api.run(runId);
          return isFinalRunStatus(found.status) && found;
        },
        60_000,
      );
    const isAgent = ({ command }: { readonly command: string }) => / agent --keeper-socket /.test(command);

    it("leaves the agent to the next start, again and again, with its step running on", async () => {
      let started = await serving();
      const runId = await triggerSlow(8);
      const [agent] = (await world.alive()).filter(isAgent);
      await kill(started);
      started = await serving();
      await kill(started);
      // Of a busy machine, this start sees an agent that is slow to answer.
      const next = startWith();
      await next.prints("✔ Redis");
      process.kill(agent!.pid, "SIGSTOP");
      await next.prints("✔ edge");
      await sleep(2_500);
      process.kill(agent!.pid, "SIGCONT");
      started = await serving(next);
      const run = await ended(runId);
      expect(run.status).to.equal("success");
      expect(run.jobs.map(({ attempt }) => attempt)).to.deep.equal([1]);
      expect(await written()).to.equal("begun\ndone\n");
      expect((await world.alive()).filter(isAgent)).to.deep.equal([agent]);
      started.pressCtrlC();
      expect((await started.exited).code).to.equal(130);
      await nothingIsLeft();
    });

    it("leaves nothing when no start follows before the lease of its step runs out", async () => {
      const started = await serving();
      await triggerSlow(60, { agentLeaseTimeout: "10s" });
      await kill(started);
      await until("nothing was left", async () => (await world.alive()).length === 0, 30_000);
      expect(await written()).to.equal("begun\n");
    });

    it("leaves nothing at once when the agent has no work", async () => {
      await kill(await serving());
      await nothingIsLeft();
    });

    it("starts an agent again when its settings have changed, and its job makes another attempt", async () => {
      const first = await serving();
      const runId = await triggerSlow(60);
      await kill(first);
      await serving(startWith({ ...ports, MILLRACE_AGENT_SLOTS: "7" }));
      const run = await ended(runId);
      expect(run.status, JSON.stringify(run.jobs)).to.equal("success");
      expect(run.jobs.map(({ attempt }) => attempt)).to.deep.equal([2]);
      expect((await api.onlineAgents()).map(({ slots }) => slots)).to.deep.equal([7]);
    });
  });
});
