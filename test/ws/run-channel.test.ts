/** The channel of one run, over WebSocket and as an event stream. */
import { expect } from "chai";
import { createTicket } from "../../src/app/identity/tickets.ts";
import { authenticate } from "../../src/app/identity/access.ts";
import { getRun } from "../../src/app/runs/run-detail.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";
import { TestEventStream } from "../support/event-stream.ts";
import { planOf } from "../support/plans.ts";
import { GRANT, saveTurn, stepEvent, type StoredRun, storeRun } from "../support/stored-runs.ts";
import { changeStoredUser } from "../support/stored-users.ts";
import { until } from "../support/until.ts";
import { TestViewer } from "../support/viewer.ts";

const CHECK_MS = 40;

describe("the channel of a run", () => {
  let edge: TestEdge;
  let run: StoredRun;
  const viewers: TestViewer[] = [];
  const streams: TestEventStream[] = [];
  before(async () => {
    edge = await openTestEdge({ sessionCheckMs: CHECK_MS });
  });
  after(() => edge.close());
  beforeEach(async () => {
    run = await storeRun(edge.context, planOf([[{ steps: 2 }]]));
  });
  afterEach(async () => {
    for (const stream of streams.splice(0)) stream.close();
    await Promise.all(viewers.splice(0).map((viewer) => viewer.close()));
  });

  const step = () => run.stepIds[0]![0]!;
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
  const end = () =>
    saveTurn(edge.context, run, {
      run: { state: "success" },
      events: [
        { object: "pipeline", lifecycle: "completed", jobId: null, stepRunId: null, status: "success", data: {} },
      ],
    });

  async function subscribe(params: object): Promise<TestViewer> {
    const viewer = await TestViewer.open(edge);
    viewers.push(viewer);
    viewer.send({ channel: "channel_run", params });
    return viewer;
  }
  async function stream(query: string, headers: Record<string, string> = {}): Promise<TestEventStream> {
    const opened = await TestEventStream.open(edge, `/live/run?${query}`, {
      authorization: `Bearer ${edge.adminToken}`,
      ...headers,
    });
    streams.push(opened);
    return opened;
  }

  it("sends a snapshot with the number of its newest event, then every event, and says when the run has ended", async () => {
    await queue();
    const viewer = await subscribe({ runId: run.runId });
    const done = await viewer.next("snapshotDone");
    expect(done).to.deep.equal({
      channel: "channel_run",
      params: { runId: run.runId },
      type: "snapshotDone",
      after: "1",
      data: { eventNumber: 1 },
    });
    const { data } = await viewer.next("snapshot");
    const admin = await authenticate(edge.context, edge.adminToken);
    const { jobs, ...brief } = await getRun(edge.context, admin, { runId: run.runId, allAttempts: true });
    expect(data).to.deep.equal({ ...brief, duration: data.duration });
    const shown = viewer.ofType("jobs").flatMap((message) => message.data);
    expect(shown.map(({ jobId }: { jobId: string }) => jobId)).to.deep.equal(run.jobIds);
    expect(shown[0].steps.map(({ status }: { status: string }) => status)).to.deep.equal(["queued", "pending"]);
    expect(Object.keys(shown[0])).to.deep.equal(Object.keys(jobs[0]!));

    const [started] = await start();
    await end();
    await viewer.next("ended");
    const [first, last] = viewer.ofType("event");
    expect(first).to.deep.include({ channel: "channel_run", after: "2" });
    expect(first!.data).to.deep.include({
      eventNumber: 2,
      object: "step",
      stepRunId: step(),
      jobId: run.jobIds[0],
      eventType: "svc.step.started",
      status: "running",
    });
    expect(first!.data.raw.data.time).to.equal(new Date(started!.timeMs).toISOString());
    expect(last!.data).to.deep.include({ eventNumber: 3, object: "pipeline", status: "success" });
    expect(viewer.received.map(({ type }) => type)).to.deep.equal(
      "subscribed snapshot jobs snapshotDone event event ended".split(" "),
    );
  });

  it("shows approvals and what a job waits for, as events in their order", async () => {
    const viewer = await subscribe({ runId: run.runId, after: 0 });
    const none = { jobId: null, stepRunId: null };
    const facts = { approvalId: "apr_1", name: "stage deploy", approvals: 0, missing: 1, comment: "" };
    await saveTurn(edge.context, run, {
      run: { state: "running" },
      events: [
        {
          object: "job",
          lifecycle: "waiting",
          ...none,
          jobId: run.jobIds[0]!,
          status: "pending",
          data: { waitingFor: "approval" },
        },
        { object: "approval", lifecycle: "requested", ...none, status: "pending", data: facts },
        { object: "approval", lifecycle: "approved", ...none, status: "approved", data: { ...facts, missing: 0 } },
      ],
    });
    await until("all events", () => viewer.ofType("event").length === 3);
    expect(viewer.ofType("event").map(({ data }) => [data.object, data.eventType, data.status])).to.deep.equal([
      ["job", "svc.job.waiting", "pending"],
      ["approval", "svc.approval.requested", "pending"],
      ["approval", "svc.approval.approved", "approved"],
    ]);
    expect(viewer.ofType("event")[1]!.data.raw.data).to.deep.include(facts);
  });

  it("is read no faster than its viewer reads, and ends for a viewer that reads nothing", async function () {
    this.timeout(30_000);
    const impatient = await openTestEdge({ stallMs: 200, deaf: { answerMs: 200 }, limits: { subscriptions: 1 } });
    try {
      const long = await storeRun(impatient.context, planOf([[{}]]));
      const large = { ...stepEvent(long, "started", "running"), data: { text: "x".repeat(200_000) } };
      for (let turn = 0; turn < 20; turn++) {
        await saveTurn(impatient.context, long, { events: Array.from({ length: 10 }, () => large), published: false });
      }
      const { events } = impatient.context.stores;
      const { read } = events;
      let count = 0;
      events.read = async (...args) => {
        const page = await read.apply(events, args);
        count += page.length;
        return page;
      };
      const viewer = await TestViewer.open(impatient);
      viewer.socket.pause();
      viewer.send({ channel: "channel_run", params: { runId: long.runId, after: 0 } });
      await until("the drop", async () => /^millrace_viewers 0$/m.test(await impatient.registry.metrics()));
      // Of 40 MB in the store, what the socket's buffers hold and a page more.
      expect(count, "events that were read of 200").to.be.within(1, 150);
      await viewer.close();

      count = 0;
      const ask = (after: number) => {
        const headers = { authorization: `Bearer ${impatient.adminToken}` };
        return TestEventStream.open(impatient, `/live/run?runId=${long.runId}&after=${after}`, headers);
      };
      const deaf = await ask(0);
      deaf.response.pause();
      await until("the deaf stream is cut off", async () => {
        const next = await ask(200);
        next.close();
        return next.status === 200;
      });
      // The pages of the viewer are shared.
      expect(count, "further events that were read").to.be.at.most(150);
      deaf.response.resume();
      await deaf.ended;
    } finally {
      await impatient.close();
    }
  });

  it("resumes behind a number without a snapshot, and refuses the number of another run", async () => {
    await queue(false);
    await start(false);
    for (const after of ["1", 1]) {
      const viewer = await subscribe({ runId: run.runId, after });
      const event = await viewer.next("event");
      expect(event.data.eventNumber).to.equal(2);
      expect(event.params).to.deep.equal({ runId: run.runId, after });
      expect(viewer.ofType("snapshot")).to.have.length(0);
    }
    const wrong = await subscribe({ runId: run.runId, after: 3 });
    expect((await wrong.next("error")).error).to.include("3 is above 2");
  });

  it("answers what it cannot follow with errors that name the parameter, and repeats the good ones", async () => {
    const cases: readonly (readonly [object, string])[] = [
      [{}, "runId"],
      [{ runId: "run_unknown" }, "run_unknown"],
      [{ runId: run.runId, after: -1 }, "after"],
      [{ runId: run.runId, after: "next" }, "after"],
      [{ runId: run.runId, colour: 1 }, "colour"],
      [{ runId: "x".repeat(1_000) }, "runId"],
    ];
    for (const [params, text] of cases) {
      const viewer = await subscribe(params);
      const { error, channel, params: echoed } = await viewer.next("error");
      expect(error).to.include(text);
      expect(channel).to.equal("channel_run");
      expect(JSON.stringify(echoed)).to.have.length.below(100);
    }
  });

  it("keeps one subscription for a run, and ends it when it is asked to", async () => {
    const viewer = await subscribe({ runId: run.runId });
    await viewer.next("snapshotDone");
    viewer.send({ channel: "channel_run", params: { runId: run.runId, after: 0 } });
    await until("the second subscription", () => viewer.ofType("subscribed").length === 2);
    await queue();
    await viewer.next("event");
    viewer.send({ channel: "channel_run", action: "unsubscribe", params: { runId: run.runId } });
    await viewer.next("unsubscribed");
    await start();
    expect(await edge.registry.metrics()).to.match(/^millrace_viewer_subscriptions 0$/m);
    expect(viewer.ofType("event")).to.have.length(1);
  });

  it("sends a run of 5,000 steps in messages of bounded size", async function () {
    this.timeout(60_000);
    const wide = await storeRun(edge.context, planOf([Array.from({ length: 100 }, () => ({ steps: 50 }))]));
    const viewer = await TestViewer.open(edge);
    viewers.push(viewer);
    let longest = 0;
    viewer.socket.on("message", (data: Buffer) => (longest = Math.max(longest, data.length)));
    viewer.send({ channel: "channel_run", params: { runId: wide.runId } });
    await viewer.next("snapshotDone");
    const shown = viewer.ofType("jobs").flatMap(({ data }) => data);
    expect(shown.flatMap(({ steps }) => steps)).to.have.length(5_000);
    expect(longest).to.be.below(128 * 1024);
  });

  it("is an event stream too, whose ids resume it, and which answers 204 when nothing can follow", async () => {
    await queue();
    const first = await stream(`runId=${run.runId}`);
    expect(first.status).to.equal(200);
    expect(first.response.headers["content-type"]).to.equal("text/event-stream");
    expect((await first.next("snapshotDone")).id).to.equal("1");
    expect((await first.next("snapshot")).id).to.equal(null);
    await start();
    expect(await first.next("event")).to.deep.include({ id: "2" });
    first.close();
    await end();
    // A browser connects again with the same address.
    const second = await stream(`runId=${run.runId}&after=0`, { "last-event-id": "2" });
    await second.next("ended");
    await second.ended;
    expect(second.received.map(({ id, type }) => [id, type])).to.deep.equal([
      [null, "subscribed"],
      ["3", "event"],
      [null, "ended"],
    ]);
    expect((await stream(`runId=${run.runId}`, { "last-event-id": "3" })).status).to.equal(204);
    expect((await stream("runId=run_unknown")).status).to.equal(404);
    expect((await stream(`runId=${run.runId}`, { "last-event-id": "x" })).status).to.equal(400);
    expect((await stream(`runId=${run.runId}`, { accept: "application/json" })).status).to.equal(406);
  });

  it("takes a ticket in the address of its event stream, once", async () => {
    const caller = await authenticate(edge.context, edge.adminToken);
    const { ticket } = await createTicket(edge.context, caller);
    const open = async () => {
      const opened = await TestEventStream.open(edge, `/live/run?runId=${run.runId}&ticket=${ticket}`, {});
      streams.push(opened);
      return opened;
    };
    const opened = await open();
    await opened.next("snapshotDone");
    expect((await open()).status).to.equal(401);
  });

  it("ends an event stream whose caller has lost the right to it", async () => {
    const user = await edge.userWithRole("viewer");
    const opened = await stream(`runId=${run.runId}`, { authorization: `Bearer ${user.token}` });
    await opened.next("snapshotDone");
    changeStoredUser(edge.storePath, user.name, { disabled: true });
    await opened.ended;
    expect((await stream(`runId=${run.runId}`, { authorization: `Bearer ${user.token}` })).status).to.equal(401);
  });

  it("counts event streams among what a caller may have open", async () => {
    const strict = await openTestEdge({ limits: { subscriptions: 1 } });
    try {
      const other = await storeRun(strict.context, planOf([[{}]]));
      const open = (headers = { authorization: `Bearer ${strict.adminToken}` }) =>
        TestEventStream.open(strict, `/live/run?runId=${other.runId}`, headers);
      const first = await open();
      expect((await open()).status).to.equal(429);
      first.close();
      await until("room", async () => {
        const again = await open();
        again.close();
        return again.status === 200;
      });
    } finally {
      await strict.close();
    }
  });
});
