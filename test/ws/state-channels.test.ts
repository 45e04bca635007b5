/** The feeds of states: all runs, and all agents. */
import { expect } from "chai";
import { asId, type AgentId } from "../../src/domain/ids.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";
import { TestEventStream } from "../support/event-stream.ts";
import { planOf } from "../support/plans.ts";
import { GRANT, publishHint, saveTurn, stepEvent, type StoredRun, storeRun } from "../support/stored-runs.ts";
import { until } from "../support/until.ts";
import { TestViewer } from "../support/viewer.ts";

describe("the channel of all runs", function () {
  this.timeout(60_000);
  let edge: TestEdge;
  const viewers: TestViewer[] = [];
  before(async () => {
    edge = await openTestEdge();
  });
  after(() => edge.close());
  afterEach(() => Promise.all(viewers.splice(0).map((viewer) => viewer.close())));

  const make = async (published = true) => {
    const run = await storeRun(edge.context, planOf([[{ steps: 2 }]]));
    if (published) await publishHint(edge.context, run);
    return run;
  };
  const stepOf = (run: StoredRun) => run.stepIds[0]![0]!;
  const begin = (run: StoredRun, published = true) =>
    saveTurn(edge.context, run, {
      run: { state: "running" },
      steps: [{ stepRunId: stepOf(run), state: "queued", grant: GRANT }],
      events: [stepEvent(run, "queued", "queued")],
      published,
    });
  const end = (run: StoredRun, published = true) =>
    saveTurn(edge.context, run, {
      run: { state: "success" },
      events: [
        { object: "pipeline", lifecycle: "completed", jobId: null, stepRunId: null, status: "success", data: {} },
      ],
      published,
    });

  async function subscribe(params: object = {}): Promise<TestViewer> {
    const viewer = await TestViewer.open(edge);
    viewers.push(viewer);
    viewer.send({ channel: "channel_runs", params });
    await viewer.next("caughtUp");
    return viewer;
  }
  const statesOf = (viewer: TestViewer, { runId }: StoredRun): readonly string[] =>
    viewer.ofType("run").flatMap(({ data }) => (data.runId === runId ? [data.status] : []));
  const told = (viewer: TestViewer, run: StoredRun, status: string) =>
    until(`${run.runId} is ${status}`, () => statesOf(viewer, run).includes(status));

  it("tells the runs that have not ended, then each change, and new runs", async () => {
    const [waiting, ended] = [await make(), await make()];
    await end(ended);
    const viewer = await subscribe();
    expect(viewer.received[0]!.type).to.equal("subscribed");
    expect(viewer.received[1]!.type).to.equal("reset");
    expect(statesOf(viewer, waiting)).to.deep.equal(["pending"]);
    expect(statesOf(viewer, ended)).to.deep.equal([]);
    const { data } = viewer.ofType("run").find((message) => message.data.runId === waiting.runId)!;
    expect(data).to.deep.equal({
      runId: waiting.runId,
      pipelineId: waiting.pipelineId,
      projectId: "default",
      status: "pending",
      waitingFor: { reason: "worker", text: "waits for a worker to begin it" },
      eventNumber: 0,
    });
    const created = await make();
    await begin(created);
    await told(viewer, created, "running");
    await begin(waiting);
    await end(waiting);
    await told(viewer, waiting, "success");
    await end(created);
    await told(viewer, created, "success");
  });

  it("tells what no hint has told, also a run that began and ended meanwhile", async () => {
    const known = await make();
    const viewer = await subscribe();
    const missed = await make(false);
    await end(missed, false);
    await end(known, false);
    await told(viewer, known, "success");
    await told(viewer, missed, "success");
    expect(statesOf(viewer, missed)).to.deep.equal(["success"]);
  });

  it("sends a run that changes all the time four times a second at most, and its last state", async () => {
    const run = await make();
    const viewer = await subscribe();
    const startedAt = performance.now();
    for (let turn = 0; turn < 100; turn++) await begin(run);
    await end(run);
    await told(viewer, run, "success");
    const tookMs = performance.now() - startedAt;
    // One at once, one each third of a second, the end at once, and the first state that the subscription told.
    expect(statesOf(viewer, run).length).to.be.at.most(3 + tookMs / 334);
  });

  it("tells the end of a run at once, also just after another change", async () => {
    const viewer = await subscribe();
    // A held state waits for at least 334 ms. The fastest of some runs shows that an end is not held.
    const waits: number[] = [];
    for (let index = 0; index < 5; index++) {
      const run = await make();
      await begin(run);
      await end(run);
      const endedAt = performance.now();
      await told(viewer, run, "success");
      waits.push(performance.now() - endedAt);
    }
    expect(Math.min(...waits)).to.be.below(250);
  });

  it("resumes with what has changed since, and begins again with a place that it does not know", async () => {
    const early = await subscribe();
    const [changed, same] = [await make(), await make()];
    // The word of a creation comes after it. What comes behind `after` is told again.
    for (const run of [changed, same]) await told(early, run, "pending");
    const viewer = await subscribe();
    const { after } = (await viewer.next("caughtUp")) as { readonly after?: string };
    await begin(changed);
    await told(viewer, changed, "running");
    const resumed = await subscribe({ after });
    expect(resumed.ofType("reset")).to.have.length(0);
    expect(statesOf(resumed, changed)).to.deep.equal(["running"]);
    expect(statesOf(resumed, same)).to.deep.equal([]);
    const strange = await subscribe({ after: "00000000.1" });
    expect(strange.ofType("reset")).to.have.length(1);
    expect(statesOf(strange, same)).to.deep.equal(["pending"]);
  });

  it("keeps to its filters, and says when a run leaves them", async () => {
    const run = await make();
    const pending = await subscribe({ status: "pending,paused", pipelineId: run.pipelineId, tenantId: "default" });
    const other = await subscribe({ pipelineId: "pl_other" });
    const elsewhere = await subscribe({ projectId: "prj_other" });
    const foreign = await subscribe({ tenantId: "ten_other" });
    await begin(run);
    await told(pending, run, "running");
    await end(run);
    const all = await subscribe();
    const marker = await make();
    await begin(marker);
    await told(all, marker, "running");
    expect(statesOf(pending, run)).to.deep.equal(["pending", "running"]);
    for (const viewer of [other, elsewhere, foreign]) expect(viewer.ofType("run")).to.deep.equal([]);
    const wrong = await TestViewer.open(edge);
    viewers.push(wrong);
    wrong.send({ channel: "channel_runs", params: { status: "done" } });
    expect((await wrong.next("error")).error).to.include("must be some of pending");
  });

  it("is an event stream too, whose last id resumes it", async () => {
    const run = await make();
    const headers = { authorization: `Bearer ${edge.adminToken}` };
    const first = await TestEventStream.open(edge, "/live/runs?projectId=default", headers);
    const { id } = await first.next("caughtUp");
    first.close();
    await begin(run);
    const viewer = await subscribe();
    await told(viewer, run, "running");
    const second = await TestEventStream.open(edge, "/live/runs?projectId=default", {
      ...headers,
      "last-event-id": id!,
    });
    await second.next("caughtUp");
    expect(second.received.map(({ type }) => type)).to.deep.equal(["subscribed", "run", "caughtUp"]);
    expect(second.received[1]!.data).to.deep.include({ runId: run.runId, status: "running" });
    second.close();
  });

  it("shows agents with their presence, on a channel of their own", async () => {
    const agentId = asId<AgentId>("agt_LIVE");
    await edge.context.stores.identity.putAgent({
      agentId,
      name: "live",
      labels: { os: "linux" },
      slots: 2,
      version: "1",
      createdAt: 1,
    });
    const viewer = await TestViewer.open(edge);
    viewers.push(viewer);
    viewer.send({ channel: "channel_agents", params: {} });
    await viewer.next("caughtUp");
    expect(viewer.received.map(({ type }) => type)).to.deep.equal(["subscribed", "reset", "agent", "caughtUp"]);
    const { data } = await viewer.next("agent");
    expect(data).to.deep.include({ agentId, name: "live", presence: "offline", slots: 2, busy: 0 });
    viewer.send({ channel: "channel_agents", params: { agentId: "agt_unknown" } });
    expect((await viewer.next("error")).error).to.include("agt_unknown");
  });

  it("shows agents as an event stream too, whose last id resumes it", async () => {
    const put = (name: string) =>
      edge.context.stores.identity.putAgent({
        agentId: asId<AgentId>(`agt_${name.toUpperCase()}`),
        name,
        labels: {},
        slots: 1,
        version: "1",
        createdAt: 1,
      });
    const headers = { authorization: `Bearer ${edge.adminToken}` };
    await put("streamed");
    const first = await TestEventStream.open(edge, "/live/agents", headers);
    const told = (name: string) => until(name, () => first.ofType("agent").find(({ data }) => data.name === name));
    const { id } = await told("streamed");
    await put("later");
    await told("later");
    first.close();
    const second = await TestEventStream.open(edge, "/live/agents", { ...headers, "last-event-id": id! });
    await second.next("caughtUp");
    expect(second.ofType("reset")).to.deep.equal([]);
    expect(second.ofType("agent").map(({ data }) => data.name)).to.deep.equal(["later"]);
    second.close();
  });
});
