/** An installation on a small disk that a step fills: nothing dies, runs end, and everything goes on once there is room. */
import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { ApiClient } from "../../src/cli/api-client.ts";
import type { MillraceError } from "../../src/domain/errors.ts";
import { isFinalRunStatus } from "../../src/domain/status.ts";
import { killIfThere, ProcessWorld, type StartedProcess } from "../support/processes.ts";
import { makeSmallDisk, type SmallDisk } from "../support/small-disk.ts";
import { until } from "../support/until.ts";

const DISK_MIB = 70;
const FREE_PORTS = {
  MILLRACE_HTTP_ADDRESS: "127.0.0.1:0",
  MILLRACE_GRPC_ADDRESS: "127.0.0.1:0",
  MILLRACE_METRICS_ADDRESS: "127.0.0.1:0",
};
/** Fills the disk once, unless the file $DONE is there, and holds on to it. */
const FILL = `
set +e
[ -e "$DONE" ] && exit 0
echo filling
head -c 100000000 /dev/zero > big
: > "$FILLED"
sleep 600`;
/** Fills every bit of the disk that becomes free. */
const FILL_ALWAYS = `
set +e
trap '' TERM
n=0
while :; do n=$((n + 1)); head -c 1000000 /dev/zero > "big$n"; [ -s "big$n" ] || { : > "$FILLED"; sleep 0.02; }; done`;

describe("an installation on a full disk", function () {
  this.timeout(90_000);
  let world: ProcessWorld;
  let disk: SmallDisk;
  let api: ApiClient;

  beforeEach(async () => {
    world = await ProcessWorld.create();
    disk = await makeSmallDisk(join(world.folder, "disk"), DISK_MIB);
  });
  afterEach(async () => {
    await killAll();
    await disk.end();
    await world.end();
  });

  const killAll = () =>
    until("no process is left", async () => {
      const alive = await world.alive();
      for (const { pid } of alive) killIfThere(pid);
      return alive.length === 0;
    });
  const file = (name: string) => join(world.folder, name);

  /** Starts the installation without its sample run. */
  async function start(...args: readonly string[]): Promise<StartedProcess> {
    const started = world.start(["start", "--data-dir", join(disk.folder, "data"), ...args], {
      env: FREE_PORTS,
      through: disk.through,
    });
    const output = await started.prints("Serving.", 60_000);
    const [, baseUrl] = /URL {4}(\S+)/.exec(output)!;
    const token = /Token {2}(\S+)/.exec(output)?.[1];
    if (token !== undefined) api = new ApiClient({ baseUrl: baseUrl!, token: async () => token });
    return started;
  }

  async function trigger(name: string, script: string) {
    const pipelineId = await pipeline(name, script);
    return { pipelineId, ...(await api.trigger(pipelineId, {})) };
  }

  async function pipeline(name: string, script: string): Promise<string> {
    const { pipelineId } = await api.createPipeline(name, "");
    const env = { FILLED: file("filled"), DONE: file("done"), GO: file("go") };
    const job = { name: "job", cancelGrace: "1s", env, steps: [{ name: "step", uses: "shell", args: { script } }] };
    await api.saveSpec(pipelineId, { jobs: [job] });
    return pipelineId;
  }

  const isFull = () => until("the disk is full", () => existsSync(file("filled")), 30_000);
  const ended = (runId: string) =>
    until(
      `the run ${runId} has ended`,
      async () => {
        const run = await api.run(runId);
        return isFinalRunStatus(run.status) && run.status;
      },
      30_000,
    );
  const refusal = (call: Promise<unknown>) =>
    call.then(
      () => "",
      (error: MillraceError) => `${error.reason}: ${error.message}`,
    );

  /** A run whose step takes all that becomes free can be stopped all the same. */
  async function stopTheGreedy(): Promise<void> {
    await rm(file("filled"));
    const big = await trigger("greedy", FILL_ALWAYS);
    await isFull();
    await until("the run is stopped", async () => (await refusal(api.stop(big.pipelineId, big.runId, ""))) === "");
    expect(await ended(big.runId)).to.equal("cancelled");
  }

  it("reads go on, runs end, new runs are refused, and all goes on once the run that fills it was stopped", async () => {
    const installation = await start();
    const small = await trigger("small", 'echo one; until [ -e "$GO" ]; do sleep 0.05; done; echo two');
    const big = await trigger("big", FILL);
    await isFull();
    const refused = await until("a trigger is refused", () => refusal(api.trigger(small.pipelineId, {})));
    expect(refused).to.match(/^unavailable: the disk of .*data is full \([\d.]+ MiB free\): .*free disk space/);

    const { jobs } = await api.run(big.runId);
    const { jobId, steps } = jobs[0]!;
    const lines: string[] = [];
    const tail = api.logs();
    const step = { pipelineId: big.pipelineId, jobId: jobId!, stepRunId: steps[0]!.stepRunId! };
    tail.follow(step, ({ content }) => void lines.push(content));
    await until("the log is shown", () => lines.includes("filling"));
    tail.close();
    await writeFile(file("go"), "");
    expect(await ended(small.runId)).to.equal("success");

    await api.stop(big.pipelineId, big.runId, "it fills the disk");
    expect(await ended(big.runId)).to.equal("cancelled");
    const next = await until("a run begins again", () => api.trigger(small.pipelineId, {}).catch(() => undefined));
    expect(await ended(next.runId)).to.equal("success");
    await stopTheGreedy();
    expect(installation.running, installation.stderr).to.equal(true);
  });

  it("a start removes the workspaces of a dead agent, and its runs go on", async () => {
    await start();
    const big = await trigger("big", FILL);
    await isFull();
    await writeFile(file("done"), "");
    await killAll();
    await start("--new-token");
    expect(await ended(big.runId)).to.equal("success");
  });
});
