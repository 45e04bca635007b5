/**
 * Step runs without a definition, in a real installation: they run on the agent that they select, and can be cancelled,
 * retried and deleted.
 */
import { join } from "node:path";
import { expect } from "chai";
import type { StepRunRecord, StepRunSpec } from "../../proto/generated/steprun/v1/steprun.ts";
import { UserCalls } from "../grpc/user-calls.ts";
import { EmbeddedInstallation } from "../support/embedded.ts";
import { ProcessWorld } from "../support/processes.ts";
import { until } from "../support/until.ts";

describe("a step run without a definition", function () {
  this.timeout(120_000);
  let world: ProcessWorld;
  let installation: EmbeddedInstallation;
  let calls: UserCalls;
  let pipelineId: string;

  before(async () => {
    world = await ProcessWorld.create();
    installation = await EmbeddedInstallation.create(world);
    await installation.serve(join(world.folder, "data"));
    await Promise.all([installation.agent("one"), installation.agent("two")]);
    calls = new UserCalls(installation.grpc, installation.adminToken);
    pipelineId = await installation.pipeline("p", [
      { name: "a", steps: [{ uses: "shell", args: { script: "true" } }] },
    ]);
  });
  after(async () => {
    calls?.close();
    await world?.end();
  });

  const spec = (script: string): StepRunSpec => ({
    name: "by hand",
    uses: "shell",
    action: "",
    argsJson: JSON.stringify({ script }),
    env: [{ name: "WORD", value: "hello" }],
    when: "",
    timeoutMs: 0n,
    continueOnError: false,
    retry: undefined,
    workingDirectory: "",
    artifactPaths: [],
    agentSelector: {
      trusted: false,
      matchLabels: {},
      matchExpressions: [{ key: "name", operator: "LABEL_OPERATOR_NOT_IN", values: ["one"] }],
    },
  });
  const create = async (script: string): Promise<StepRunRecord> =>
    (await calls.stepRun("createStepRun", { pipelineId, spec: spec(script), requestId: script })).stepRun!;
  const untilStatus = (stepRunId: string, expected: StepRunRecord["status"]): Promise<StepRunRecord> =>
    until(`${stepRunId} is ${expected}`, async () => {
      const { stepRun } = await calls.stepRun("getStepRun", { stepRunId });
      return stepRun!.status === expected ? stepRun! : undefined;
    });

  it("runs on the agent that it selects, and can be deleted after its end", async () => {
    const { stepRunId, runId } = await create("echo $WORD; exit 3");
    const ended = await untilStatus(stepRunId, "STEP_RUN_STATUS_FAILED");
    expect(ended).to.include({ exitCode: 3, lastLine: 1n });
    const agents = (await installation.call("GET", "/agents")).body.detail.list as { agentId: string; name: string }[];
    expect(agents.find(({ agentId }) => agentId === ended.agentId)!.name).to.equal("two");
    const retried = (await calls.stepRun("retryStepRun", { stepRunId })).stepRun!;
    expect(retried).to.include({ attempt: 2, retryOf: stepRunId });
    await untilStatus(retried.stepRunId, "STEP_RUN_STATUS_FAILED");
    for (const id of [retried.stepRunId, stepRunId]) {
      // The deletion is refused until the run is settled.
      await until("it is deleted", () =>
        calls.stepRun("deleteStepRun", { stepRunId: id }).then(
          () => true,
          () => undefined,
        ),
      );
    }
    expect((await installation.call("GET", `/pipelines/runs/${runId}`)).status).to.equal(404);
    expect((await installation.call("GET", `/pipelines/${pipelineId}/runs`)).body.detail.total).to.equal(0);
    const deadLetters = await installation.call("GET", "/cluster/dead-letters");
    expect(deadLetters.body.detail.list).to.deep.equal([]);
  });

  it("ends with its processes when it is cancelled", async () => {
    const { stepRunId, runId } = await create("echo begun; sleep 600");
    await untilStatus(stepRunId, "STEP_RUN_STATUS_RUNNING");
    const cancelledAt = Date.now();
    expect(await calls.stepRun("cancelStepRun", { stepRunId })).to.deep.equal({ status: "STEP_RUN_STATUS_RUNNING" });
    const ended = await untilStatus(stepRunId, "STEP_RUN_STATUS_CANCELLED");
    expect(Number(ended.endedAtMs) - cancelledAt).to.be.below(5_000);
    const { run } = await until("the run has ended", async () => {
      const answer = await calls.pipeline("getPipelineRun", { runId });
      return answer.run!.summary!.endedAtMs === 0n ? undefined : answer;
    });
    expect([run!.summary!.status, run!.jobs[0]!.status, run!.jobs[0]!.reason]).to.deep.equal([
      "RUN_STATUS_FAILED",
      "JOB_STATUS_CANCELLED",
      "cancelled",
    ]);
    const { transitions } = await calls.pipeline("getRunTimeline", { runId });
    const cancelled = transitions.find(({ object, lifecycle }) => object === "job" && lifecycle === "cancelled");
    expect(cancelled).to.include({ cause: "reported", by: ended.agentId });
  });
});
