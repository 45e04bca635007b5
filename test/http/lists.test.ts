import { expect } from "chai";
import type { RunDetail, RunView } from "../../src/app/runs/run-view.ts";
import { newId, type PipelineId } from "../../src/domain/ids.ts";
import { countRuns } from "../../src/app/statistics/count-runs.ts";
import { LargeRun } from "../support/large-runs.ts";
import { storeEnded } from "../support/stored-large-runs.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";
import { MANUAL_ORIGIN, planOf } from "../support/plans.ts";
import { saveTurn, storeRun } from "../support/stored-runs.ts";

describe("lists over HTTP", () => {
  let edge: TestEdge;
  let pipelineId: PipelineId;
  before(async () => {
    edge = await openTestEdge();
    const created = await edge.call("POST", "/api/v1/pipelines", { body: { name: newId("pl") } });
    pipelineId = created.body.detail.pipelineId;
  });
  after(() => edge.close());

  const plan = () => ({ ...planOf([[{ name: "build" }]]), pipelineId });
  const newRun = () => storeRun(edge.context, plan());

  it("finds runs across pipelines by what callers ask for, page by page", async () => {
    const other = await edge.call("POST", "/api/v1/pipelines", { body: { name: newId("pl") } });
    const elsewhere = await storeRun(edge.context, { ...plan(), pipelineId: other.body.detail.pipelineId });
    const here = [await newRun(), await newRun()];
    await saveTurn(edge.context, here[0]!, { run: { state: "success", startedAt: 1, endedAt: 2 } });
    const find = async (query: string) => (await edge.call("GET", `/api/v1/runs?${query}`)).body;
    const idsOf = (list: readonly RunView[]) => list.map(({ runId }) => runId);
    const first = (await find("mine=true&limit=2")).detail;
    expect(idsOf(first.list)).to.deep.equal([here[1]!.runId, here[0]!.runId]);
    const second = (await find(`mine=true&limit=2&after=${first.next}`)).detail;
    expect(second.list[0].runId).to.equal(elsewhere.runId);
    const { createdAt } = second.list[0];
    const since = `from=${encodeURIComponent(createdAt)}`;
    expect(idsOf((await find(`${since}&status=success,failed`)).detail.list)).to.deep.equal([here[0]!.runId]);
    const ofOther = await find(`${since}&pipelineId=${other.body.detail.pipelineId}`);
    expect([idsOf(ofOther.detail.list), ofOther.detail.next]).to.deep.equal([[elsewhere.runId], null]);
    expect(idsOf((await find(`${since}&ref=main&trigger=manual&triggeredBy=admin`)).detail.list)).to.have.length(3);
    expect(idsOf((await find(`${since}&ref=other`)).detail.list)).to.have.length(0);
    const earlier = await find(`before=${encodeURIComponent(createdAt)}&limit=100`);
    expect(idsOf(earlier.detail.list)).not.to.include(elsewhere.runId);
    expect((await find("projectId=unknown")).detail).to.deep.equal({ list: [], next: null });
    expect((await find("status=success,lost")).reason).to.equal("malformed_request");
    expect((await find("from=yesterday")).reason).to.equal("malformed_request");
    expect((await find("mine=true&triggeredBy=ben")).reason).to.equal("malformed_request");
  });

  it("are answered as a whole unless pages are asked for, and then page by page", async () => {
    const made: string[] = [];
    for (let count = 0; count < 5; count++) {
      const { detail } = (await edge.call("POST", "/api/v1/projects", { body: { name: newId("prj") } })).body;
      made.push(detail.projectId);
    }
    const { tenantId } = (await edge.call("POST", "/api/v1/tenants", { body: { name: newId("tnt") } })).body.detail;
    for (const name of ["b", "a", "c"]) {
      await edge.call("POST", `/api/v1/tenants/${tenantId}/teams`, { body: { name } });
      await edge.call("POST", `/api/v1/tenants/${tenantId}/service-accounts`, { body: { name: newId("usr") } });
      await edge.call("POST", "/api/v1/users/me/tokens", { body: { name } });
    }
    for (const path of [
      "projects",
      "tenants",
      "users",
      "agents",
      `tenants/${tenantId}/teams`,
      "users/me/tokens",
    ].concat(`tenants/${tenantId}/members`, `tenants/${tenantId}/service-accounts`)) {
      const read = async (query: string) => (await edge.call("GET", `/api/v1/${path}${query}`)).body.detail;
      const whole = await read("");
      expect(whole, path).to.include({ total: whole.list.length, totalIsExact: true, next: null });
      const seen: unknown[] = [];
      for (let next = ""; ;) {
        const page = await read(`?pageSize=2${next}`);
        expect(page.total, path).to.equal(whole.total);
        seen.push(...page.list);
        if (page.next === null) break;
        next = `&after=${page.next}`;
      }
      expect(seen, path).to.deep.equal(whole.list);
      expect(await read("?unknown=1"), path).to.deep.equal(whole);
      if (path === "projects") expect(seen).to.have.length.at.least(5);
    }
    // A page goes on behind an item that is gone.
    const { next } = (await edge.call("GET", "/api/v1/projects?pageSize=3")).body.detail;
    await edge.call("DELETE", `/api/v1/projects/${made[1]}?force=true`);
    const { list } = (await edge.call("GET", `/api/v1/projects?pageSize=3&after=${next}`)).body.detail;
    expect(list[0].projectId).to.equal(made[2]);
    const bad = await edge.call("GET", "/api/v1/projects?after=nothing");
    expect(bad.body).to.include({ code: 400, reason: "malformed_request" });
  });

  it("of statistics tell how runs and jobs ended and what they waited for, and count each run once", async () => {
    const created = await edge.call("POST", "/api/v1/pipelines", { body: { name: newId("pl") } });
    const of: PipelineId = created.body.detail.pipelineId;
    const planned = {
      ...planOf([
        [
          { name: "build", baseName: "build" },
          { name: "test (v=1)", baseName: "test" },
          { name: "test (v=2)", baseName: "test" },
        ],
      ]),
      pipelineId: of,
    };
    const ids = [];
    for (const isGood of [true, false, true]) {
      const run = new LargeRun(planned, undefined, undefined, newId("run"));
      run.pass(100);
      run.claim(run.jobs("queued"));
      run.pass(1_000);
      run.finish(({ jobIndex }) => (isGood || jobIndex === 0 ? "succeeded" : "failed"));
      ids.push(await storeEnded(edge.context.stores, run, planned));
    }
    const endedAt = (await edge.context.stores.aggregates.loadHead(ids[0]!))!.summary.endedAt!;
    edge.skewMs = endedAt + 1_000 - Date.now();
    try {
      const counting = async () => {
        for await (const _ of countRuns(edge.context, 10));
      };
      await Promise.all([counting(), counting()]);
      await counting();
      const read = async (query = "") => (await edge.call("GET", `/api/v1/pipelines/${of}/statistics${query}`)).body;
      const { runs, jobs, to } = (await read()).detail;
      expect(to).to.equal(new Date(endedAt).toISOString().slice(0, 10));
      expect(runs).to.deep.include({ results: { success: 2, failed: 1, partial: 0, cancelled: 0 }, flaky: 1 });
      expect(runs.successRate).to.be.closeTo(2 / 3, 0.001);
      expect(jobs.map(({ name }: { name: string }) => name)).to.deep.equal(["build", "test"]);
      const [build, test] = jobs;
      expect(build).to.deep.include({ successRate: 1, flaky: 0 });
      expect(build.duration.count).to.equal(3);
      expect(build.duration.p50).to.be.closeTo(1_000, 50);
      expect(build.waits.agent.p95).to.be.closeTo(100, 5);
      expect(test.results).to.deep.equal({ success: 4, failed: 2, partial: 0, cancelled: 0 });
      expect(test.flaky).to.equal(1);
      expect((await read("?days=91")).reason).to.equal("malformed_request");
    } finally {
      edge.skewMs = 0;
    }
  });

  it("of a run's jobs say which condition let each run, and from which transition on a page can follow", async () => {
    const when = (folded: string) => ({ when: { written: `success() && ${folded}`, folded } });
    const planned = {
      ...planOf([[{ name: "a", ...when("true") }, { name: "b", ...when("false") }, { name: "c" }], [{ name: "d" }]]),
      pipelineId,
    };
    planned.stages = planned.stages.map((stage, at) => (at === 1 ? { ...stage, ...when("false") } : stage));
    const run = new LargeRun(planned, undefined, undefined, newId("run"));
    const conditions = async () => {
      const { detail } = (await edge.call("GET", `/api/v1/pipelines/runs/${run.runId}`)).body;
      return { ...detail, verdicts: detail.jobs.map(({ condition }: RunDetail["jobs"][number]) => condition?.verdict) };
    };
    run.finish();
    await storeEnded(edge.context.stores, run, planned);
    const { verdicts, jobs, revisionId, eventNumber } = await conditions();
    expect(verdicts).to.deep.equal(["true", "false", undefined, "false"]);
    expect(jobs[1].condition).to.deep.include({ of: "job", expression: "success() && false", resolved: "false" });
    expect(jobs[3].condition.of).to.equal("stage");
    expect([revisionId, eventNumber]).to.deep.equal([MANUAL_ORIGIN.revisionId, run.snapshot.head.eventNumber]);
    expect(eventNumber).to.be.above(4);
  });

  it("of pipelines go on behind a cursor, however they are sorted", async () => {
    for (const name of ["list-b", "list-a", "list-c"]) await edge.call("POST", "/api/v1/pipelines", { body: { name } });
    const list = async (query: string) => {
      const { detail } = (await edge.call("GET", `/api/v1/pipelines?${query}`)).body;
      return { ...detail, names: detail.list.map(({ name }: { name: string }) => name) };
    };
    for (const sort of ["name", "-name", "createdAt", "-createdAt"]) {
      for (const status of ["", "&status=pending"]) {
        const query = `name=list-&sort=${sort}&pageSize=2${status}`;
        const first = await list(query);
        const second = await list(`${query}&after=${first.next}`);
        const whole = await list(`name=list-&sort=${sort}`);
        expect([...first.names, ...second.names], query).to.deep.equal(whole.names);
        expect([second.total, second.totalIsExact, second.next]).to.deep.equal([3, true, null]);
      }
    }
    expect((await edge.call("GET", "/api/v1/pipelines?after=none")).body.reason).to.equal("malformed_request");
  });
});
