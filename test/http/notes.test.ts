import { expect } from "chai";
import type { StepState } from "../../actors/step/state.ts";
import { countRuns } from "../../src/app/statistics/count-runs.ts";
import { newId, type PipelineId, type StepRunId } from "../../src/domain/ids.ts";
import type { Annotation } from "../../src/domain/notes/notes.ts";
import { putNotes } from "../../src/gateway/step-notes.ts";
import type { NoteStore } from "../../src/stores/ports/outputs.ts";
import { LargeRun } from "../support/large-runs.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";
import { planOf } from "../support/plans.ts";
import { storeEnded } from "../support/stored-large-runs.ts";
import { GRANT, saveTurn, type StoredRun, storeRun } from "../support/stored-runs.ts";

const annotation = (change: Partial<Annotation> = {}): Annotation => ({
  level: "error",
  file: "src/a.c",
  line: 3,
  endLine: 0,
  column: 0,
  endColumn: 0,
  title: "",
  message: "bad",
  logLine: 9,
  ...change,
});

describe("the notes of a run over HTTP", () => {
  let edge: TestEdge;
  let run: StoredRun;
  let steps: StepRunId[];
  before(async () => (edge = await openTestEdge()));
  after(() => edge.close());
  beforeEach(async () => {
    run = await storeRun(
      edge.context,
      planOf([[{ steps: [{ name: "lint", hasTests: true }, { name: "test" }, { name: "pack" }] }]]),
    );
    steps = [...run.stepIds[0]!];
    await saveTurn(edge.context, run, {
      steps: steps.map((stepRunId) => ({ stepRunId, state: "success", grant: GRANT, endedAt: 1 })),
    });
  });

  const put = (
    step: number,
    list: readonly Annotation[],
    markdown = "",
    token: number = GRANT.token,
    store: Pick<NoteStore, "put"> = edge.context.stores.notes,
  ) =>
    putNotes(
      store,
      { runId: run.runId, stepRunId: steps[step]!, token },
      { annotations: { list, leftOut: 0 }, summary: markdown === "" ? null : { markdown, isCut: false }, tests: null },
    );
  const call = (rest: string) => edge.call("GET", `/api/v1/pipelines/runs/${run.runId}/${rest}`);
  async function read(rest: string) {
    const { status, body } = await call(rest);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body.detail;
  }
  const namesOf = (page: { list: { step: { step: string } }[] }) => page.list.map(({ step }) => step.step);

  it("are annotations by step, with null for what the step did not say", async () => {
    await put(1, [annotation(), annotation({ level: "notice", file: "", line: 0, message: "n" })]);
    const page = await read("annotations");
    expect(page).to.deep.equal({
      list: [
        {
          step: { stepRunId: steps[1], jobId: run.jobIds[0], job: page.list[0].step.job, step: "test", attempt: 1 },
          annotations: [
            {
              level: "error",
              file: "src/a.c",
              line: 3,
              endLine: null,
              column: null,
              endColumn: null,
              title: "",
              message: "bad",
              logLine: 9,
            },
            {
              level: "notice",
              file: null,
              line: null,
              endLine: null,
              column: null,
              endColumn: null,
              title: "",
              message: "n",
              logLine: 9,
            },
          ],
          leftOut: 0,
        },
      ],
      next: null,
    });
  });

  it("are read page by page in the order of the plan, and of one step", async () => {
    for (const step of [2, 0, 1]) await put(step, [annotation()]);
    const first = await read("annotations?limit=2");
    expect(namesOf(first)).to.deep.equal(["lint", "test"]);
    const second = await read(`annotations?limit=2&after=${first.next}`);
    expect([namesOf(second), second.next]).to.deep.equal([["pack"], null]);
    expect(namesOf(await read(`annotations?stepRunId=${steps[1]}`))).to.deep.equal(["test"]);
    expect((await call("annotations?after=nowhere")).status).to.equal(400);
    expect((await call("annotations?stepRunId=nowhere")).status).to.equal(404);
  });

  it("of an agent that no longer holds the step are not shown", async () => {
    await put(0, [annotation()], "# stale", GRANT.token + 1);
    expect((await read("annotations")).list).to.deep.equal([]);
    expect((await read("summaries")).list).to.deep.equal([]);
  });

  it("are summaries as they were written, and as safe HTML", async () => {
    await put(0, [], "# Done <script>alert(1)</script>");
    const { list } = await read("summaries");
    expect(list).to.have.length(1);
    expect(list[0]).to.deep.include({
      markdown: "# Done <script>alert(1)</script>",
      html: "<h1>Done &lt;script&gt;alert(1)&lt;/script&gt;</h1>\n",
      isCut: false,
    });
  });

  it("beyond the bound of a run are only counted, or marked as cut", async () => {
    const { notes } = edge.context.stores;
    const full: Pick<NoteStore, "put"> = {
      put: (note, runBytes) => (Number.isFinite(runBytes) ? Promise.resolve("full") : notes.put(note, runBytes)),
    };
    await put(1, [annotation(), annotation()], "# Done", GRANT.token, full);
    expect((await read("annotations")).list[0]).to.deep.include({ annotations: [], leftOut: 2 });
    expect((await read("summaries")).list[0]).to.deep.include({ markdown: "", isCut: true });
  });

  it("are test reports, counted for the run and by step, and cases that are filtered and read page by page", async () => {
    const { notes } = edge.context.stores;
    const counts = { total: 3, failed: 1, skipped: 0, flaky: 1, durationMs: 30 };
    const testCase = { suite: "s", file: "", line: 0, outcome: "passed", isFlaky: false, durationMs: 10, message: "" };
    const cases = [
      { ...testCase, name: "bad", outcome: "failed", message: "no", file: "a.js", line: 3 },
      { ...testCase, name: "again", isFlaky: true },
      { ...testCase, name: "good", durationMs: 20 },
    ];
    for (const step of [0, 1]) {
      const key = { runId: run.runId, stepRunId: steps[step]!, token: GRANT.token, part: 0 };
      await notes.put({ ...key, kind: "cases", body: JSON.stringify(cases) }, 1_000_000);
      const tests = { ...counts, kept: 3, problems: step === 0 ? [] : ["no file matches"] };
      await putNotes(notes, key, { annotations: { list: [], leftOut: 0 }, summary: null, tests });
    }
    const reports = await read("test-reports?limit=1");
    expect(reports.tests).to.deep.equal({ total: 6, failed: 2, skipped: 0, flaky: 2, durationMs: 60 });
    expect(reports.list[0]).to.deep.include({ ...counts, kept: 3, problems: [] });
    expect((await read(`test-reports?after=${reports.next}`)).list[0].problems).to.deep.equal(["no file matches"]);
    await notes.put(
      { runId: run.runId, kind: "tests", stepRunId: steps[2]!, token: GRANT.token + 1, part: 0, body: "{}" },
      1_000,
    );
    const { tests, jobs } = (await edge.call("GET", `/api/v1/pipelines/runs/${run.runId}`)).body.detail;
    expect([tests, jobs[0].tests]).to.deep.equal([reports.tests, reports.tests]);
    const names = async (query: string) =>
      (await read(`test-cases${query}`)).list.map((one: { name: string }) => one.name);
    expect(await names("")).to.deep.equal(["bad", "again", "good", "bad", "again", "good"]);
    expect(await names("?filter=failed")).to.deep.equal(["bad", "bad"]);
    expect(await names(`?filter=flaky&stepRunId=${steps[1]}`)).to.deep.equal(["again"]);
    expect(await names("?filter=slowest&limit=2")).to.deep.equal(["good", "good"]);
    const first = await read("test-cases?limit=4");
    expect(await names(`?limit=4&after=${first.next}`)).to.deep.equal(["again", "good"]);
    expect(first.list[0]).to.deep.include({ file: "a.js", line: 3, outcome: "failed", message: "no" });
    expect((await call("test-cases?after=x")).status).to.equal(400);
  });

  it("make, once their runs have ended, lists of the flaky, the failing and the slowest tests of the pipeline", async () => {
    const created = await edge.call("POST", "/api/v1/pipelines", { body: { name: newId("pl") } });
    const pipelineId: PipelineId = created.body.detail.pipelineId;
    const tests = `/api/v1/pipelines/${pipelineId}/tests`;
    const planned = { ...planOf([[{ name: "unit", steps: [{ name: "test", hasTests: true }] }]]), pipelineId };
    const { stores } = edge.context;
    const testCase = (name: string, outcome: string, durationMs: number) => {
      return { suite: "s", name, file: "a.js", line: 3, outcome, isFlaky: false, durationMs, message: "" };
    };
    let at = 0;
    async function ended(...cases: ReturnType<typeof testCase>[]) {
      const run = new LargeRun(planned, undefined, undefined, newId("run"));
      run.pass(++at * 100);
      run.claim(run.jobs("queued"));
      run.finish();
      const step = run.snapshot.actors.find(({ kind }) => kind === "step")!.state as StepState;
      const key = { runId: run.runId, stepRunId: step.stepRunId, token: step.grant!.token, kind: "cases" } as const;
      for (const [part, one] of cases.entries())
        await stores.notes.put({ ...key, part, body: JSON.stringify([one]) }, 10_000);
      return storeEnded(stores, run, planned);
    }
    const counting = async (context = edge.context) => {
      for await (const _ of countRuns(context, 10));
    };
    const read = async (query = "") => (await edge.call("GET", `${tests}${query}`)).body.detail;
    const first = await ended(testCase("again", "failed", 20), testCase("bad", "failed", 10));
    const killed = { ...stores.statistics, add: () => Promise.reject(new Error("killed")) };
    const failure = await counting({ ...edge.context, stores: { ...stores, statistics: killed } }).catch(String);
    expect(failure, "recorded and not yet counted").to.equal("Error: killed");
    const second = await ended(testCase("again", "passed", 40), testCase("bad", "failed", 10));
    await Promise.all([counting(), counting()]);
    await counting();

    const { list, next } = await read();
    expect(next).to.equal(null);
    const { results, lastSeenAt, ...again } = list[0];
    expect(again).to.deep.equal({
      job: "unit",
      step: "test",
      suite: "s",
      name: "again",
      file: "a.js",
      line: 3,
      runs: 2,
      failed: 1,
      flaky: 1,
      failing: 0,
      durationMs: 30,
    });
    expect(lastSeenAt).to.equal(results[0].at);
    expect(results.map((one: { runId: string; isFlaky: boolean }) => [one.runId, one.isFlaky])).to.deep.equal([
      [second, true],
      [first, false],
    ]);
    const names = (page: { list: { name: string }[] }) => page.list.map(({ name }) => name);
    const failing = await read("?filter=failing");
    expect([names(failing), failing.list[0].failing]).to.deep.equal([["bad"], 2]);
    const slowest = await read("?filter=slowest&limit=1");
    expect(names(slowest)).to.deep.equal(["again"]);
    expect(names(await read(`?filter=slowest&after=${slowest.next}`))).to.deep.equal(["bad"]);
    expect((await edge.call("GET", `${tests}?after=x`)).status).to.equal(400);
    await edge.call("DELETE", `/api/v1/pipelines/${pipelineId}`);
    expect(await stores.testHistories.list(pipelineId, { order: "slowest", limit: 1 })).to.deep.equal([]);
  });
});
