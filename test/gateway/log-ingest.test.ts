import { expect } from "chai";
import { logChannel } from "../../src/feed/feed.ts";
import { asId, type AgentId, type StepRunId } from "../../src/domain/ids.ts";
import { LogIngest } from "../../src/gateway/ingest/log-ingest.ts";
import type { LogChunk, LogLine } from "../../src/stores/ports/logs.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { StoredRun } from "../grpc/stored-run.ts";
import { silentLog } from "../support/kernel-ports.ts";
import { LOG_LIMIT } from "../support/log-limit.ts";
import { openTestSqlite } from "../support/stores.ts";
import { until } from "../support/until.ts";

const AGENT = asId<AgentId>("agt_1");

describe("the ingest of log lines", () => {
  let stores: Stores;
  let closeStores: () => Promise<unknown>;
  let steps: StepRunId[];
  let followed: Set<string>;
  let published: { readonly channel: string; readonly payload: unknown }[];
  /** Chunks whose storing waits for {@link release}. */
  let held: LogChunk[];
  let release: (() => void)[] | null;
  let ingest: LogIngest;

  beforeEach(async () => {
    const opened = await openTestSqlite();
    stores = opened.stores;
    closeStores = () => opened.close();
    const run = await StoredRun.create(stores, [{}, {}]);
    steps = [run.stepRunId(0), run.stepRunId(1)];
    for (const job of [0, 1])
      await run.grant({ agentId: AGENT, bootId: "b", requestId: `r${job}`, token: 1 }, "running", job);
    [followed, published, held, release] = [new Set(), [], [], null];
    const append = async (chunk: LogChunk): Promise<number> => {
      held.push(chunk);
      if (release !== null) await new Promise<void>((resolve) => release!.push(resolve));
      return stores.logs.append(chunk);
    };
    const { logs: real } = stores;
    const logs: Stores["logs"] = {
      append,
      size: (step) => real.size(step),
      storedThrough: (step) => real.storedThrough(step),
      read: (...call) => real.read(...call),
      headers: (...call) => real.headers(...call),
      dueJoinings: (...call) => real.dueJoinings(...call),
      joinNext: (...call) => real.joinNext(...call),
      endJoining: (joining) => real.endJoining(joining),
      putOff: (...call) => real.putOff(...call),
      warmChunks: (...call) => real.warmChunks(...call),
      cool: (...call) => real.cool(...call),
      coldBlobs: (stepRunIds) => real.coldBlobs(stepRunIds),
      coldChunks: (stepRunId) => real.coldChunks(stepRunId),
      warm: (...call) => real.warm(...call),
    };
    const feed = {
      publish: (channel: string, payload: unknown) => Promise.resolve(void published.push({ channel, payload })),
      isFollowed: (channel: string) => followed.has(channel),
    };
    const context = { stores: { ...stores, logs }, feed, log: silentLog, clock: { now: () => 5_000 } };
    ingest = new LogIngest(context as never, AGENT, { of: () => Promise.resolve(LOG_LIMIT) });
  });
  afterEach(() => closeStores());

  const push = (step: number, ...numbers: number[]) =>
    ingest.push({ stepRunId: steps[step]!, token: 1, lines: numbers.map(line) });

  it("publishes a batch at once, and only while a node follows the log", async () => {
    await push(0, 1, 2);
    expect(published).to.deep.equal([]);
    followed.add(logChannel(steps[0]!));
    await push(0, 3, 4);
    await push(1, 1);
    expect(published).to.deep.equal([{ channel: logChannel(steps[0]!), payload: [line(3), line(4)] }]);
  });

  it("stores batches of different steps at the same time, and those of one step in order", async () => {
    release = [];
    const pushes = [push(0, 1), push(0, 2), push(1, 1)];
    await until("both steps are being stored", () => release!.length === 2);
    expect(held.map(({ stepRunId, lines }) => [stepRunId, lines[0]!.line])).to.deep.equal([
      [steps[0], 1],
      [steps[1], 1],
    ]);
    release.splice(0).forEach((go) => go());
    await until("the next one is being stored", () => release!.length === 1);
    release[0]!();
    const through = (storedThrough: number) => ({ verdict: "stored", storedThrough });
    expect(await Promise.all(pushes)).to.deep.equal([through(1), through(2), through(1)]);
  });

  it("says with each eighth small batch that the chunks since the one before are to be joined", async () => {
    for (let number = 1; number <= 7; number++) await push(0, number);
    expect(await push(0, 1)).to.deep.equal({ verdict: "stored", storedThrough: 7 });
    await push(0, ...Array.from({ length: 600 }, (_, at) => 8 + at));
    for (let number = 608; number <= 616; number++) await push(0, number);
    const said = held.flatMap(({ joining, lines }) => (joining === undefined ? [] : [[lines[0]!.line, joining]]));
    expect(said).to.deep.equal([
      [1, { fromLine: 1, dueAt: 65_000 }],
      [608, { fromLine: 1, dueAt: 65_000 }],
      [616, { fromLine: 609, dueAt: 65_000 }],
    ]);
    expect(await stores.logs.dueJoinings(65_000, 10)).to.deep.equal([
      { stepRunId: steps[0], fromLine: 1, dueAt: 65_000 },
    ]);
  });
});

const line = (number: number): LogLine => ({
  line: number,
  timeMs: 1_000,
  stream: "stdout",
  level: "info",
  content: `line ${number}`,
  lost: 0,
});
