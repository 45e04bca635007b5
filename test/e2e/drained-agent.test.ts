/** An agent that is stopped while it has jobs: another agent gets them soon, however long their leases are. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { EmbeddedInstallation } from "../support/embedded.ts";
import { ProcessWorld } from "../support/processes.ts";
import { until } from "../support/until.ts";

/** Such a lease does not run out during this test. */
const LEASE = { agentLeaseTimeout: "15m" };
const FIRST_ATTEMPT_WAITS = `
trap 'echo asked >> "$LEDGER"; exit 0' TERM
echo "begun $MILLRACE_JOB_ATTEMPT" >> "$LEDGER"
while [ "$MILLRACE_JOB_ATTEMPT" = 1 ]; do sleep 0.05; done`;

describe("an agent that is stopped", function () {
  this.timeout(60_000);
  let world: ProcessWorld;
  let installation: EmbeddedInstallation;
  let ledger: string;

  beforeEach(async () => {
    world = await ProcessWorld.create();
    installation = await EmbeddedInstallation.create(world);
    await installation.serve(join(world.folder, "data"));
    ledger = join(world.folder, "ledger");
  });
  afterEach(() => world?.end());

  const start = (name: string, drainTimeout = "1h") =>
    installation.agent(name, undefined, { MILLRACE_AGENT_DRAIN_TIMEOUT: drainTimeout });
  const readRun = async (runId: string) =>
    (await installation.call("GET", `/pipelines/runs/${runId}?attempts=all`)).body.detail;
  const linesOf = async () => (await readFile(ledger, "utf8").catch(() => "")).trim().split("\n");

  async function trigger(steps: readonly object[]): Promise<{ readonly pipelineId: string; readonly runId: string }> {
    const pipelineId = await installation.pipeline("job", [{ name: "job", ...LEASE, steps }]);
    const { runId } = await installation.api.trigger(pipelineId, {});
    await until("the start", async () => (await linesOf()).length > 0 && (await linesOf())[0] !== "");
    return { pipelineId, runId };
  }
  const step = (script: string) => ({ uses: "shell", args: { script }, env: { LEDGER: ledger } });

  async function expectTakenOver(runId: string): Promise<void> {
    const run = await until(
      "the end of the run",
      async () => {
        const found = await readRun(runId);
        return found.endTime === null ? undefined : found;
      },
      5_000,
    );
    expect([run.status, run.jobs.length]).to.deep.equal(["success", 2]);
    expect(run.jobs[0]).to.include({ status: "failed", reason: "agent_lost" });
    expect(run.jobs[1].agentId).to.not.equal(run.jobs[0].agentId);
  }

  it("gives back a step that does not end within the drain timeout", async () => {
    const stopped = await start("stopped", "2s");
    const { runId } = await trigger([step(FIRST_ATTEMPT_WAITS)]);
    await start("other");
    stopped.kill("SIGTERM");
    expect(await stopped.exited).to.include({ code: 0 });
    await expectTakenOver(runId);
    expect(await linesOf()).to.deep.equal(["begun 1", "asked", "begun 2"]);
    // What is told of agents: the worker looks at their presence each 5 s.
    const told = async () =>
      (await installation.call("GET", "/system-events?log=installation&objects=agent")).body.detail;
    const isOnline = ({ type, data }: { type: string; data: { name: string } }) =>
      type === "svc.agent.online" && data.name === "other";
    const { list } = await until("its presence is told", async () => {
      const page = await told();
      return page.list.some(isOnline) ? page : undefined;
    });
    expect(list.map(({ type }: { type: string }) => type).slice(0, 1)).to.deep.equal(["svc.agent.registered"]);
  });

  it("gives back a job that is between two steps", async () => {
    const stopped = await start("stopped", "2s");
    const { pipelineId, runId } = await trigger([
      step('echo "begun $MILLRACE_JOB_ATTEMPT" >> "$LEDGER"; sleep 1'),
      step("true"),
    ]);
    const runUrl = `/pipelines/${pipelineId}/runs/${runId}`;
    expect((await installation.call("POST", `${runUrl}/pause`, {})).status).to.equal(200);
    await until("the end of the first step", async () => (await readRun(runId)).jobs[0].steps[0].status === "success");
    await start("other");
    stopped.kill("SIGTERM");
    expect(await stopped.exited).to.include({ code: 0 });
    await until("the loss", async () => (await readRun(runId)).jobs.length === 2);
    expect((await installation.call("POST", `${runUrl}/resume`, {})).status).to.equal(200);
    await expectTakenOver(runId);
  });

  it("gives back its jobs at once after a second SIGTERM", async () => {
    const stopped = await start("stopped");
    const { runId } = await trigger([step(FIRST_ATTEMPT_WAITS)]);
    await start("other");
    stopped.kill("SIGTERM");
    await stopped.prints("takes no more jobs");
    const askedAt = performance.now();
    await until(
      "more than the time in which the agent ignores a second signal",
      () => performance.now() - askedAt > 700,
    );
    expect(stopped.running).to.equal(true);
    stopped.kill("SIGTERM");
    expect(await stopped.exited).to.include({ code: 0 });
    expect(performance.now() - askedAt).to.be.below(5_000);
    await expectTakenOver(runId);
  });
});
