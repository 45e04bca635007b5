/** A step's log as an event stream. */
import { expect } from "chai";
import type { StepRunId } from "../../src/domain/ids.ts";
import { logChannel } from "../../src/feed/feed.ts";
import type { LogLine } from "../../src/stores/ports/logs.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";
import { TestEventStream } from "../support/event-stream.ts";
import { planOf } from "../support/plans.ts";
import { AGENT_ID, GRANT, saveTurn, type StoredRun, storeRun } from "../support/stored-runs.ts";
import { changeStoredUser } from "../support/stored-users.ts";
import { until } from "../support/until.ts";

const line = (number: number, change: Partial<LogLine> = {}): LogLine => ({
  line: number,
  timeMs: 1_700_000_000_000 + number,
  stream: "stdout",
  level: "info",
  content: `line ${number}`,
  lost: 0,
  ...change,
});
const lines = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, at) => line(first + at));

describe("a log as an event stream", () => {
  let edge: TestEdge;
  let run: StoredRun;
  let step: StepRunId;
  const streams: TestEventStream[] = [];
  before(async () => (edge = await openTestEdge({ sessionCheckMs: 40 })));
  after(() => edge.close());
  beforeEach(async () => {
    run = await storeRun(edge.context, planOf([[{}]]));
    step = run.stepIds[0]![0]!;
    await saveTurn(edge.context, run, { steps: [{ stepRunId: step, state: "running", grant: GRANT }] });
  });
  afterEach(() => {
    for (const stream of streams.splice(0)) stream.close();
  });

  const path = (query = "") => `/pipelines/${run.pipelineId}/runs/${run.runId}/steps/${step}/logs${query}`;
  async function append(part: readonly LogLine[]): Promise<void> {
    await edge.context.stores.logs.append({ stepRunId: step, agentId: AGENT_ID, lines: part });
    await edge.context.feed.publish(logChannel(step), part);
  }
  const end = (lastLine: number) =>
    saveTurn(edge.context, run, { steps: [{ stepRunId: step, state: "success", lastLine, endedAt: Date.now() }] });
  async function open(query = "", headers: Record<string, string> = {}): Promise<TestEventStream> {
    const opened = await TestEventStream.open(edge, path(query), {
      authorization: `Bearer ${edge.adminToken}`,
      accept: "text/event-stream",
      ...headers,
    });
    streams.push(opened);
    return opened;
  }
  const numbers = (stream: TestEventStream): readonly number[] =>
    stream.ofType("lines").flatMap(({ data }) => data.map((entry: { line_number: number }) => entry.line_number));

  it("sends what is stored, then each new line, and ends with the log", async () => {
    await append([...lines(1, 449), line(450, { stream: "stderr", level: "error" })]);
    const stream = await open();
    expect(stream.response.headers["content-type"]).to.equal("text/event-stream");
    expect((await stream.next("historyDone")).data).to.deep.equal({ lines: 450, firstError: 450, firstStderr: 450 });
    expect(stream.ofType("lines").map(({ id, data }) => [id, data.length])).to.deep.equal([
      ["200", 200],
      ["400", 200],
      ["450", 50],
    ]);
    await append(lines(451, 453));
    await until("live lines", () => numbers(stream).length === 453);
    await end(453);
    await stream.next("ended");
    await stream.ended;
    expect(numbers(stream)).to.deep.equal(lines(1, 453).map((one) => one.line));
    const page = await edge.call("GET", `/api/v1${path("?limit=1")}`);
    expect(page.body.detail).to.deep.include({ lines: 453, firstError: 450, firstStderr: 450 });
    expect(stream.ofType("lines")[0]!.data[0]).to.deep.equal(page.body.detail.list[0]);
  });

  it("goes on behind the last line that the caller has, and is 204 behind the last one", async () => {
    await append(lines(1, 10));
    const first = await open("?from=4&ticket=");
    await first.next("historyDone");
    expect(numbers(first)).to.deep.equal([4, 5, 6, 7, 8, 9, 10]);
    first.close();
    await append([line(11, { lost: 5, content: "", level: "warn" }), ...lines(16, 17)]);
    const second = await open("?from=4", { "last-event-id": "13" });
    await second.next("historyDone");
    expect(
      second.ofType("lines").flatMap(({ data }) => data.map(({ content }: { content: string }) => content)),
    ).to.deep.equal(["lines 14-15 lost", "line 16", "line 17"]);
    const tail = await open("?tail=2");
    await tail.next("historyDone");
    expect(numbers(tail)).to.deep.equal([16, 17]);
    await end(17);
    await tail.next("ended");
    expect((await open("", { "last-event-id": "17" })).status).to.equal(204);
    const rest = await open("", { "last-event-id": "16" });
    await rest.next("ended");
    expect(numbers(rest)).to.deep.equal([17]);
  });

  it("keeps to its filters, and refuses what a stream has not", async () => {
    await append([line(1), line(2, { stream: "stderr" }), line(3, { level: "error" }), line(4)]);
    const stderr = await open("?stream=stderr");
    const errors = await open("?level=error,fatal");
    await end(4);
    await Promise.all([stderr.next("ended"), errors.next("ended")]);
    expect(numbers(stderr)).to.deep.equal([2]);
    expect(numbers(errors)).to.deep.equal([3]);
    for (const query of ["?to=3", "?around=2", "?before=2"]) expect((await open(query)).status, query).to.equal(400);
    expect((await open("", { "last-event-id": "x" })).status).to.equal(400);
    expect((await open("", { accept: "text/html" })).status).to.equal(406);
    expect((await open("", { accept: "*/*" })).response.headers["content-type"]).to.include("application/json");
  });

  it("ends for a caller who has lost the right to it", async () => {
    await append(lines(1, 2));
    const user = await edge.userWithRole("viewer");
    const stream = await open("", { authorization: `Bearer ${user.token}` });
    await stream.next("historyDone");
    changeStoredUser(edge.storePath, user.name, { disabled: true });
    await stream.ended;
    expect(stream.ofType("ended")).to.have.length(0);
    expect((await open("", { authorization: `Bearer ${user.token}` })).status).to.equal(401);
  });
});
