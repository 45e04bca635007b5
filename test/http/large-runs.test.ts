import { expect } from "chai";
import { getRun } from "../../src/app/runs/run-detail.ts";
import { newId, type PipelineId, type RunId } from "../../src/domain/ids.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";
import { CountedLoads, storeWideRun } from "../support/stored-large-runs.ts";

const JOBS = 3_000;
const CALLERS = 50;

describe("a run of thousands of jobs over HTTP", () => {
  let edge: TestEdge;
  let loads: CountedLoads;
  let runId: RunId;
  let pipelineId: PipelineId;
  before(async () => {
    edge = await openTestEdge();
    const created = await edge.call("POST", "/api/v1/pipelines", { body: { name: newId("pl") } });
    pipelineId = created.body.detail.pipelineId;
    runId = await storeWideRun(edge.context.stores, JOBS, pipelineId);
    loads = new CountedLoads(edge.context.stores);
  });
  after(() => edge.close());

  const read = (query = "", token?: string) =>
    edge.call("GET", `/api/v1/pipelines/runs/${runId}${query}`, token === undefined ? {} : { token });

  it("is answered as a small run is", async () => {
    const caller = { kind: "user", userId: newId("usr"), name: "ann", role: "viewer", scopes: [] } as const;
    const whole = await getRun(edge.context, caller, { runId, allAttempts: false });
    const { status, headers, body } = await read();
    expect(status).to.equal(200);
    expect(headers.get("content-type")).to.equal("application/json; charset=utf-8");
    const { detail, timestamp, ...envelope } = body;
    expect(envelope).to.deep.equal({ code: 0, msg: "success" });
    expect(timestamp).to.be.closeTo(Date.now() / 1_000, 60);
    expect(detail).to.deep.equal(JSON.parse(JSON.stringify(whole)));
    expect(detail.jobs).to.have.length(JOBS);
    const page = await read("?jobs=11..12&attempts=all");
    expect(page.body.detail.jobs).to.deep.equal(detail.jobs.slice(10, 12));
    expect((await read("?jobs=none")).body.detail.jobs).to.deep.equal([]);
    expect((await read("?jobs=job_unknown")).body).to.include({ code: 404, reason: "not_found" });
    const other = await edge.call("GET", `/api/v1/pipelines/${newId("pl")}/runs/${runId}`);
    expect(other.body).to.include({ code: 404, reason: "not_found" });
    const own = await edge.call("GET", `/api/v1/pipelines/${pipelineId}/runs/${runId}?jobs=1..1`);
    expect(own.body.detail.jobs).to.deep.equal(detail.jobs.slice(0, 1));
  });

  it("shows a page without a load of the whole run", async () => {
    loads.hold();
    const { jobs, jobCount } = (await read("?jobs=11..12")).body.detail;
    expect(jobs.map(({ name }: { name: string }) => name)).to.deep.equal(["job-10", "job-11"]);
    expect([jobCount, loads.loads]).to.deep.equal([JOBS, 0]);
  });

  it("is read from the store once for many callers at the same moment", async () => {
    loads.hold();
    const tokens = await Promise.all([1, 2, 3].map(async () => (await edge.userWithRole("viewer")).token));
    const calls = Array.from({ length: CALLERS }, (_, at) => read("", tokens[at % 3]));
    await loads.releaseAfter(CALLERS);
    const answers = await Promise.all(calls);
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.detail.jobs.length}`))).to.deep.equal(
      new Set([`200 ${JOBS}`]),
    );
    expect(loads.loads).to.equal(1);
  });

  it("is read from the store once for views that are asked for at the same moment", async () => {
    loads.hold();
    const calls = ["", "?attempts=all", "?jobs=1..50", "?jobs=none"].map((query) => read(query));
    await loads.releaseAfter(4);
    const counts = await Promise.all(calls.map(async (call) => (await call).body.detail.jobs.length));
    expect(counts).to.deep.equal([JOBS, JOBS, 50, 0]);
    expect(loads.loads).to.equal(1);
  });

  it("is refused to a user who has four answers in hand, and to no other user", async () => {
    const { token } = await edge.userWithRole("viewer");
    loads.hold();
    const calls = [1, 2, 3, 4].map((first) => read(`?jobs=${first}..${JOBS}`, token));
    const all = loads.releaseAfter(7);
    const refused = (async () => {
      for (;;) {
        if (edge.context.largeReads!.count === 4) return read(`?jobs=5..${JOBS}`, token);
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    const { status, headers, body } = await refused;
    expect([status, body.reason, headers.get("retry-after")]).to.deep.equal([429, "too_many", "1"]);
    expect(body.errMsg).to.include("jobs=1..50");
    const other = read(`?jobs=5..${JOBS}`);
    const page = read("?jobs=1..50", token);
    await all;
    expect((await other).status).to.equal(200);
    expect((await page).status, "a page is small").to.equal(200);
    expect((await Promise.all(calls)).map((answer) => answer.status)).to.deep.equal([200, 200, 200, 200]);
    for (let turn = 0; edge.context.largeReads!.count > 0; turn++) {
      expect(turn, "answers that are taken count no more").to.be.below(1_000);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  });

  it("keeps no room for callers who have hung up", async () => {
    loads.hold();
    const controllers = Array.from({ length: 4 }, () => new AbortController());
    const { token } = await edge.userWithRole("viewer");
    const calls = controllers.map(({ signal }, at) =>
      fetch(`${edge.origin}/api/v1/pipelines/runs/${runId}?jobs=${at + 1}..${JOBS}`, {
        headers: { authorization: `Bearer ${token}` },
        signal,
      }).catch((error: Error) => error.name),
    );
    const released = loads.releaseAfter(5);
    while (edge.context.largeReads!.count < 4) await new Promise((resolve) => setImmediate(resolve));
    for (const controller of controllers) controller.abort();
    expect(await Promise.all(calls)).to.deep.equal(["AbortError", "AbortError", "AbortError", "AbortError"]);
    const next = read(`?jobs=9..${JOBS}`, token);
    await released;
    // The server may learn late that the others are gone.
    let { status } = await next;
    for (let turn = 0; status === 429 && turn < 100; turn++) ({ status } = await read(`?jobs=9..${JOBS}`, token));
    expect(status).to.equal(200);
  });
});
