import { status } from "@grpc/grpc-js";
import { expect } from "chai";
import { getRun } from "../../src/app/runs/run-detail.ts";
import { newId, type PipelineId, type RunId } from "../../src/domain/ids.ts";
import { CountedLoads, storeWideRun } from "../support/stored-large-runs.ts";
import { until } from "../support/until.ts";
import { Gateway } from "./gateway.ts";
import { refusalOf, tokenOf, UserCalls } from "./user-calls.ts";

const JOBS = 3_000;
const CALLERS = 50;

describe("a run of thousands of jobs over gRPC", () => {
  let gateway: Gateway;
  let calls: UserCalls;
  let loads: CountedLoads;
  let runId: RunId;
  before(async () => {
    gateway = await Gateway.start();
    calls = await UserCalls.open(gateway.context, gateway.port);
    runId = await storeWideRun(gateway.stores, JOBS, newId("pl") as PipelineId);
    loads = new CountedLoads(gateway.stores);
  });
  after(async () => {
    calls.close();
    await gateway.stop();
  });

  const read = (jobs = "", token?: string) => calls.pipeline("getPipelineRun", { runId, jobs }, token);

  it("is answered with all its jobs in order, and by pages", async () => {
    const caller = { kind: "user", userId: newId("usr"), name: "ann", role: "viewer", scopes: [] } as const;
    const whole = await getRun(gateway.context, caller, { runId, allAttempts: false });
    const { run } = await read();
    expect(run!.summary).to.include({ runId, status: "RUN_STATUS_SUCCESS" });
    expect(run!.jobCount).to.equal(JOBS);
    const named = (jobs: readonly { jobId: string; name: string; steps: readonly { stepRunId: string }[] }[]) =>
      jobs.map(({ jobId, name, steps }) => [jobId, name, ...steps.map(({ stepRunId }) => stepRunId)]);
    expect(named(run!.jobs)).to.deep.equal(named(whole.jobs));
    expect((await read("11..12")).run!.jobs).to.deep.equal(run!.jobs.slice(10, 12));
    expect(await refusalOf(read("job_unknown"))).to.include({ code: status.NOT_FOUND, reason: "not_found" });
    const other = calls.pipeline("getPipelineRun", { runId, pipelineId: newId("pl") });
    expect(await refusalOf(other)).to.include({ code: status.NOT_FOUND });
  });

  it("is read from the store once for many callers at the same moment", async () => {
    loads.hold();
    const tokens = await Promise.all([1, 2, 3].map(() => tokenOf(gateway.context, "viewer")));
    const answers = Array.from({ length: CALLERS }, (_, at) => read("", tokens[at % 3]));
    await loads.releaseAfter(CALLERS);
    const counts = await Promise.all(answers.map(async (answer) => (await answer).run!.jobs.length));
    expect(new Set(counts)).to.deep.equal(new Set([JOBS]));
    expect(loads.loads).to.equal(1);
  });

  it("is read from the store once for many of its steps at the same moment", async () => {
    const { stepRuns } = await calls.stepRun("listStepRuns", { runId, pageSize: 20 });
    expect(stepRuns).to.have.length(20);
    loads.hold();
    const answers = stepRuns.map(({ stepRunId }) => calls.stepRun("getStepRun", { stepRunId }));
    await loads.releaseAfter(20);
    const read = await Promise.all(answers);
    expect(read.map(({ stepRun }) => stepRun!.stepRunId)).to.deep.equal(stepRuns.map(({ stepRunId }) => stepRunId));
    expect(loads.loads).to.equal(1);
  });

  it("is refused to a user who has four answers in hand", async () => {
    const token = await tokenOf(gateway.context, "viewer");
    loads.hold();
    const answers = [1, 2, 3, 4].map((first) => read(`${first}..${JOBS}`, token));
    await until("four are in hand", () => gateway.context.largeReads!.count === 4);
    const refusal = await refusalOf(read(`5..${JOBS}`, token));
    expect(refusal).to.include({ code: status.RESOURCE_EXHAUSTED, reason: "too_many" });
    expect(refusal.text).to.include("jobs=1..50");
    await loads.releaseAfter(5);
    await Promise.all(answers);
    await until("answers that are taken count no more", () => gateway.context.largeReads!.count === 0);
  });
});
