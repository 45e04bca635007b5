import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { LogPages } from "../../src/app/following/log-pages.ts";
import { followLog } from "../../src/app/following/log-updates.ts";
import { logChannel } from "../../src/feed/feed.ts";
import type { LogLine } from "../../src/stores/ports/logs.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";
import { planOf } from "../support/plans.ts";
import { AGENT_ID, GRANT, saveTurn, type StoredRun, storeRun } from "../support/stored-runs.ts";
import { until } from "../support/until.ts";
import { TestViewer } from "../support/viewer.ts";

const line = (number: number): LogLine => ({
  line: number,
  timeMs: 1_700_000_000_900 - number,
  stream: number % 2 === 0 ? "stdout" : "stderr",
  level: "info",
  content: `line ${number}`,
  lost: 0,
});
const lines = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, at) => line(first + at));
const numbers = (first: number, last: number) => lines(first, last).map((entry) => entry.line);

describe("the log channel", () => {
  let edge: TestEdge;
  let run: StoredRun;
  const viewers: TestViewer[] = [];
  before(async () => {
    edge = await openTestEdge({ stallMs: 300 });
  });
  after(() => edge.close());
  beforeEach(async () => {
    run = await storeRun(edge.context, planOf([[{ steps: 1 }]]));
    const [stepRunId] = run.stepIds[0]!;
    await saveTurn(edge.context, run, { steps: [{ stepRunId: stepRunId!, state: "running", grant: GRANT }] });
  });
  afterEach(async () => {
    edge.skewMs = 0;
    await Promise.all(viewers.splice(0).map((viewer) => viewer.close()));
  });

  const step = () => run.stepIds[0]![0]!;
  const params = (extra: object = {}) => ({
    pipelineId: run.pipelineId,
    jobId: run.jobIds[0],
    stepRunId: step(),
    ...extra,
  });
  const append = (entries: readonly LogLine[]) =>
    edge.context.stores.logs.append({ stepRunId: step(), agentId: AGENT_ID, lines: entries });
  const publish = (entries: readonly LogLine[]) => edge.context.feed.publish(logChannel(step()), entries);
  const end = (lastLine: number | null, endedAt = Date.now()) =>
    saveTurn(edge.context, run, { steps: [{ stepRunId: step(), state: "success", lastLine, endedAt }] });

  async function subscribe(extra: object = {}): Promise<TestViewer> {
    const viewer = await TestViewer.open(edge);
    viewers.push(viewer);
    viewer.send({ channel: "channel_log", params: params(extra) });
    return viewer;
  }
  const seen = (viewer: TestViewer) => viewer.entries.map((entry) => entry.line_number);
  const subscriptionsEnd = () =>
    until("the end of every subscription", async () =>
      /^millrace_viewer_subscriptions 0$/m.test(await edge.registry.metrics()),
    );

  it("answers an error for a removed log, also to a viewer that is reading it", async () => {
    await append(lines(1, 3));
    await end(4);
    const early = await subscribe();
    await early.next("history_done");
    const { retention } = edge.context.stores;
    await retention.dropLogs(run.runId, [step()]);
    for (const viewer of [await subscribe(), early]) {
      expect((await viewer.next("error")).error).to.include("was removed");
    }
  });

  it("sends nothing of a removed log to a viewer that has all of it", async () => {
    await append(lines(1, 3));
    await end(3);
    await edge.context.stores.retention.dropLogs(run.runId, [step()]);
    const viewer = await subscribe({ fromLine: 4 });
    await viewer.next("history_done");
    expect(viewer.entries).to.deep.equal([]);
  });

  it("sends history in chunks of at most 200, then history_done, then live lines", async () => {
    await append(lines(1, 450));
    const viewer = await subscribe();
    await viewer.next("history_done");
    expect(viewer.received.map(({ type }) => type)).to.deep.equal([
      "subscribed",
      "log_chunk",
      "log_chunk",
      "log_chunk",
      "history_done",
    ]);
    expect(viewer.ofType("log_chunk").map(({ data }) => data.length)).to.deep.equal([200, 200, 50]);
    for (const message of viewer.received)
      expect(message).to.deep.include({ channel: "channel_log", params: params() });
    await append([line(451)]);
    await publish([line(451)]);
    expect((await viewer.next("log")).data).to.deep.equal({
      step_run_id: step(),
      timestamp: 1_700_000_000,
      line_number: 451,
      level: "info",
      content: "line 451",
      stream: "stderr",
      plugin_name: "shell",
      agent_id: AGENT_ID,
    });
  });

  it("of a finished step sends its history, and then ends the subscription", async () => {
    await append(lines(1, 10));
    await end(10);
    const viewer = await subscribe();
    await viewer.next("history_done");
    expect(seen(viewer)).to.deep.equal(numbers(1, 10));
    await subscriptionsEnd();
    expect(viewer.ofType("error")).to.have.length(0);
  });

  it("of a step that has ended is all history, also while its agent still delivers it", async () => {
    await append(lines(1, 300));
    await end(5_000);
    const viewer = await subscribe();
    await until("the first lines", () => viewer.entries.length > 0);
    for (let first = 301; first <= 5_000; first += 100) {
      await append(lines(first, first + 99));
      await publish(lines(first, first + 99));
      if (first % 1_000 === 1) await sleep(5);
    }
    await viewer.next("history_done");
    expect(seen(viewer), "before history_done").to.deep.equal(numbers(1, 5_000));
    await subscriptionsEnd();
    expect(viewer.ofType("log"), "no line comes as a live one").to.deep.equal([]);
  });

  it("has every line that was stored before the subscription ahead of history_done, however many come meanwhile", async () => {
    let stored = 0;
    let isWriting = true;
    const writing = (async () => {
      while (isWriting && stored < 30_000) {
        const batch = lines(stored + 1, stored + 100);
        await append(batch);
        stored += 100;
        await publish(batch);
      }
    })();
    for (let round = 0; round < 5; round++) {
      await until("more lines", () => stored > (round + 1) * 500);
      const before = stored;
      const viewer = await subscribe();
      await viewer.next("history_done");
      const at = viewer.received.findIndex(({ type }) => type === "history_done");
      const history = viewer.received.slice(0, at).flatMap(({ type, data }) => (type === "log_chunk" ? data : []));
      expect(history.length).to.be.at.least(before);
      expect(seen(viewer)).to.deep.equal(numbers(1, viewer.entries.length));
    }
    isWriting = false;
    await writing;
    await end(stored);
    for (const viewer of viewers) {
      await until("all lines", () => seen(viewer).length >= stored);
      expect(seen(viewer)).to.deep.equal(numbers(1, stored));
    }
  });

  it("is read from the store once for viewers that come together, also when they begin at other lines", async () => {
    await append(lines(1, 1_000));
    for (let first = 1_001; first <= 20_000; first += 1_000) await append(lines(first, first + 999));
    await end(20_000);
    const { logs } = edge.context.stores;
    const { read } = logs;
    let reads = 0;
    logs.read = (...args) => {
      reads++;
      return read.apply(logs, args);
    };
    const come = await Promise.all(Array.from({ length: 20 }, (_, at) => subscribe({ fromLine: at * 7 + 1 })));
    for (const viewer of come) await viewer.next("history_done");
    logs.read = read;
    for (const [at, viewer] of come.entries()) expect(seen(viewer)).to.deep.equal(numbers(at * 7 + 1, 20_000));
    // Each viewer's first page and its last, empty one, and the pages between them. Viewers that come apart, on a loaded
    // machine, share fewer pages; each for itself they read 2,000.
    expect(reads).to.be.at.most(300);
  });

  it("of a step that never ran is empty, and ends the subscription", async () => {
    await saveTurn(edge.context, run, {
      steps: [{ stepRunId: step(), state: "skipped", grant: null, endedAt: Date.now() }],
    });
    const viewer = await subscribe();
    await viewer.next("history_done");
    await subscriptionsEnd();
    expect(viewer.entries).to.have.length(0);
  });

  it("begins with the line fromLine", async () => {
    await append(lines(1, 300));
    const viewer = await subscribe({ fromLine: 250 });
    await viewer.next("history_done");
    expect(seen(viewer)).to.deep.equal(numbers(250, 300));
    const ahead = await subscribe({ fromLine: 302 });
    await ahead.next("history_done");
    await append(lines(301, 303));
    await publish(lines(301, 303));
    await until("line 303", () => seen(ahead).includes(303));
    expect(seen(ahead)).to.deep.equal([302, 303]);
  });

  it("sends each of 10,000 lines once and in order to viewers that join at any moment", async () => {
    const total = 10_000;
    const comers = (async () => {
      const come: TestViewer[] = [];
      for (let viewer = 0; viewer < 6; viewer++) {
        come.push(await subscribe());
        await sleep(15);
      }
      return come;
    })();
    for (let first = 1; first <= total; first += 50) {
      const batch = lines(first, first + 49);
      await append(batch);
      await publish(batch);
      // Agents send lines without an acknowledgement again. Viewers must not see these repeats.
      if (first % 500 === 1) await publish(lines(Math.max(1, first - 120), first + 49));
      if (first % 1_000 === 1) await sleep(2);
    }
    await end(total);
    for (const viewer of await comers) {
      await until("all lines", () => seen(viewer).length >= total);
      expect(seen(viewer)).to.deep.equal(numbers(1, total));
    }
    await subscriptionsEnd();
    for (const viewer of await comers) expect(seen(viewer)).to.have.length(total);
  });

  it("works without the feed, since the store is read every second", async () => {
    const viewer = await subscribe();
    await viewer.next("history_done");
    await append(lines(1, 5));
    await until("five lines", () => seen(viewer).length === 5);
    await append(lines(6, 450));
    await end(450);
    await until("all lines", () => seen(viewer).length === 450);
    expect(seen(viewer)).to.deep.equal(numbers(1, 450));
    await subscriptionsEnd();
  });

  it("fills a gap of the feed from the store", async () => {
    const viewer = await subscribe();
    await viewer.next("history_done");
    await append(lines(1, 30));
    await publish(lines(21, 30));
    await until("all lines", () => seen(viewer).length === 30);
    expect(seen(viewer)).to.deep.equal(numbers(1, 30));
  });

  it("shows a gap record at the first of the lost lines", async () => {
    const gap: LogLine = { ...line(812), lost: 29 };
    await append([...lines(1, 811), gap, line(841)]);
    const viewer = await subscribe();
    await viewer.next("history_done");
    expect(seen(viewer)).to.deep.equal([...numbers(1, 812), 841]);
    expect(viewer.entries[811]).to.include({ line_number: 812, level: "warn", content: "lines 812-840 lost" });
    const middle = await subscribe({ fromLine: 830 });
    await middle.next("history_done");
    expect(middle.entries[0]).to.include({ line_number: 830, content: "lines 830-840 lost" });
  });

  it("waits after the end of a step for the lines up to the last one of its report", async () => {
    const viewer = await subscribe();
    await viewer.next("history_done");
    await append(lines(1, 5));
    await end(8);
    await until("five lines", () => seen(viewer).length === 5);
    await append(lines(6, 8));
    await until("eight lines", () => seen(viewer).length === 8);
    await subscriptionsEnd();
    expect(seen(viewer)).to.deep.equal(numbers(1, 8));
  });

  it("ends 30 s after the step with a gap record for lines that never came", async () => {
    const viewer = await subscribe();
    await viewer.next("history_done");
    await append(lines(1, 5));
    await end(8);
    await until("five lines", () => seen(viewer).length === 5);
    edge.skewMs = 31_000;
    await until("the gap", () => seen(viewer).length === 6);
    expect(viewer.entries[5]).to.include({ line_number: 6, level: "warn", content: "lines 6-8 lost" });
    await subscriptionsEnd();
    const late = await subscribe();
    await late.next("history_done");
    expect(seen(late)).to.deep.equal(numbers(1, 6));
    expect(late.ofType("log")).to.have.length(0);
  });

  it("does not count lines as lost while an agent still delivers them", async () => {
    const viewer = await subscribe();
    await viewer.next("history_done");
    await append(lines(1, 5));
    await end(8);
    await until("five lines", () => seen(viewer).length === 5);
    edge.skewMs = 20_000;
    await append(lines(6, 6));
    await until("six lines", () => seen(viewer).length === 6);
    // The step ended 40 s ago, and its newest line came 20 s ago.
    edge.skewMs = 40_000;
    const late = await subscribe();
    await until("six lines of the late viewer", () => seen(late).length === 6);
    await append(lines(7, 8));
    await late.next("history_done");
    for (const one of [late, viewer]) {
      await until("eight lines", () => seen(one).length === 8);
      expect(one.entries.filter(({ content }) => content.includes("lost"))).to.deep.equal([]);
    }
    await subscriptionsEnd();
  });

  it("gives an agent the time to deliver after the control plane was down", async () => {
    await append(lines(1, 5));
    await end(8, Date.now() - 40_000);
    const { signal: abort } = new AbortController();
    const pages = new LogPages(edge.context);
    const updates = followLog(edge.context, { pages, stepRunId: step(), fromLine: 1, abort });
    const found: LogLine[] = [];
    for await (const update of updates) {
      if (update.type === "historyDone") await append(lines(6, 8));
      else found.push(...update.lines);
    }
    expect(found.map(({ line, lost }) => [line, lost])).to.deep.equal(numbers(1, 8).map((number) => [number, 0]));
  });

  it("hands over a burst in small parts, so that a viewer that does not read bounds memory", async () => {
    const viewer = await subscribe();
    await viewer.next("history_done");
    viewer.socket.pause();
    const { log } = edge.context;
    const { warn } = log;
    let waitingBytes = 0;
    log.warn = (fields) => (waitingBytes = Number(fields["waitingBytes"]));
    const burst = lines(1, 1_000).map((entry) => ({ ...entry, content: "x".repeat(16_000) }));
    await append(burst);
    await publish(burst);
    await until("the drop", () => waitingBytes > 0);
    log.warn = warn;
    // Of 16 MB, one chunk of 200 lines may have been handed over just below the mark of 1 MiB.
    expect(waitingBytes).to.be.at.most(1024 * 1024 + 200 * 16_500);
  });

  it("resumes by itself after an outage of the store", async () => {
    const viewer = await subscribe();
    await viewer.next("history_done");
    const { logs } = edge.context.stores;
    const { read } = logs;
    const { MillraceError } = await import("../../src/domain/errors.ts");
    let refused = 0;
    logs.read = () => {
      refused++;
      return Promise.reject(new MillraceError("unavailable", "away"));
    };
    await append(lines(1, 3));
    await until("a refused read", () => refused > 0);
    logs.read = read;
    await until("three lines", () => seen(viewer).length === 3);
    expect(viewer.ofType("error")).to.have.length(0);
  });

  it("sends nothing after it has acknowledged an unsubscribe", async () => {
    await append(lines(1, 2_000));
    const viewer = await subscribe();
    viewer.send({ channel: "channel_log", action: "unsubscribe", params: params() });
    await viewer.next("unsubscribed");
    await append([line(2_001)]);
    await publish([line(2_001)]);
    await subscriptionsEnd();
    expect(viewer.received.at(-1)!.type).to.equal("unsubscribed");
  });

  it("bounds the memory for a viewer that does not read, and disconnects it", async () => {
    const large = (first: number) =>
      lines(first, first + 99).map((entry) => ({ ...entry, content: "x".repeat(10_000) }));
    for (let first = 1; first <= 5_000; first += 100) await append(large(first));
    const { logs } = edge.context.stores;
    const { read } = logs;
    let reads = 0;
    logs.read = (...args) => {
      reads++;
      return read.apply(logs, args);
    };
    const viewer = await TestViewer.open(edge);
    viewers.push(viewer);
    viewer.socket.pause();
    viewer.send({ channel: "channel_log", params: params() });
    await until("the drop", async () => /^millrace_viewers 0$/m.test(await edge.registry.metrics()));
    logs.read = read;
    // Of 50 MB in the store, the socket's buffers and one more chunk were read.
    expect(reads).to.be.within(1, 10);
  });
});
