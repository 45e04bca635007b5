import { status } from "@grpc/grpc-js";
import { expect } from "chai";
import type { LogLine, PushLogsRequest, PushLogsResponse } from "../../proto/generated/gateway/v1/gateway.ts";
import { logChannel } from "../../src/feed/feed.ts";
import { asId, type ProjectId } from "../../src/domain/ids.ts";
import type { LogLine as StoredLine } from "../../src/stores/ports/logs.ts";
import { until } from "../support/until.ts";
import { Gateway, Stream, type TestAgent } from "./gateway.ts";
import { StoredRun } from "./stored-run.ts";

const STORED = "PUSH_LOGS_VERDICT_STORED";
const REFUSED = "PUSH_LOGS_VERDICT_REFUSED";
const INVALID = "PUSH_LOGS_VERDICT_INVALID";

describe("log lines that agents send", () => {
  let gateway: Gateway;
  let agent: TestAgent;
  let run: StoredRun;
  let stream: Stream<PushLogsRequest, PushLogsResponse>;
  let agents = 0;

  before(async () => {
    gateway = await Gateway.start();
    const projectId = asId<ProjectId>("default");
    await gateway.stores.pipelines.createProject({ projectId, name: "default", createdAt: 0 });
    await gateway.stores.pipelines.changeProject(projectId, { logLimit: { lines: 2_000 } });
  });
  beforeEach(async () => {
    agent = await gateway.register(`logger-${++agents}`);
    run = await StoredRun.create(gateway.stores);
    await run.grant({ agentId: agent.agentId, bootId: "b", requestId: "r", token: 1 }, "running");
    stream = open(agent);
  });
  afterEach(() => stream.cancel());
  after(() => gateway.stop());

  const open = (as: TestAgent) => new Stream(gateway.logs().pushLogs(as.metadata));

  async function push(lines: LogLine[], overrides: Partial<PushLogsRequest> = {}): Promise<[string, bigint]> {
    const answered = stream.received.length;
    stream.send({ runId: run.runId, stepRunId: run.stepRunId(), token: 1n, lines, ...overrides });
    await until("an answer", () => stream.received.length > answered);
    const { verdict, storedThrough } = stream.received[answered]!;
    return [verdict, storedThrough];
  }

  it("are stored, numbered as sent, and acknowledged with the highest line", async () => {
    const lines = [line(1), { ...line(2), stream: "LOG_STREAM_STDERR" as const, level: "warn" }];
    expect(await push(lines)).to.deep.equal([STORED, 2n]);
    expect(await gateway.stores.logs.read(run.stepRunId(), 1, 10)).to.deep.equal([
      { line: 1, timeMs: 1_000, stream: "stdout", level: "", content: "line 1", lost: 0 },
      { line: 2, timeMs: 1_000, stream: "stderr", level: "warn", content: "line 2", lost: 0 },
    ]);
  });

  it("reach live viewers once each, also when they are sent several times", async () => {
    const heard: number[] = [];
    const channel = logChannel(run.stepRunId());
    const stop = await gateway.context.feed.subscribe(channel, (payload) => {
      heard.push(...(payload as StoredLine[]).map((entry) => entry.line));
    });
    await push([line(1), line(2)]);
    await push([line(1), line(2)]);
    await push([line(2), line(3)]);
    await push([line(9)]);
    await push([line(4)]);
    await until("line 4", () => heard.includes(4));
    expect(heard).to.deep.equal([1, 2, 2, 3, 4].filter((_, at) => at !== 2));
    await stop();
  });

  it("are requested again from the first missing one on", async () => {
    await push([line(1)]);
    expect(await push([line(3)])).to.deep.equal([STORED, 1n]);
    expect(await push([line(2), line(3)])).to.deep.equal([STORED, 3n]);
  });

  it("may be gap records, which stand for lost lines", async () => {
    expect(await push([line(1), { ...line(2), content: "", lost: 8n }, line(10)])).to.deep.equal([STORED, 10n]);
    expect((await gateway.stores.logs.read(run.stepRunId(), 1, 10)).map(({ lost }) => lost)).to.deep.equal([0, 8, 0]);
  });

  for (const [why, lines] of [
    ["no line", []],
    ["a hole", [line(1), line(3)]],
    ["lines in another order", [line(2), line(1)]],
    ["the same line twice", [line(1), line(1)]],
    ["line 0", [line(0)]],
    ["more than 1,000 lines", Array.from({ length: 1_001 }, (_, n) => line(n + 1))],
    ["more than 1 MiB of text", [{ ...line(1), content: "x".repeat((1 << 20) + 1) }]],
    ["a line number out of range", [line(2 ** 31)]],
    ["a negative gap", [{ ...line(1), lost: -5n }]],
    ["a negative time", [{ ...line(1), timeMs: -1n }]],
    ["a time out of range", [{ ...line(1), timeMs: 2n ** 62n }]],
    ["a level of more than 32 characters", [{ ...line(1), level: "x".repeat(33) }]],
  ] as [string, LogLine[]][]) {
    it(`are invalid with ${why}, and nothing is stored`, async () => {
      expect(await push(lines)).to.deep.equal([INVALID, 0n]);
      expect(await gateway.stores.logs.storedThrough(run.stepRunId())).to.equal(0);
      expect(await push([line(1)]), "the stream goes on").to.deep.equal([STORED, 1n]);
    });
  }

  it("are refused with another token than the grant's, and for an unknown step", async () => {
    expect(await push([line(1)], { token: 2n })).to.deep.equal([REFUSED, 0n]);
    expect(await push([line(1)], { stepRunId: "step_unknown" })).to.deep.equal([REFUSED, 0n]);
    expect(await gateway.stores.logs.storedThrough(run.stepRunId())).to.equal(0);
  });

  it("are refused from an agent that does not hold the step", async () => {
    stream.cancel();
    stream = open(await gateway.register("eavesdropper"));
    expect(await push([line(1)])).to.deep.equal([REFUSED, 0n]);
  });

  it("may come after the step has ended", async () => {
    await run.change({ job: 0, step: 0, state: { state: "success", lastLine: 1 } });
    expect(await push([line(1)])).to.deep.equal([STORED, 1n]);
  });

  it("are answered in order, batch by batch, when many are sent at once", async () => {
    for (let n = 0; n < 200; n++) {
      const lines = Array.from({ length: 50 }, (_, at) => line(n * 50 + at + 1));
      stream.send({ runId: run.runId, stepRunId: run.stepRunId(), token: 1n, lines });
    }
    await until("all answers", () => stream.received.length === 200);
    const through = stream.received.map(({ storedThrough }) => Number(storedThrough));
    expect(through).to.deep.equal(Array.from({ length: 200 }, (_, n) => (n + 1) * 50));
    const tail = await gateway.stores.logs.read(run.stepRunId(), 9_999, 10);
    expect(tail.map(({ content }) => content)).to.deep.equal(["line 9999", "line 10000"]);
  });

  it("are replaced by one gap record beyond the limit of the project and the end that it allows", async () => {
    const fill = async (from: number, to: number, content = "x") => {
      for (let n = from; n < to; n += 1_000) {
        const lines = Array.from({ length: 1_000 }, (_, at) => ({ ...line(n + at), content }));
        expect(await push(lines)).to.deep.equal([STORED, BigInt(n + 999)]);
      }
    };
    const entries = async (from: number) => {
      const read = await gateway.stores.logs.read(run.stepRunId(), from, 20);
      return read.map((entry) => (entry.lost === 0 ? entry.line : `${entry.line}+${entry.lost}`));
    };
    await fill(1, 15_001);
    expect(await gateway.stores.logs.storedThrough(run.stepRunId())).to.equal(15_000);
    expect(await entries(12_999)).to.deep.equal([12_999, 13_000, "13001+2000"]);
    // Over another stream, as to another gateway: the store knows how much it has.
    stream.cancel();
    stream = open(agent);
    await fill(15_001, 17_001);
    expect(await entries(12_999)).to.deep.equal([12_999, 13_000, "13001+4000"]);
    expect(await gateway.stores.logs.size(run.stepRunId())).to.deep.equal({ entries: 13_001, bytes: 13_000 });
  });

  it("need an agent's token", async () => {
    const refused = new Stream(gateway.logs().pushLogs(await gateway.registrationToken()));
    expect(await refused.ended()).to.include({ code: status.PERMISSION_DENIED });
  });

  it("end with UNAVAILABLE when the store fails while an answer is on its way", async () => {
    const second = await StoredRun.create(gateway.stores);
    await second.grant({ agentId: agent.agentId, bootId: "b", requestId: "r", token: 1 }, "running");
    const { logs } = gateway.stores;
    const append = logs.append.bind(logs);
    let fail: ((error: Error) => void) | undefined;
    // The batch of the first step is stored, and that of the second one fails in the same moment.
    logs.append = async (chunk) => {
      if (chunk.stepRunId === second.stepRunId()) return new Promise((_, reject) => (fail = reject));
      const through = await append(chunk);
      await until("the second batch", () => fail !== undefined);
      fail!(new Error("the store cannot be reached"));
      return through;
    };
    try {
      for (const { runId, stepRunId } of [run, second].map((of) => ({ runId: of.runId, stepRunId: of.stepRunId() }))) {
        stream.send({ runId, stepRunId, token: 1n, lines: [line(1)] });
      }
      expect(await stream.ended()).to.include({ code: status.UNAVAILABLE });
    } finally {
      logs.append = append;
    }
  });

  it("end when the agent ends the stream", async () => {
    await push([line(1)]);
    stream.end();
    expect(await stream.ended()).to.include({ code: status.OK });
  });
});

function line(n: number): LogLine {
  return { line: BigInt(n), timeMs: 1_000n, stream: "LOG_STREAM_STDOUT", level: "", content: `line ${n}`, lost: 0n };
}
