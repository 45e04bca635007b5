/**
 * A job that no agent takes says why, in a real installation: with one event for each reason, and in the list of runs.
 */
import { join } from "node:path";
import { expect } from "chai";
import { EmbeddedInstallation } from "../support/embedded.ts";
import { ProcessWorld } from "../support/processes.ts";
import { until } from "../support/until.ts";

describe("a job that no agent takes", function () {
  this.timeout(90_000);
  let world: ProcessWorld;
  let installation: EmbeddedInstallation;

  before(async () => {
    world = await ProcessWorld.create();
    installation = await EmbeddedInstallation.create(world);
    await installation.serve(join(world.folder, "data"));
  });
  after(() => world?.end());

  it("publishes an event for each reason to wait, and runs when an agent matches", async () => {
    const step = { uses: "shell", args: { command: "true" } };
    const agentSelector = { matchLabels: { name: "two" } };
    const pipelineId = await installation.pipeline("waits", [{ name: "job", agentSelector, steps: [step] }]);
    const { runId } = await installation.api.trigger(pipelineId, {});
    const timeline = async () => (await installation.call("GET", `/pipelines/runs/${runId}/timeline`)).body.detail.list;
    const waits = async (): Promise<readonly string[]> =>
      (await timeline())
        .filter(({ lifecycle }: { lifecycle: string }) => lifecycle === "waiting")
        .map(({ waitingFor, text }: { waitingFor: string; text: string }) => `${waitingFor}: ${text}`);
    const listed = async () =>
      (await installation.call("GET", `/pipelines/${pipelineId}/runs`)).body.detail.list[0].waitingFor;

    expect(await listed()).to.deep.include({ reason: "no_agent_online", text: "no agent is online" });
    await until("it says that no agent is online", async () => (await waits()).length === 1, 20_000);
    await installation.agent("one");
    await until("it says what none matches", async () => (await waits()).length === 2, 20_000);
    const unmatched = "no online agent matches: name=two (the only agent fails it)";
    expect(await waits()).to.deep.equal(["no_agent_online: no agent is online", `no_agent_matches: ${unmatched}`]);
    expect(await listed()).to.deep.include({ reason: "no_agent_matches", text: unmatched });
    const asked = (await installation.api.run(runId)).jobs[0]!.steps[0]!;
    const path = `/pipelines/${pipelineId}/runs/${runId}/steps/${asked.stepRunId}`;
    const change = { priority: 9, metadata: { ticket: "7" } };
    expect((await installation.call("PATCH", path, change)).body.detail).to.deep.include(change);
    await installation.agent("two");
    await until("it runs", async () => (await installation.api.run(runId)).endTime !== null, 20_000);
    const [ended] = (await installation.api.run(runId)).jobs;
    expect([ended!.priority, ended!.steps[0]!.metadata]).to.deep.equal([9, change.metadata]);
    expect((await installation.call("PATCH", path, change)).body.errMsg).to.include("it has ended");
    expect(await listed()).to.equal(null);
    expect(await waits()).to.have.length(2);
  });
});
