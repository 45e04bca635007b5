import { expect } from "chai";
import { inflateRawSync } from "node:zlib";
import type { StepRunId } from "../../src/domain/ids.ts";
import type { LogLine } from "../../src/stores/ports/logs.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";
import { planOf } from "../support/plans.ts";
import { AGENT_ID, GRANT, saveTurn, type StoredRun, storeRun } from "../support/stored-runs.ts";

const line = (number: number, change: Partial<LogLine> = {}): LogLine => ({
  line: number,
  timeMs: 1_700_000_000_000 + number,
  stream: "stdout",
  level: "info",
  content: `line ${number}`,
  lost: 0,
  ...change,
});
const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, at) => first + at);

describe("the log of a step over HTTP", () => {
  let edge: TestEdge;
  let run: StoredRun;
  let step: StepRunId;
  before(async () => (edge = await openTestEdge()));
  after(() => edge.close());
  beforeEach(async () => {
    run = await storeRun(edge.context, planOf([[{ steps: [{ name: "unit/../test" }, {}] }]]));
    step = run.stepIds[0]![0]!;
    await saveTurn(edge.context, run, { steps: [{ stepRunId: step, state: "running", grant: GRANT }] });
  });

  const path = (rest = "") => `/api/v1/pipelines/${run.pipelineId}/runs/${run.runId}/steps/${step}/logs${rest}`;
  const append = (lines: readonly LogLine[], stepRunId = step) =>
    edge.context.stores.logs.append({ stepRunId, agentId: AGENT_ID, lines });
  const end = (lastLine: number) =>
    saveTurn(edge.context, run, { steps: [{ stepRunId: step, state: "success", lastLine, endedAt: Date.now() }] });
  async function read(query: string) {
    const { status, body } = await edge.call("GET", path(query));
    expect(status, JSON.stringify(body)).to.equal(200);
    return body.detail;
  }
  const numbers = (page: { list: { line_number: number }[] }) => page.list.map((entry) => entry.line_number);
  async function bytesOf(target: string, headers: Record<string, string> = {}) {
    const response = await fetch(edge.origin + target, {
      headers: { authorization: `Bearer ${edge.adminToken}`, ...headers },
    });
    return { response, bytes: Buffer.from(await response.arrayBuffer()) };
  }

  it("is read from a line on, and tells what is stored and what follows", async () => {
    await append(range(1, 300).map((number) => line(number)));
    const first = await read("?limit=120");
    expect(numbers(first)).to.deep.equal(range(1, 120));
    expect(first).to.deep.include({ lines: 300, lastLine: null, isComplete: false, previous: null, next: 121 });
    expect(first.list[0]).to.deep.equal({
      step_run_id: step,
      timestamp: 1_700_000_000,
      line_number: 1,
      level: "info",
      content: "line 1",
      stream: "stdout",
      plugin_name: "shell",
      agent_id: AGENT_ID,
    });
    const part = await read("?from=121&to=125");
    expect(numbers(part)).to.deep.equal(range(121, 125));
    expect(part).to.deep.include({ previous: 121, next: null });
    await end(300);
    expect(await read("?from=290&limit=1000")).to.deep.include({ isComplete: true, lastLine: 300, next: null });
    expect(numbers(await read("?from=301"))).to.deep.equal([]);
  });

  it("is read from its end backward, and around a line", async () => {
    await append(range(1, 700).map((number) => line(number)));
    await append(range(701, 1_000).map((number) => line(number)));
    const last = await read("?tail=450");
    expect(numbers(last)).to.deep.equal(range(551, 1_000));
    expect(last).to.deep.include({ previous: 551, next: null });
    const earlier = await read(`?tail=1000&before=${last.previous}`);
    expect(numbers(earlier)).to.deep.equal(range(1, 550));
    expect(earlier).to.deep.include({ previous: null, next: 551 });
    expect(numbers(await read("?around=500&limit=5"))).to.deep.equal(range(498, 502));
    expect(numbers(await read("?around=1&limit=4"))).to.deep.equal(range(1, 4));
  });

  it("is filtered by level and stream, in both directions", async () => {
    const lines = range(1, 900).map((number) =>
      line(number, {
        stream: number % 300 === 0 ? "stderr" : "stdout",
        level: number === 600 ? "error" : number === 601 ? "warn" : "info",
      }),
    );
    await append(lines);
    expect(numbers(await read("?stream=stderr"))).to.deep.equal([300, 600, 900]);
    expect(numbers(await read("?stream=stderr&limit=2"))).to.deep.equal([300, 600]);
    expect(numbers(await read("?level=error,warn"))).to.deep.equal([600, 601]);
    const newest = await read("?stream=stderr&tail=2");
    expect(numbers(newest)).to.deep.equal([600, 900]);
    expect(numbers(await read(`?stream=stderr&tail=2&before=${newest.previous}`))).to.deep.equal([300]);
  });

  it("shows lost lines as one entry, however many they are", async () => {
    await append([line(1), line(2, { lost: 5_000_000, content: "", level: "warn" })]);
    await append([line(5_000_002)]);
    const whole = await read("");
    expect(numbers(whole)).to.deep.equal([1, 2, 5_000_002]);
    expect(whole.list[1].content).to.equal("lines 2-5000001 lost");
    expect(numbers(await read("?tail=3"))).to.deep.equal([1, 2, 5_000_002]);
    expect(numbers(await read("?tail=2&before=4000000"))).to.deep.equal([1, 2]);
  });

  it("answers no more than a call may cost, and says where to go on", async () => {
    const long = "x".repeat(16_000);
    for (let first = 1; first <= 400; first += 50) {
      await append(range(first, first + 49).map((number) => line(number, { content: long })));
    }
    const page = await read("?limit=1000");
    expect(page.list.length).to.be.within(60, 200);
    expect(page.next).to.equal(page.list.length + 1);
    const tail = await read("?tail=1000");
    expect(tail.list.length).to.be.within(60, 399);
    expect(tail.previous).to.equal(401 - tail.list.length);
  });

  it("refuses what asks for two ways at once, and what is not there", async () => {
    for (const query of ["?from=1&tail=2", "?around=1&to=3", "?from=5&to=4", "?limit=1001", "?stream=out", "?level="]) {
      expect((await edge.call("GET", path(query))).status, query).to.equal(400);
    }
    const other = await storeRun(edge.context, planOf([[{}]]));
    const [foreign] = other.stepIds[0]!;
    expect((await edge.call("GET", path().replace(step, foreign!))).status).to.equal(404);
    expect((await edge.call("GET", path().replace(run.pipelineId, "pl_other"))).status).to.equal(404);
    await edge.context.stores.retention.dropLogs(run.runId, [step]);
    const gone = await edge.call("GET", path());
    expect(gone.status).to.equal(404);
    expect(gone.body.errMsg).to.include("was removed");
  });

  it("is downloaded as text, in gzip for those who accept it", async () => {
    const contents = ["plain", "", "\u001B[31mred\u001B[0m", "50 %\r100 %", "<script>alert(1)</script>", "äöü😀"];
    await append(contents.map((content, at) => line(at + 1, { content })));
    await append([line(7, { lost: 3, content: "" }), line(10, { stream: "stderr" })]);
    const { response, bytes } = await bytesOf(path("/text"), { "accept-encoding": "identity" });
    expect(bytes.toString()).to.equal(`${contents.join("\n")}\n[lines 7-9 lost]\nline 10\n`);
    expect(response.headers.get("content-type")).to.include("text/plain");
    expect(response.headers.get("content-disposition")).to.include(`attachment; filename="${step}.log"`);
    const packed = await bytesOf(path("/text"), { "accept-encoding": "gzip" });
    expect(packed.response.headers.get("content-encoding")).to.equal("gzip");
    expect(packed.bytes.equals(bytes)).to.equal(true);
    const timed = await bytesOf(path("/text?timestamps=true&stream=stderr"));
    expect(timed.bytes.toString()).to.equal("2023-11-14T22:13:20.010Z line 10\n");
  });

  it("is downloaded with the lines that arrive after the end of the step, and says which have not come", async () => {
    await end(4);
    const begun = bytesOf(path("/text"));
    await append([line(1), line(2)]);
    const { bytes } = await begun;
    expect(bytes.toString()).to.equal("line 1\nline 2\n[lines 3-4 have not arrived yet]\n");
    expect(await read("?limit=1")).to.include({ lines: 2, lastLine: 4, isComplete: false });
    const archived = bytesOf(`/api/v1/pipelines/${run.pipelineId}/runs/${run.runId}/logs/archive`);
    await append([line(3), line(4)]);
    const [file] = [...unzip((await archived).bytes).values()];
    expect(file).to.match(/line 4\n$/);
    expect((await bytesOf(path("/text"))).bytes.toString()).to.equal("line 1\nline 2\nline 3\nline 4\n");
  });

  it("is opened by a ticket as lines, as text and in the archive, once each", async () => {
    await append([line(1)]);
    await end(1);
    const withTicket = async (target: string): Promise<readonly [number, Buffer]> => {
      const { ticket } = (await edge.call("POST", "/api/v1/auth/tickets")).body.detail;
      const open = () => fetch(`${edge.origin}${target}?ticket=${ticket}`);
      const response = await open();
      expect((await open()).status, `${target}, again`).to.equal(401);
      return [response.status, Buffer.from(await response.arrayBuffer())];
    };
    const [, text] = await withTicket(path("/text"));
    expect(text.toString()).to.equal("line 1\n");
    const [status, page] = await withTicket(path());
    expect([status, JSON.parse(page.toString()).detail.list.length]).to.deep.equal([200, 1]);
    const [, archive] = await withTicket(`/api/v1/pipelines/${run.pipelineId}/runs/${run.runId}/logs/archive`);
    expect([...unzip(archive).values()].join("")).to.include("line 1");
  });

  it("is in the archive of its run, with a path that every system takes", async () => {
    await append(
      range(1, 2_500)
        .map((number) => line(number))
        .slice(0, 1_000),
    );
    await append(range(1_001, 2_500).map((number) => line(number)));
    const second = run.stepIds[0]![1]!;
    await saveTurn(edge.context, run, { steps: [{ stepRunId: second, state: "running", grant: GRANT }] });
    const { response, bytes } = await bytesOf(`/api/v1/pipelines/${run.pipelineId}/runs/${run.runId}/logs/archive`);
    expect(response.headers.get("content-type")).to.equal("application/zip");
    const files = unzip(bytes);
    expect([...files.keys()]).to.deep.equal([
      "01-stage-0/01-job-0/01-unit_test.log",
      "01-stage-0/01-job-0/02-step-1.log",
    ]);
    const expected = range(1, 2_500).map(
      (number) => `${new Date(1_700_000_000_000 + number).toISOString()} line ${number}\n`,
    );
    expect(files.get("01-stage-0/01-job-0/01-unit_test.log")).to.equal(expected.join(""));
    expect(files.get("01-stage-0/01-job-0/02-step-1.log")).to.equal("");
  });
});

/** The files of an archive by its central directory. Source: APPNOTE.TXT 6.3.10, section 4.3.12. */
function unzip(bytes: Buffer): Map<string, string> {
  const end = bytes.length - 22;
  expect(bytes.readUInt32LE(end)).to.equal(0x0605_4b50);
  const files = new Map<string, string>();
  let at = bytes.readUInt32LE(end + 16);
  for (let left = bytes.readUInt16LE(end + 10); left > 0; left--) {
    expect(bytes.readUInt32LE(at)).to.equal(0x0201_4b50);
    const [packed, size, nameLength, extraLength] = [20, 24]
      .map((field) => bytes.readUInt32LE(at + field))
      .concat([28, 30].map((field) => bytes.readUInt16LE(at + field))) as [number, number, number, number];
    const name = bytes.toString("utf8", at + 46, at + 46 + nameLength);
    const local = bytes.readUInt32LE(at + 42);
    const begin = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
    const content = inflateRawSync(bytes.subarray(begin, begin + packed));
    expect(content.length).to.equal(size);
    files.set(name, content.toString());
    at += 46 + nameLength + extraLength;
  }
  expect(at).to.equal(end);
  return files;
}
