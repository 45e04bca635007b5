import { expect } from "chai";
import { runChannel } from "../../src/feed/feed.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";
import { planOf } from "../support/plans.ts";
import { GRANT, saveTurn, stepEvent, type StoredRun, storeRun } from "../support/stored-runs.ts";
import { until } from "../support/until.ts";
import { TestViewer } from "../support/viewer.ts";

describe("the status channel", () => {
  let edge: TestEdge;
  let run: StoredRun;
  const viewers: TestViewer[] = [];
  before(async () => {
    edge = await openTestEdge();
  });
  after(() => edge.close());
  beforeEach(async () => {
    run = await storeRun(edge.context, planOf([[{ steps: 2 }]]));
  });
  afterEach(() => Promise.all(viewers.splice(0).map((viewer) => viewer.close())));

  const step = () => run.stepIds[0]![0]!;
  const params = () => ({ pipelineId: run.pipelineId, jobId: run.jobIds[0], stepRunId: step() });
  const queue = (published = true) =>
    saveTurn(edge.context, run, {
      steps: [{ stepRunId: step(), state: "queued", grant: GRANT }],
      events: [stepEvent(run, "queued", "queued")],
      published,
    });
  const start = (published = true) =>
    saveTurn(edge.context, run, {
      steps: [{ stepRunId: step(), state: "running", startedAt: 1_700_000_000_000 }],
      events: [stepEvent(run, "started", "running")],
      published,
    });
  const succeed = (published = true) =>
    saveTurn(edge.context, run, {
      steps: [{ stepRunId: step(), state: "success", endedAt: 1_700_000_002_500 }],
      events: [stepEvent(run, "completed", "success"), stepEvent(run, "queued", "queued", run.stepIds[0]![1]!)],
      published,
    });

  async function subscribe(): Promise<TestViewer> {
    const viewer = await TestViewer.open(edge);
    viewers.push(viewer);
    viewer.send({ channel: "channel_status", params: params() });
    return viewer;
  }
  const heard = (viewer: TestViewer) => viewer.ofType("status").map(({ data }) => data.status);
  const subscriptionsEnd = () =>
    until("the end of every subscription", async () =>
      /^millrace_viewer_subscriptions 0$/m.test(await edge.registry.metrics()),
    );

  it("sends a snapshot, then each event of the step, and ends with the last one", async () => {
    await queue();
    const viewer = await subscribe();
    expect((await viewer.next("status_snapshot")).data).to.deep.equal({
      stepRunId: step(),
      pipelineId: run.pipelineId,
      jobId: run.jobIds[0],
      status: 2,
      startTime: null,
      endTime: null,
      duration: 0,
    });
    const [started] = await start();
    const message = await viewer.next("status");
    const subject = `pipeline:${run.pipelineId}:job:${run.jobIds[0]}:step:${step()}`;
    expect(message).to.deep.equal({
      channel: "channel_status",
      params: params(),
      type: "status",
      data: {
        pipelineId: run.pipelineId,
        jobId: run.jobIds[0],
        stepRunId: step(),
        eventType: "svc.step.started",
        status: "running",
        subject,
        raw: {
          type: "svc.step.started",
          data: {
            runId: run.runId,
            number: started!.number,
            status: "running",
            time: new Date(started!.timeMs).toISOString(),
          },
          subject,
        },
      },
    });
    await succeed();
    await subscriptionsEnd();
    await until("the last status", () => heard(viewer).includes("success"));
    expect(heard(viewer)).to.deep.equal(["running", "success"]);
    expect(viewer.received.map(({ type }) => type)).to.deep.equal(["status_snapshot", "status", "status"]);
  });

  it("of a finished step sends only the snapshot, with its times", async () => {
    await queue();
    await start();
    await succeed();
    const viewer = await subscribe();
    expect((await viewer.next("status_snapshot")).data).to.deep.include({
      status: 4,
      startTime: "2023-11-14T22:13:20.000Z",
      endTime: "2023-11-14T22:13:22.500Z",
      duration: 2_500,
    });
    await subscriptionsEnd();
    expect(viewer.received).to.have.length(1);
  });

  it("repeats nothing that the snapshot shows", async () => {
    const [queued] = await queue();
    const viewer = await subscribe();
    await viewer.next("status_snapshot");
    await edge.context.feed.publish(runChannel(run.runId), queued);
    await start();
    await edge.context.feed.publish(runChannel(run.runId), queued);
    await succeed();
    await subscriptionsEnd();
    await until("the last status", () => heard(viewer).includes("success"));
    expect(heard(viewer)).to.deep.equal(["running", "success"]);
  });

  it("fills a gap of the feed from the store, in order", async () => {
    const viewer = await subscribe();
    await viewer.next("status_snapshot");
    await queue(false);
    await start(false);
    await succeed();
    await subscriptionsEnd();
    await until("the last status", () => heard(viewer).includes("success"));
    expect(heard(viewer)).to.deep.equal(["queued", "running", "success"]);
  });

  it("waits for an event that is late, and sends both in order", async () => {
    const viewer = await subscribe();
    await viewer.next("status_snapshot");
    const { events } = edge.context.stores;
    const { read } = events;
    events.read = () => Promise.resolve([]);
    const [queued] = await queue(false);
    await start();
    await edge.context.feed.publish(runChannel(run.runId), queued);
    await until("two events", () => heard(viewer).length === 2);
    events.read = read;
    expect(heard(viewer)).to.deep.equal(["queued", "running"]);
  });

  it("works without the feed, since the store is read every 5 s", async () => {
    const viewer = await subscribe();
    await viewer.next("status_snapshot");
    await queue(false);
    await start(false);
    await succeed(false);
    await until("all events", () => heard(viewer).length === 3);
    expect(heard(viewer)).to.deep.equal(["queued", "running", "success"]);
    await subscriptionsEnd();
  });

  it("shows each status once to viewers that join while events happen", async () => {
    const coming = Array.from({ length: 8 }, () => subscribe());
    await queue();
    coming.push(subscribe(), subscribe());
    await start();
    coming.push(subscribe(), subscribe());
    await succeed();
    await subscriptionsEnd();
    const words = ["pending", "queued", "running", "success"];
    for (const viewer of await Promise.all(coming)) {
      const snapshot = (await viewer.next("status_snapshot")).data.status as number;
      await until("the end", () => snapshot === 4 || heard(viewer).includes("success"));
      // The snapshot and the events after it show each status once.
      expect(heard(viewer)).to.deep.equal(words.slice(snapshot));
    }
  });
});
