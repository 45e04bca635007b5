import { expect } from "chai";
import { openTestEdge, type TestEdge } from "../support/edge.ts";
import { planOf } from "../support/plans.ts";
import { GRANT, saveTurn, storeRun } from "../support/stored-runs.ts";
import { until } from "../support/until.ts";
import { TestViewer } from "../support/viewer.ts";

describe("the edges without Redis", () => {
  let edge: TestEdge;
  beforeEach(async () => {
    edge = await openTestEdge();
    await edge.redis.kill();
  });
  afterEach(() => edge.close());

  it("show runs, with less about what jobs wait for", async () => {
    const run = await storeRun(edge.context, planOf([[{}]]));
    await saveTurn(edge.context, run, {
      run: { state: "running" },
      jobs: [{ jobId: run.jobIds[0]!, state: "queued", stageOpen: true, openNeeds: [] }],
    });
    const { status, body } = await edge.call("GET", `/api/v1/pipelines/runs/${run.runId}`);
    expect(status).to.equal(200);
    expect(body.detail.jobs[0].waitingFor).to.include({ reason: "agent" });
    expect((await edge.call("GET", "/api/v1/agents")).status).to.equal(200);
  });

  it("show the log and the status of a running step from the store", async () => {
    const run = await storeRun(edge.context, planOf([[{}]]));
    const stepRunId = run.stepIds[0]![0]!;
    await saveTurn(edge.context, run, { steps: [{ stepRunId, state: "running", grant: GRANT }] });
    const viewer = await TestViewer.open(edge);
    const params = { pipelineId: run.pipelineId, jobId: run.jobIds[0], stepRunId };
    viewer.send({ channel: "channel_log", params });
    viewer.send({ channel: "channel_status", params });
    await viewer.next("status_snapshot");
    await viewer.next("history_done");
    const line = { line: 1, timeMs: 0, stream: "stdout", level: "info", content: "here", lost: 0 } as const;
    await edge.context.stores.logs.append({ stepRunId, agentId: "agt_1", lines: [line] });
    expect((await viewer.next("log")).data).to.include({ line_number: 1, content: "here" });
    expect(viewer.ofType("error")).to.have.length(0);
    await viewer.close();
  });

  it("answer a pause with the verdict from the store", async () => {
    const created = await edge.call("POST", "/api/v1/pipelines", { body: { name: "p" } });
    const { pipelineId } = created.body.detail;
    const run = await storeRun(edge.context, { ...planOf([[{}]]), pipelineId });
    const { inbox } = edge.context.stores;
    const pausing = edge.call("POST", `/api/v1/pipelines/${pipelineId}/runs/${run.runId}/pause`);
    const command = await until("a stored command", async () => (await inbox.pending(run.runId))[0]);
    await inbox.answer(command.id, { outcome: "accepted", status: "paused" });
    expect((await pausing).body.detail).to.include({ status: "paused" });
  });
});
