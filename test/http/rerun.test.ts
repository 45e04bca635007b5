import { expect } from "chai";
import type { JobState } from "../../actors/job/state.ts";
import type { StepState } from "../../actors/step/state.ts";
import { asId, newId, type PipelineId, type RunId } from "../../src/domain/ids.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";
import { GRANT, saveTurn, type StoredRun } from "../support/stored-runs.ts";

const step = (name: string) => ({ name, uses: "shell", args: { script: "true" } });

describe("reruns over HTTP", () => {
  let edge: TestEdge;
  before(async () => {
    edge = await openTestEdge();
  });
  after(() => edge.close());

  const JOBS = [
    { name: "build", steps: [step("compile"), step("test")] },
    { name: "lint", steps: [step("lint")] },
  ];

  async function newPipeline(spec: object = { jobs: JOBS }): Promise<PipelineId> {
    const { body } = await edge.call("POST", "/api/v1/pipelines", { body: { name: newId("pl") } });
    const { pipelineId } = body.detail;
    expect((await edge.call("POST", `/api/v1/pipelines/${pipelineId}/spec/save`, { body: { spec } })).status).to.equal(
      200,
    );
    return pipelineId;
  }

  async function trigger(pipelineId: PipelineId): Promise<StoredRun> {
    const answer = await edge.call("POST", `/api/v1/pipelines/${pipelineId}/trigger`, { body: {} });
    return read(answer.body.detail.runId, pipelineId);
  }

  async function read(runId: string, pipelineId: PipelineId): Promise<StoredRun> {
    const { actors } = (await edge.context.stores.aggregates.load(asId<RunId>(runId)))!;
    const jobs = actors.flatMap(({ kind, state }) => (kind === "job" ? [state as JobState] : []));
    const steps = actors.flatMap(({ kind, state }) => (kind === "step" ? [state as StepState] : []));
    return {
      runId: asId<RunId>(runId),
      pipelineId,
      jobIds: jobs.map(({ jobId }) => jobId),
      stepIds: jobs.map(({ jobId }) => steps.filter((each) => each.jobId === jobId).map(({ stepRunId }) => stepRunId)),
    };
  }

  /** Stores a run whose first job has succeeded and whose second job has failed. */
  async function end(run: StoredRun): Promise<void> {
    const times = { queuedAt: 1_000, startedAt: 2_000, endedAt: 3_000, grant: GRANT };
    await saveTurn(edge.context, run, {
      run: { state: "failed", endedAt: 3_000 },
      jobs: run.jobIds.map((jobId, at) => ({ jobId, state: at === 1 ? "failed" : "success", ...times })),
      steps: run.stepIds.flatMap((ids, at) =>
        ids.map((stepRunId) => ({ stepRunId, state: at === 1 ? ("failed" as const) : ("success" as const), ...times })),
      ),
    });
  }

  async function endedRun(spec?: object): Promise<StoredRun> {
    const run = await trigger(await newPipeline(spec));
    await end(run);
    return run;
  }

  const rerun = (run: StoredRun, body: object, token?: string) =>
    edge.call("POST", `/api/v1/pipelines/${run.pipelineId}/runs/${run.runId}/rerun`, {
      body,
      ...(token === undefined ? {} : { token }),
    });
  const detailOf = async (runId: string) => (await edge.call("GET", `/api/v1/pipelines/runs/${runId}`)).body.detail;

  it("creates the next attempt, linked in both directions, and leaves the old run unchanged", async () => {
    const run = await endedRun();
    const before = await detailOf(run.runId);
    const { status, body } = await rerun(run, { scope: "failed" });
    expect(status).to.equal(200);
    const { runId, ...rest } = body.detail;
    expect(rest).to.deep.equal({
      pipelineId: run.pipelineId,
      status: "pending",
      statusCode: 1,
      attempt: 2,
      retryOf: run.runId,
    });
    expect(await detailOf(run.runId)).to.deep.equal({ ...before, retriedBy: runId });
    const again = await detailOf(runId);
    expect(again).to.include({ attempt: 2, retryOf: run.runId, retriedBy: null, commitSha: before.commitSha });
    expect(again.jobs[0]).to.include({ status: "success", reusedFrom: run.jobIds[0], attempt: 1, retryOf: null });
    expect(again.jobs[0].startTime).to.equal("1970-01-01T00:00:02.000Z");
    expect(again.jobs[0].steps[1]).to.include({ status: "success", reusedFrom: run.stepIds[0]![1], attempt: 1 });
    expect(again.jobs[0].steps[1].timing.waits).to.include({ plan: null, agent: null });
    expect(again.jobs[1]).to.include({ status: "queued", reusedFrom: null, attempt: 2, retryOf: run.jobIds[1] });
    expect(again.jobs[1].steps[0]).to.include({ status: "pending", attempt: 2, retryOf: run.stepIds[1]![0] });
    expect(again.jobs[1].steps[0].timing.waits.agent).to.be.a("number");
    const { list } = (await edge.call("GET", `/api/v1/pipelines/${run.pipelineId}/runs`)).body.detail;
    expect(list.map((one: { retryOf: string | null }) => one.retryOf)).to.deep.equal([run.runId, null]);
    const timeline = (await edge.call("GET", `/api/v1/pipelines/runs/${runId}/timeline`)).body.detail.list;
    expect(
      timeline.map((one: { object: string; lifecycle: string; attempt?: number; retryOf: string | null }) => [
        `${one.object} ${one.lifecycle}`,
        one.retryOf,
        one.attempt,
      ]),
    ).to.deep.equal([
      ["pipeline created", run.runId, undefined],
      ["pipeline started", run.runId, undefined],
      ["job queued", run.jobIds[1], 2],
    ]);
  });

  it("names every problem of a request", async () => {
    const run = await endedRun();
    const pointers = async (body: object) =>
      (await rerun(run, body)).body.errors.map(({ pointer }: { pointer: string }) => pointer);
    expect(await pointers({})).to.deep.equal(["/scope"]);
    expect(await pointers({ scope: "step" })).to.deep.equal(["/stepRunId"]);
    expect(await pointers({ scope: "all", stepRunId: "step_1", why: 1 })).to.have.members(["/stepRunId", "/why"]);
    expect(await pointers({ scope: "some", requestId: 1 })).to.have.members(["/scope", "/requestId"]);
  });

  it("lets operators rerun in their own name", async () => {
    const run = await endedRun();
    const viewer = await edge.userWithRole("viewer");
    expect((await rerun(run, { scope: "all" }, viewer.token)).status).to.equal(403);
    const operator = await edge.userWithRole("operator");
    expect((await rerun(run, { scope: "all", triggeredBy: "admin" }, operator.token)).status).to.equal(403);
    const { body } = await rerun(run, { scope: "all" }, operator.token);
    expect(await detailOf(body.detail.runId)).to.include({ triggeredBy: operator.name, actor: operator.name });
  });

  it("answers 404 for unknown ids and ids that do not belong together", async () => {
    const run = await endedRun();
    const other = await endedRun();
    expect((await rerun({ ...run, runId: asId<RunId>("run_x") }, { scope: "all" })).status).to.equal(404);
    expect((await rerun({ ...run, pipelineId: other.pipelineId }, { scope: "all" })).status).to.equal(404);
    const refused = await rerun(run, { scope: "step", stepRunId: other.stepIds[0]![0] });
    expect(refused.body).to.include({ code: 404, reason: "not_found" });
    expect(refused.body.errMsg).to.include(run.runId);
  });

  it("refuses with the reason and with what to do", async () => {
    const run = await trigger(await newPipeline());
    const refused = async (body: object, ...words: string[]) => {
      const answer = await rerun(run, body);
      expect(answer.body).to.include({ code: 409, reason: "conflict" });
      for (const word of words) expect(answer.body.errMsg).to.include(word);
    };
    await refused({ scope: "all" }, "is running", "wait for its end");
    await saveTurn(edge.context, run, {
      run: { state: "success", endedAt: 3_000 },
      jobs: run.jobIds.map((jobId) => ({ jobId, state: "success", endedAt: 3_000 })),
    });
    await refused({ scope: "failed" }, "no job of run", "`all`");
    await refused({ scope: "step", stepRunId: run.stepIds[0]![0] }, "did not run");
    expect((await detailOf(run.runId)).retriedBy, "nothing was claimed").to.equal(null);
  });

  it("reuses nothing when the jobs of the run would be different now", async () => {
    const axis = "${{ fromJSON(format('[{0}]', run.attempt)) }}";
    const spec = { jobs: [JOBS[0], { name: "each", matrix: { axes: { n: axis } }, steps: [step("s")] }] };
    const run = await endedRun(spec);
    for (const body of [{ scope: "failed" }, { scope: "step", stepRunId: run.stepIds[0]![0] }]) {
      expect((await rerun(run, body)).body.errMsg).to.include("other jobs or steps");
    }
    const { body } = await rerun(run, { scope: "all" });
    const { jobs } = await detailOf(body.detail.runId);
    expect(jobs.map(({ name, attempt }: { name: string; attempt: number }) => [name, attempt])).to.deep.equal([
      ["build", 2],
      ["each (n=2)", 1],
    ]);
  });

  it("creates one next attempt for many concurrent requests", async () => {
    const run = await endedRun();
    const answers = await Promise.all(Array.from({ length: 8 }, () => rerun(run, { scope: "failed" })));
    const made = answers.filter(({ status }) => status === 200);
    expect(made).to.have.length(1);
    const { runId } = made[0]!.body.detail;
    for (const { status, body } of answers) if (status !== 200) expect(body.errMsg).to.include(runId);
    expect((await rerun(run, { scope: "all" })).body.errMsg).to.include(`as ${runId}: run that one again`);
    const next = await read(runId, run.pipelineId);
    await end(next);
    expect((await rerun(next, { scope: "all" })).body.detail).to.include({ attempt: 3, retryOf: runId });
  });

  it("answers the same run to a repeated requestId, and 409 to another body", async () => {
    const run = await endedRun();
    const ask = () => rerun(run, { scope: "failed", requestId: "r" });
    const answers = await Promise.all([ask(), ask(), ask()]);
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200]);
    expect(new Set(answers.map(({ body }) => body.detail.runId)).size).to.equal(1);
    expect((await ask()).body.detail).to.deep.equal(answers[0]!.body.detail);
    const other = await rerun(run, { scope: "all", requestId: "r" });
    expect(other.body).to.include({ code: 409, reason: "request_id_reused" });
  });

  it("finishes an interrupted rerun as first requested, also for another user", async () => {
    const run = await endedRun();
    const { aggregates } = edge.context.stores;
    const { create } = aggregates;
    aggregates.create = () => Promise.reject(new Error("cut off"));
    try {
      expect((await rerun(run, { scope: "failed", requestId: "cut" })).status).to.equal(500);
    } finally {
      aggregates.create = create;
    }
    expect((await detailOf(run.runId)).retriedBy).to.equal(null);
    const operator = await edge.userWithRole("operator");
    const other = await rerun(run, { scope: "all" }, operator.token);
    expect(other.status).to.equal(409);
    const { retriedBy } = await detailOf(run.runId);
    expect(other.body.errMsg).to.include(retriedBy);
    const made = await detailOf(retriedBy);
    expect(made.triggeredBy).to.equal("admin");
    expect(made.jobs[0].reusedFrom).to.equal(run.jobIds[0]);
    expect((await rerun(run, { scope: "failed", requestId: "cut" })).body.detail.runId).to.equal(retriedBy);
  });
});
