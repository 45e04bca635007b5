/**
 * An agent that cannot reach the control plane for longer than the default lease, with a job whose lease allows it: the
 * step continues, writes a long log, and ends. Its log and report arrive afterwards, and then the next step starts.
 */
import { join } from "node:path";
import { expect } from "chai";
import { EmbeddedInstallation } from "../support/embedded.ts";
import { ProcessWorld, type StartedProcess } from "../support/processes.ts";
import { TcpProxy } from "../support/tcp-proxy.ts";
import { until } from "../support/until.ts";
import { TestViewer } from "../support/viewer.ts";

/** Longer than the default lease and the control plane's margin together, which are 35 s. */
const OFFLINE_MS = 40_000;
const SECONDS = OFFLINE_MS / 1_000 - 3;
/** A line takes the agent about 200 bytes, so all lines together exceed what it keeps in memory. */
const LINES_A_SECOND = 3_000;

const TALK = `
second=0
while [ "$second" -lt ${SECONDS} ]; do
  second=$((second + 1))
  seq -f "$second %.0f of the lines written while offline" ${LINES_A_SECOND}
  sleep 1
done
echo x >> "$LEDGER"`;

describe("an agent that cannot reach the control plane", function () {
  this.timeout(OFFLINE_MS + 90_000);
  let world: ProcessWorld;
  let installation: EmbeddedInstallation;
  let proxy: TcpProxy;

  beforeEach(async () => {
    world = await ProcessWorld.create();
    installation = await EmbeddedInstallation.create(world);
    const node = await installation.serve(join(world.folder, "data"));
    proxy = await TcpProxy.start(Number(node.grpc!.split(":")[1]));
  });
  afterEach(async () => {
    await proxy?.close();
    await world?.end();
  });

  const startAgent = () => installation.agent("far", `127.0.0.1:${proxy.port}`);
  const readRun = async (runId: string) =>
    (await installation.call("GET", `/pipelines/runs/${runId}?attempts=all`)).body.detail;
  const ended = (runId: string) =>
    until(
      "the end of the run",
      async () => {
        const run = await readRun(runId);
        return run.endTime === null ? undefined : run;
      },
      30_000,
    );

  async function trigger(steps: readonly object[]): Promise<{ readonly pipelineId: string; readonly runId: string }> {
    const pipelineId = await installation.pipeline("far", [{ name: "job", agentLeaseTimeout: "10m", steps }]);
    const { runId } = await installation.api.trigger(pipelineId, {});
    await until("the start of the step", async () => (await readRun(runId)).jobs[0].steps[0].status === "running");
    return { pipelineId, runId };
  }

  /** The whole log of a job's first step, as a viewer gets it. */
  async function logOf(pipelineId: string, job: { jobId: string; steps: { stepRunId: string; lastLine: number }[] }) {
    const { stepRunId, lastLine } = job.steps[0]!;
    const port = Number(installation.node.http!.split(":")[1]);
    const viewer = await TestViewer.open({ port, adminToken: installation.adminToken });
    viewer.send({ channel: "channel_log", params: { pipelineId, jobId: job.jobId, stepRunId } });
    const entries = await until(
      "the whole log",
      () => {
        const { entries: found } = viewer;
        return found.length >= lastLine ? found : undefined;
      },
      30_000,
    );
    await viewer.close();
    return entries;
  }

  it("continues its steps and delivers every report and line later", async () => {
    await startAgent();
    const ledger = join(world.folder, "ledger");
    const { pipelineId, runId } = await trigger([
      { name: "talk", uses: "shell", args: { script: TALK }, env: { LEDGER: ledger } },
      { name: "after", uses: "shell", args: { script: 'wc -l < "$LEDGER"' }, env: { LEDGER: ledger } },
    ]);
    await proxy.goDown();
    const offlineAt = performance.now();
    await until("the time to come back", () => performance.now() - offlineAt > OFFLINE_MS, OFFLINE_MS + 5_000);
    const { status, jobs } = await readRun(runId);
    expect([status, jobs.length, jobs[0].steps[0].status]).to.deep.equal(["running", 1, "running"]);
    expect(jobs[0].steps[1].status, "the next step needs the control plane").to.equal("pending");
    await proxy.comeUp();

    const run = await ended(runId);
    expect([run.status, run.jobs.length]).to.deep.equal(["success", 1]);
    const [talk, after] = run.jobs[0].steps;
    expect(talk).to.include({ status: "success", attempt: 1, lastLine: SECONDS * LINES_A_SECOND });
    expect(after).to.include({ status: "success", lastLine: 1 });
    expect(talk.usage.cpuMs, "milliseconds of processor time").to.be.within(50, OFFLINE_MS);
    expect(talk.usage.maxRssBytes).to.be.within(2 ** 20, 2 ** 28);
    const lines = await logOf(pipelineId, run.jobs[0]);
    const expected = (index: number) =>
      `${Math.floor(index / LINES_A_SECOND) + 1} ${(index % LINES_A_SECOND) + 1} of the lines written while offline`;
    const wrong = lines.findIndex(({ content }, index) => content !== expected(index));
    expect([lines.length, wrong, lines[wrong]]).to.deep.equal([SECONDS * LINES_A_SECOND, -1, undefined]);
  });

  it("reports its steps as lost after it was started again meanwhile", async () => {
    const agent: StartedProcess = await startAgent();
    const { runId } = await trigger([
      { uses: "shell", args: { script: 'test "$MILLRACE_JOB_ATTEMPT" = 2 || sleep 600' } },
    ]);
    await proxy.goDown();
    agent.kill("SIGKILL");
    await agent.exited;
    await proxy.comeUp();
    await startAgent();
    const { status, jobs } = await ended(runId);
    expect([status, jobs.length]).to.deep.equal(["success", 2]);
    expect(jobs[0]).to.include({ status: "failed", reason: "agent_lost" });
  });
});
