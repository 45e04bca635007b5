/** Searches in logs over gRPC; test/http/log-search.test.ts has what all searches do. */
import { status } from "@grpc/grpc-js";
import { expect } from "chai";
import type { SearchLogsRequest } from "../../proto/generated/steprun/v1/steprun.ts";
import { asId } from "../../src/domain/ids.ts";
import { pipelineRecord } from "../support/pipelines.ts";
import { GRANT } from "../support/stored-runs.ts";
import { Gateway } from "./gateway.ts";
import { StoredRun } from "./stored-run.ts";
import { refusalOf, UserCalls } from "./user-calls.ts";

const { INVALID_ARGUMENT, NOT_FOUND } = status;

describe("SearchLogs", () => {
  let gateway: Gateway;
  let calls: UserCalls;
  let runId: string;
  let jobId: string;
  let stepRunId: string;

  before(async () => {
    gateway = await Gateway.start();
    calls = await UserCalls.open(gateway.context, gateway.port);
  });
  after(async () => {
    calls.close();
    await gateway.stop();
  });
  beforeEach(async () => {
    const run = await StoredRun.create(gateway.stores);
    await run.grant(GRANT, "running");
    [runId, jobId, stepRunId] = [run.runId, run.jobId(), run.stepRunId()];
  });

  it("finds a text in the log of a step run, of a run, and of the runs of a pipeline", async () => {
    const text = (n: number) => `line ${n}${n === 3 ? " has the needle" : ""}`;
    const logged = Array.from({ length: 5 }, (_, at) => ({
      line: at + 1,
      timeMs: 7_500,
      stream: "stderr" as const,
      level: "info",
      lost: 0,
      content: text(at + 1),
    }));
    await gateway.stores.logs.append({ stepRunId: asId(stepRunId), agentId: "agt_1", lines: logged });
    const entry = (n: number) => ({
      stepRunId,
      timestamp: 7n,
      lineNumber: n,
      level: "info",
      content: text(n),
      stream: "LOG_STREAM_STDERR",
      pluginName: "shell",
      agentId: GRANT.agentId,
    });
    const ranges = [{ from: 15, to: 21 }];
    const match = { runId, jobId, stepRunId, entry: entry(3), ranges, before: [entry(2)], after: [entry(4)] };
    const request = { text: "NEE.LE", pattern: true, ignoreCase: true, context: 1, levels: ["info", "error"] };
    const { pipelineId } = (await gateway.stores.aggregates.loadHead(asId(runId)))!.summary;
    await gateway.stores.pipelines.create(pipelineRecord(pipelineId));
    for (const searched of [{ stepRunId }, { runId }, { pipelineId }]) {
      const found = await calls.stepRun("searchLogs", { ...request, ...searched });
      expect(found.matches, Object.keys(searched)[0]).to.deep.equal([match]);
    }
    const filtered = await calls.stepRun("searchLogs", { ...request, stepRunId, stream: "LOG_STREAM_STDOUT" });
    expect([filtered.matches, filtered.next]).to.deep.equal([[], ""]);

    const first = await calls.stepRun("searchLogs", { text: "line", stepRunId, limit: 2 });
    const next = await calls.stepRun("searchLogs", { text: "line", stepRunId, limit: 200, after: first.next });
    const numbers = [first, next].map(({ matches }) => matches.map((one) => one.entry!.lineNumber));
    expect(numbers).to.deep.equal([
      [1, 2],
      [3, 4, 5],
    ]);
  });

  it("refuses a pattern that cannot be read, also where there are no lines", async () => {
    const { pipelineId } = (await gateway.stores.aggregates.loadHead(asId(runId)))!.summary;
    await gateway.stores.pipelines.create(pipelineRecord(pipelineId));
    for (const searched of [{ stepRunId }, { runId }, { pipelineId }]) {
      const bad = await refusalOf(calls.stepRun("searchLogs", { text: "(", pattern: true, ...searched }));
      expect(bad.code, Object.keys(searched)[0]).to.equal(INVALID_ARGUMENT);
      expect(bad.text).to.match(/^\/q /);
    }
  });

  it("takes one id, a text, and values within their bounds", async () => {
    const refused = async (request: Partial<SearchLogsRequest>) => {
      const { code, text } = await refusalOf(calls.stepRun("searchLogs", request));
      return [code, text];
    };
    for (const searched of [{}, { runId, stepRunId }]) {
      const [code, text] = await refused({ text: "x", ...searched });
      expect([code, text]).to.deep.equal([
        INVALID_ARGUMENT,
        "give one of a step run, a run and a pipeline: its logs are searched",
      ]);
    }
    for (const bad of [
      { text: "" },
      { text: "x", context: 11 },
      { text: "x", limit: 201 },
      { text: "x", after: "?" },
    ]) {
      expect((await refused({ ...bad, runId }))[0], JSON.stringify(bad)).to.equal(INVALID_ARGUMENT);
    }
    expect((await refused({ text: "x", stepRunId: "step_none" }))[0]).to.equal(NOT_FOUND);
  });
});
