/** An agent that cannot start a step, in a real installation: another agent runs the job. */
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { EmbeddedInstallation } from "../support/embedded.ts";
import { ProcessWorld } from "../support/processes.ts";
import { until } from "../support/until.ts";

describe("a job whose agent cannot start a step", function () {
  this.timeout(60_000);
  let world: ProcessWorld;
  let installation: EmbeddedInstallation;

  beforeEach(async () => {
    world = await ProcessWorld.create();
    installation = await EmbeddedInstallation.create(world);
    await installation.serve(join(world.folder, "data"));
    await installation.agent("broken");
    const workspaces = join(world.folder, "agent-broken", "work");
    await rm(workspaces, { recursive: true });
    await writeFile(workspaces, "in the way");
  });
  afterEach(() => world?.end());

  const readRun = async (runId: string) =>
    (await installation.call("GET", `/pipelines/runs/${runId}?attempts=all`)).body.detail;
  const job = { name: "job", steps: [{ uses: "shell", args: { command: "true" } }] };

  it("is retried on another agent as soon as there is one", async () => {
    const pipelineId = await installation.pipeline("retried", [job]);
    const { runId } = await installation.api.trigger(pipelineId, {});
    await until("the first attempt has failed", async () => (await readRun(runId)).jobs.length === 2);
    // The broken agent has a free slot and is the only agent, but does not get the job again.
    expect((await readRun(runId)).jobs[1]).to.include({ status: "queued", agentId: null });
    await installation.agent("whole");
    const run = await until("the run ends", async () => {
      const found = await readRun(runId);
      return found.endTime === null ? undefined : found;
    });
    expect(run.status).to.equal("success");
    expect(run.jobs[0]).to.include({ status: "failed", reason: "dispatch_failed", attempt: 1 });
    expect(run.jobs[0].steps[0]).to.include({ status: "failed", startTime: null });
    expect(run.jobs[0].steps[0].reason).to.match(/^dispatch_failed: .*agent-broken/);
    expect(run.jobs[1]).to.include({ status: "success", attempt: 2, retryOf: run.jobs[0].jobId });
    expect(run.jobs[1].agentId).not.to.equal(run.jobs[0].agentId);
  });

  it("fails when its retry does not name that cause", async () => {
    const pipelineId = await installation.pipeline("not-retried", [
      { ...job, retry: { attempts: 3, on: ["agent_lost"] } },
    ]);
    const { runId } = await installation.api.trigger(pipelineId, {});
    await until("the run ends", async () => (await readRun(runId)).endTime !== null);
    const { status, jobs } = await readRun(runId);
    expect([status, jobs.length, jobs[0].reason]).to.deep.equal(["failed", 1, "dispatch_failed"]);
  });
});
