/** What viewers may have open, what their requests cost the others, and what becomes of viewers that do not read. */
import { once } from "node:events";
import { expect } from "chai";
import { WebSocket } from "ws";
import type { LogLine } from "../../src/stores/ports/logs.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";
import { planOf } from "../support/plans.ts";
import { AGENT_ID, GRANT, saveTurn, type StoredRun, storeRun } from "../support/stored-runs.ts";
import { until } from "../support/until.ts";
import { TestViewer } from "../support/viewer.ts";

const line = (number: number, content: string): LogLine => ({
  line: number,
  timeMs: 1,
  stream: "stdout",
  level: "info",
  content,
  lost: 0,
});

describe("viewers of a run", function () {
  this.timeout(30_000);
  let edge: TestEdge;
  let run: StoredRun;
  const viewers: TestViewer[] = [];
  before(async () => {
    edge = await openTestEdge({
      limits: { connections: 25 },
      outgoing: { bytes: 3_000_000, deafMs: 300 },
    });
    run = await storeRun(edge.context, planOf([Array.from({ length: 20 }, () => ({ steps: 1 }))]));
    await saveTurn(edge.context, run, { steps: [{ stepRunId: stepOf(0), state: "running", grant: GRANT }] });
  });
  after(() => edge?.close());
  afterEach(() => Promise.all(viewers.splice(0).map((viewer) => viewer.close())));

  const stepOf = (at: number) => run.stepIds[at]![0]!;
  const params = (at: number) => ({ pipelineId: run.pipelineId, jobId: run.jobIds[at], stepRunId: stepOf(at) });
  const open = async () => {
    const viewer = await TestViewer.open(edge);
    viewers.push(viewer);
    return viewer;
  };

  it("who come together read one snapshot, not one each, and remember what never changes", async () => {
    const { aggregates, plans } = edge.context.stores;
    let reads = 0;
    const counted = <T extends object>(store: T, names: readonly string[]): (() => void) => {
      for (const name of names) {
        const call = Reflect.get(store, name) as (...args: unknown[]) => unknown;
        Reflect.set(store, name, (...args: unknown[]) => {
          reads++;
          return call.apply(store, args);
        });
      }
      return () => names.forEach((name) => Reflect.deleteProperty(store, name));
    };
    const restores = [counted(aggregates, ["findStep", "loadHead", "loadActors"])];
    const { loadJob } = plans;
    plans.loadJob = (...args) => {
      reads++;
      return loadJob.apply(plans, args);
    };
    const come = await Promise.all(Array.from({ length: 20 }, open));
    for (const viewer of come) {
      for (let at = 0; at < 20; at++) viewer.send({ channel: "channel_status", params: params(at) });
    }
    for (const viewer of come) {
      await until("every snapshot", () => viewer.ofType("status_snapshot").length === 20);
      expect(new Set(viewer.ofType("status_snapshot").map(({ data }) => data.stepRunId)).size).to.equal(20);
    }
    for (const restore of restores) restore();
    plans.loadJob = loadJob;
    // For each viewer alone, 400 subscriptions are 1,600 reads.
    expect(reads).to.be.at.most(600);
  });

  it("who subscribe and unsubscribe without a pause delay no other request", async () => {
    const viewer = await open();
    const pairs = 1_500;
    for (let n = 0; n < pairs; n++) {
      for (const action of ["subscribe", "unsubscribe"]) {
        viewer.send({ channel: "channel_status", action, params: params(n % 20) });
      }
    }
    const answered = () => viewer.ofType("unsubscribed").length;
    await until("the first answer", () => answered() > 0);
    expect((await edge.call("GET", "/healthz", { token: null })).status).to.equal(200);
    expect(answered(), "of 1,500 pairs when the other request was answered").to.be.lessThan(pairs / 2);
    await until("all answers", () => answered() === pairs);
  });

  it("may have so many subscriptions for one user, and more when some have ended", async () => {
    const strict = await openTestEdge({ limits: { connections: 2, subscriptions: 2 } });
    try {
      const other = await storeRun(strict.context, planOf([[{}, {}, {}]]));
      const at = (n: number) => ({
        pipelineId: other.pipelineId,
        jobId: other.jobIds[n],
        stepRunId: other.stepIds[n]![0],
      });
      const [one, two] = [await TestViewer.open(strict), await TestViewer.open(strict)];
      one.send({ channel: "channel_status", params: at(0) });
      one.send({ channel: "channel_status", params: at(1) });
      await until("two snapshots", () => one.ofType("status_snapshot").length === 2);
      two.send({ channel: "channel_status", params: at(2) });
      const refused = await two.next("error");
      expect(refused).to.deep.include({ channel: "channel_status", params: at(2), data: null });
      expect(refused.error).to.include("2 subscriptions");
      one.send({ channel: "channel_status", action: "unsubscribe", params: at(0) });
      await one.next("unsubscribed");
      two.send({ channel: "channel_status", params: at(2) });
      await two.next("status_snapshot");

      const third = new WebSocket(`ws://127.0.0.1:${strict.port}/api/v1/ws`, {
        headers: { authorization: `Bearer ${strict.adminToken}` },
      });
      const [, answer] = (await once(third, "unexpected-response")) as [unknown, { statusCode: number }];
      expect(answer.statusCode).to.equal(429);
      third.on("error", () => {});
      third.terminate();
      await one.close();
      await until("room", () =>
        TestViewer.open(strict).then(
          (viewer) => viewer.close().then(() => true),
          () => false,
        ),
      );
      await two.close();
    } finally {
      await strict.close();
    }
  });

  it("who read nothing are disconnected with 1008 once too many bytes wait for all, and one that reads stays", async () => {
    const content = "x".repeat(10_000);
    for (let first = 1; first <= 1_000; first += 100) {
      const lines = Array.from({ length: 100 }, (_, at) => line(first + at, content));
      await edge.context.stores.logs.append({ stepRunId: stepOf(0), agentId: AGENT_ID, lines });
    }
    const deaf = await Promise.all(Array.from({ length: 8 }, open));
    const codes: number[] = [];
    for (const viewer of deaf) {
      viewer.socket.on("close", (code) => codes.push(code));
      viewer.socket.pause();
      viewer.send({ channel: "channel_log", params: params(0) });
    }
    await until("disconnected viewers", async () => {
      const open = /^millrace_viewers (\d+)$/m.exec(await edge.registry.metrics())![1]!;
      return Number(open) < 8;
    });
    const reading = await open();
    reading.send({ channel: "channel_log", params: params(0) });
    await until("the whole log", () => reading.entries.length === 1_000);
    expect(reading.socket.readyState).to.equal(WebSocket.OPEN);
    for (const viewer of deaf) viewer.socket.resume();
    await until("a close code", () => codes.length > 0);
    expect(codes.filter((code) => code !== 1008 && code !== 1006)).to.deep.equal([]);
  });
});
