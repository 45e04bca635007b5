/** Searches in logs. */
import { expect } from "chai";
import { asId, type PipelineId, type StepRunId } from "../../src/domain/ids.ts";
import type { LogLine } from "../../src/stores/ports/logs.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";
import { pipelineRecord } from "../support/pipelines.ts";
import { planOf } from "../support/plans.ts";
import { AGENT_ID, GRANT, saveTurn, type StoredRun, storeRun } from "../support/stored-runs.ts";

const line = (number: number, content: string, change: Partial<LogLine> = {}): LogLine => ({
  line: number,
  timeMs: 1_700_000_000_000 + number,
  stream: "stdout",
  level: "info",
  content,
  lost: 0,
  ...change,
});

interface Match {
  readonly runId: string;
  readonly stepRunId: string;
  readonly entry: { readonly line_number: number; readonly content: string };
  readonly ranges: readonly { readonly from: number; readonly to: number }[];
  readonly before: readonly { readonly line_number: number }[];
  readonly after: readonly { readonly line_number: number }[];
}

const pipelineId = asId<PipelineId>("pl_SEARCHED");

describe("a search in logs", () => {
  let edge: TestEdge;
  let run: StoredRun;
  let steps: readonly StepRunId[];
  before(async () => {
    edge = await openTestEdge();
    await edge.context.stores.pipelines.create(pipelineRecord(pipelineId));
  });
  after(() => edge.close());
  beforeEach(async () => {
    run = await storeRun(edge.context, plan(3));
    steps = run.stepIds[0]!;
    await grant(run);
  });

  const plan = (count: number) => ({ ...planOf([[{ steps: count }]]), pipelineId });
  const grant = (of: StoredRun) =>
    saveTurn(edge.context, of, {
      steps: of.stepIds[0]!.map((stepRunId) => ({ stepRunId, state: "running", grant: GRANT })),
    });
  const append = (lines: readonly LogLine[], stepRunId = steps[0]!) =>
    edge.context.stores.logs.append({ stepRunId, agentId: AGENT_ID, lines });
  const inStep = () => `/pipelines/${run.pipelineId}/runs/${run.runId}/steps/${steps[0]}/logs/search`;
  const inRun = () => `/pipelines/${run.pipelineId}/runs/${run.runId}/logs/search`;
  const inPipeline = () => `/pipelines/${run.pipelineId}/logs/search`;
  const call = (path: string, query: Record<string, string>) =>
    edge.call("GET", `/api/v1${path}?${new URLSearchParams(query).toString()}`);
  async function search(path: string, query: Record<string, string>) {
    const { status, body } = await call(path, query);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body.detail as {
      readonly list: readonly Match[];
      readonly searchedLines: number;
      readonly next: string | null;
    };
  }
  /** Every match, by as many calls as it takes. */
  async function searchAll(path: string, query: Record<string, string>): Promise<readonly Match[]> {
    const list: Match[] = [];
    for (let after: string | null = ""; after !== null;) {
      const found: Awaited<ReturnType<typeof search>> = await search(path, {
        ...query,
        ...(after !== "" && { after }),
      });
      list.push(...found.list);
      after = found.next;
    }
    return list;
  }
  const numbers = (list: readonly Match[]) => list.map(({ entry }) => entry.line_number);

  it("finds a text as it stands, with its places and the lines around it", async () => {
    const contents = ["a.c", "abc", "x a.c a.c", "A.C", "", "äöü😀a.c", "(a|b)*", "[a.c"];
    await append(contents.map((content, at) => line(at + 1, content)));
    const { list, next, searchedLines } = await search(inStep(), { q: "a.c", context: "1" });
    expect(numbers(list)).to.deep.equal([1, 3, 6, 8]);
    expect([next, searchedLines]).to.deep.equal([null, 8]);
    expect(list[1]!.ranges).to.deep.equal([
      { from: 2, to: 5 },
      { from: 6, to: 9 },
    ]);
    expect(list[1]!.entry).to.deep.include({ step_run_id: steps[0], agent_id: AGENT_ID, plugin_name: "shell" });
    expect(
      list.map((match) => [match.before, match.after].map((part) => part.map((one) => one.line_number))),
    ).to.deep.equal([
      [[], [2]],
      [[2], [4]],
      [[5], [7]],
      [[7], []],
    ]);
    expect(numbers((await search(inStep(), { q: "a.c", ignoreCase: "true" })).list)).to.deep.equal([1, 3, 4, 6, 8]);
    expect(numbers((await search(inStep(), { q: "(a|b)*" })).list)).to.deep.equal([7]);
  });

  it("finds patterns, by level and stream, and says what is wrong with one", async () => {
    await append([
      line(1, "error TS2304: no name"),
      line(2, "error TS99: no", { stream: "stderr" }),
      line(3, "ERROR ts1: no", { level: "error" }),
      line(4, "fine"),
    ]);
    const pattern = { q: String.raw`error TS\d+:`, pattern: "true" };
    const { list } = await search(inStep(), pattern);
    expect(numbers(list)).to.deep.equal([1, 2]);
    expect(list[0]!.ranges).to.deep.equal([{ from: 0, to: 13 }]);
    expect(numbers((await search(inStep(), { ...pattern, ignoreCase: "true" })).list)).to.deep.equal([1, 2, 3]);
    expect(numbers((await search(inStep(), { ...pattern, stream: "stderr" })).list)).to.deep.equal([2]);
    expect(numbers((await search(inStep(), { ...pattern, ignoreCase: "true", level: "error" })).list)).to.deep.equal([
      3,
    ]);
    for (const q of ["(", "(a", "[b-a]", "a**", String.raw`(a)\1`, "(?=a)", "((a{1,30}){1,30}){1,30}", "a{5000}"]) {
      const { status, body } = await call(inStep(), { q, pattern: "true" });
      expect(status, q).to.equal(400);
      expect(body.errMsg, q).to.include("/q ");
    }
  });

  it("answers patterns that make a backtracking engine hang, while the server serves others", async () => {
    await append(Array.from({ length: 60 }, (_, at) => line(at + 1, `${"a".repeat(16_000)}!`)));
    for (const q of ["(a+)+$", "(a|aa)*b", "(a|a?)+b", "^(([a-z])+.)+[A-Z]([a-z])+$", "(.*)*x"]) {
      const searching = search(inStep(), { q, pattern: "true" });
      const startedAt = performance.now();
      expect((await edge.call("GET", "/healthz", { token: null })).status).to.equal(200);
      expect(performance.now() - startedAt).to.be.below(1_000);
      expect((await searching).list, q).to.deep.equal([]);
    }
  });

  it("goes on at its cursor, over gaps, and then has found what one whole search finds", async () => {
    await append(Array.from({ length: 700 }, (_, at) => line(at + 1, at % 7 === 0 ? "hit" : "no")));
    await append([line(701, "", { lost: 100_000, level: "warn" })]);
    await append(Array.from({ length: 50 }, (_, at) => line(100_701 + at, at % 5 === 0 ? "hit" : "no")));
    const query = { q: "hit", context: "3", limit: "200" };
    const whole = await search(inStep(), query);
    expect(whole.list).to.have.length(110);
    expect(whole.next).to.equal(null);
    expect(whole.list.at(100)!.before.map((one) => one.line_number)).to.deep.equal([701]);
    for (const limit of ["9", "109", "110"]) {
      expect(await searchAll(inStep(), { ...query, limit }), limit).to.deep.equal(whole.list);
    }
    expect((await call(inStep(), { q: "x", after: "never" })).status).to.equal(400);
    expect((await call(inStep(), { q: "x", context: "11" })).status).to.equal(400);
  });

  it("searches the steps of a run in the order of the plan, and the runs of a pipeline from the newest on", async () => {
    for (const [at, step] of steps.entries())
      await append([line(1, "one"), line(2, `needle ${at}`), line(3, "needle")], step);
    const found = await searchAll(inRun(), { q: "needle", limit: "2" });
    expect(found.map(({ stepRunId, entry }) => [stepRunId, entry.content])).to.deep.equal(
      steps.flatMap((step, at) => [`needle ${at}`, "needle"].map((content) => [step, content])),
    );
    const newer = await storeRun(edge.context, plan(1));
    await grant(newer);
    await append([line(1, "needle in the newer run")], newer.stepIds[0]![0]!);
    for (const limit of ["1", "3", "200"]) {
      const all = await searchAll(inPipeline(), { q: "needle", limit });
      expect(all.map(({ runId }) => runId)).to.deep.equal([newer.runId, ...found.map(() => run.runId)]);
    }
    expect((await call("/pipelines/pl_other/logs/search", { q: "x" })).status).to.equal(404);
    await edge.context.stores.retention.dropLogs(run.runId, steps);
    expect((await call(inRun(), { q: "needle" })).status).to.equal(404);
    expect(await searchAll(inPipeline(), { q: "needle" })).to.have.length(1);
  });
});
