import { once } from "node:events";
import { expect } from "chai";
import { logChannel } from "../../src/feed/feed.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";
import { planOf } from "../support/plans.ts";
import { type StoredRun, storeRun } from "../support/stored-runs.ts";
import { until } from "../support/until.ts";
import { TestViewer } from "../support/viewer.ts";

describe("requests over the WebSocket", () => {
  let edge: TestEdge;
  let run: StoredRun;
  let viewer: TestViewer;
  before(async () => {
    edge = await openTestEdge();
    run = await storeRun(edge.context, planOf([[{ steps: 2 }, {}]]));
  });
  after(() => edge.close());
  beforeEach(async () => {
    viewer = await TestViewer.open(edge);
  });
  afterEach(() => viewer.close());

  const params = (extra: object = {}) => ({
    pipelineId: run.pipelineId,
    jobId: run.jobIds[0],
    stepRunId: run.stepIds[0]![0],
    ...extra,
  });

  it("that are not JSON get an error, and the connection stays open", async () => {
    viewer.send("{nope");
    expect(await viewer.next("error")).to.deep.equal({
      channel: "",
      params: {},
      type: "error",
      data: null,
      error: "the message is not valid JSON",
    });
    viewer.send({ channel: "channel_log", params: params() });
    await viewer.next("subscribed");
  });

  it("that are odd JSON, binary or deeply nested get errors too", async () => {
    const odd = ["[]", "null", "1", '"x"', "{}", "[".repeat(30_000), '{"channel":{},"params":[]}', '{"__proto__":1}'];
    for (const text of odd) viewer.send(text);
    viewer.socket.send(Buffer.from([0, 255]));
    await until("all errors", () => viewer.ofType("error").length === odd.length + 1);
    for (const { error } of viewer.received) expect(error).to.be.a("string").that.is.not.empty;
  });

  it("without one of the three ids get an error that names all three, and echoes the given ones", async () => {
    for (const missing of ["pipelineId", "jobId", "stepRunId"]) {
      viewer.received.length = 0;
      const { [missing]: _, ...given } = params() as Record<string, unknown>;
      viewer.send({ channel: "channel_status", params: given });
      const answer = await viewer.next("error");
      expect(answer.error).to.include("pipelineId, jobId and stepRunId").and.to.include("all three are required");
      expect(answer).to.deep.include({ channel: "channel_status", params: given, data: null });
    }
    for (const bad of [
      { channel: "channel_log" },
      { channel: "channel_log", params: null },
      { channel: "channel_log", params: params({ jobId: 5 }) },
    ]) {
      viewer.received.length = 0;
      viewer.send(bad);
      expect((await viewer.next("error")).error).to.include("all three are required");
    }
  });

  it("with unknown channels, actions, fields or line numbers get errors that name them", async () => {
    const cases: readonly (readonly [object, string])[] = [
      [{ channel: "channel_x", params: params() }, "channel_log, channel_status"],
      [{ params: params() }, "channel must be"],
      [{ channel: "channel_log", action: "shout", params: params() }, "subscribe or unsubscribe"],
      [{ channel: "channel_log", params: params({ fromLine: 0 }) }, "fromLine"],
      [{ channel: "channel_log", params: params({ fromLine: 1.5 }) }, "fromLine"],
      [{ channel: "channel_log", params: params({ colour: 1 }) }, "colour"],
      [{ channel: "channel_log", colour: 1, params: params() }, "colour"],
    ];
    for (const [message, text] of cases) {
      viewer.received.length = 0;
      viewer.send(message);
      expect((await viewer.next("error")).error).to.include(text);
    }
  });

  it("with ids that are unknown or do not belong together get errors", async () => {
    for (const wrong of [
      { stepRunId: "step_unknown" },
      { jobId: run.jobIds[1] },
      { pipelineId: "pl_other" },
      { stepRunId: run.stepIds[1]![0] },
    ]) {
      for (const channel of ["channel_log", "channel_status"]) {
        viewer.received.length = 0;
        viewer.send({ channel, params: params(wrong) });
        await viewer.next("error");
        expect(viewer.received).to.have.length(1);
      }
    }
  });

  it("to unsubscribe are acknowledged on both channels, also without a subscription", async () => {
    for (const channel of ["channel_log", "channel_status"]) {
      viewer.received.length = 0;
      viewer.send({ channel, params: params() });
      await viewer.next(channel === "channel_log" ? "history_done" : "status_snapshot");
      viewer.send({ channel, action: "unsubscribe", params: params() });
      viewer.send({ channel, action: "unsubscribe", params: params() });
      await until("two acknowledgements", () => viewer.ofType("unsubscribed").length === 2);
      expect(viewer.received.at(-1)).to.deep.equal({ channel, params: params(), type: "unsubscribed", data: null });
    }
  });

  it("for a second subscription replace the first one", async () => {
    viewer.send({ channel: "channel_log", params: params() });
    viewer.send({ channel: "channel_log", params: params() });
    await until("the second subscription", () => viewer.ofType("subscribed").length === 2);
    await until("its history", () => viewer.received.at(-1)?.type === "history_done");
    const line = { line: 1, timeMs: 0, stream: "stdout", level: "info", content: "once", lost: 0 } as const;
    const stepRunId = run.stepIds[0]![0]!;
    await edge.context.stores.logs.append({ stepRunId, agentId: "agt_1", lines: [line] });
    await edge.context.feed.publish(logChannel(stepRunId), [line]);
    await viewer.next("log");
    expect(viewer.entries).to.have.length(1);
    const text = await edge.registry.metrics();
    expect(text).to.match(/^millrace_viewer_subscriptions 1$/m);
    expect(text).to.match(/^millrace_viewers 1$/m);
  });

  it("for more than 500 subscriptions are refused, and the first 500 stay", async () => {
    const wide = await storeRun(edge.context, planOf([[{ steps: 501 }]]));
    const ask = (step: number) =>
      viewer.send({
        channel: "channel_log",
        params: { pipelineId: wide.pipelineId, jobId: wide.jobIds[0], stepRunId: wide.stepIds[0]![step] },
      });
    for (let step = 0; step < 501; step++) ask(step);
    const refused = await viewer.next("error");
    expect(refused.error).to.include("500");
    expect(refused.params["stepRunId"]).to.equal(wide.stepIds[0]![500]);
    await until("500 histories", () => viewer.ofType("history_done").length === 500);
  });

  it("that are larger than 64 kB close the connection, and the server still works", async () => {
    const closed = once(viewer.socket, "close");
    viewer.send(" ".repeat(70 * 1024));
    expect((await closed)[0]).to.equal(1009);
    expect((await edge.call("GET", "/healthz")).status).to.equal(200);
  });
});
