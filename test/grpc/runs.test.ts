import { status } from "@grpc/grpc-js";
import { expect } from "chai";
import { asId, newId, type ProjectId, type RunId } from "../../src/domain/ids.ts";
import { GRANT, saveTurn } from "../support/stored-runs.ts";
import { bearer, Gateway } from "./gateway.ts";
import { decideNext, newPipeline, newRun, savedPipeline, SHELL } from "./pipeline-samples.ts";
import { refusalOf, tokenOf, UserCalls } from "./user-calls.ts";

const { FAILED_PRECONDITION, NOT_FOUND, INVALID_ARGUMENT, PERMISSION_DENIED, ALREADY_EXISTS } = status;

describe("runs over gRPC", () => {
  let gateway: Gateway;
  let calls: UserCalls;

  before(async () => {
    gateway = await Gateway.start();
    calls = await UserCalls.open(gateway.context, gateway.port);
  });
  after(async () => {
    calls.close();
    await gateway.stop();
  });

  it("are triggered once for a request id, and listed", async () => {
    const pipelineId = await savedPipeline(calls);
    const request = { pipelineId, variables: { ref: "v1" }, requestId: "t1" };
    const { runId } = await calls.pipeline("triggerPipeline", request);
    expect((await calls.pipeline("triggerPipeline", request)).runId).to.equal(runId);
    const reused = await refusalOf(calls.pipeline("triggerPipeline", { ...request, variables: {} }));
    expect(reused).to.include({ code: ALREADY_EXISTS, reason: "request_id_reused" });
    const { runs, total } = await calls.pipeline("listPipelineRuns", { pipelineId });
    expect(total).to.equal(1n);
    const { createdAtMs, startedAtMs, commitSha, waitingFor, ...rest } = runs[0]!;
    expect(rest).to.deep.equal({
      runId,
      pipelineId,
      projectId: "default",
      status: "RUN_STATUS_RUNNING",
      trigger: { kind: "TRIGGER_KIND_MANUAL", ref: "v1" },
      triggeredBy: "admin",
      actor: "admin",
      attempt: 1,
      retryOf: "",
      adHoc: false,
      endedAtMs: 0n,
    });
    expect(waitingFor).to.include({ reason: "no_agent_online" });
    expect(startedAtMs >= createdAtMs && createdAtMs > 0n && commitSha !== "").to.equal(true);
    const across = await calls.pipeline("findRuns", { pipelineId, trigger: "manual", fromMs: createdAtMs, limit: 1 });
    expect(across).to.deep.equal({ runs: [runs[0]], next: across.next });
    const none = {
      pipelineId,
      statuses: ["RUN_STATUS_FAILED" as const, "RUN_STATUS_SUCCESS" as const],
      beforeMs: createdAtMs,
    };
    expect(await calls.pipeline("findRuns", { ...none })).to.deep.equal({ runs: [], next: "" });
    const filtered = await calls.pipeline("listPipelineRuns", { pipelineId, status: "RUN_STATUS_PAUSED" });
    expect(filtered).to.deep.equal({ runs: [], total: 0n, totalIsExact: true, next: "" });
  });

  it("have the uploads that their trigger gives, all of which must be in the project", async () => {
    const pipelineId = await savedPipeline(calls);
    const { uploads: store } = gateway.stores;
    const [uploadId, projectId] = [newId("upl"), asId<ProjectId>("default")];
    const content = { sizeBytes: 3, sha256: "ab".repeat(32), sniffedType: null, typeMatches: true };
    const times = { createdAt: 1, usedAt: 1, expiresAt: Number.MAX_SAFE_INTEGER };
    const file = { name: "a.bin", type: "text/plain", state: "uploading", createdBy: "ann", writer: "w" } as const;
    await store.begin({ uploadId, projectId, ...file, ...content, ...times });
    await store.store({ uploadId, writer: "w" }, content, 1, times.expiresAt);
    const { runId } = await calls.pipeline("triggerPipeline", { pipelineId, uploads: { FIRMWARE: uploadId } });
    const { run } = await calls.pipeline("getPipelineRun", { runId });
    expect(run!.uploads).to.deep.equal({
      FIRMWARE: { uploadId, name: "a.bin", sizeBytes: 3n, sha256: content.sha256 },
    });
    const refused = await refusalOf(
      calls.pipeline("triggerPipeline", { pipelineId, uploads: { A: "upl_none", B: "upl_gone" } }),
    );
    expect(refused).to.include({ code: INVALID_ARGUMENT, reason: "malformed_request" });
    expect(refused.text).to.include("upl_none is no upload").and.to.include("upl_gone is no upload");
  });

  it("keep the trace context of their trigger, if it is one", async () => {
    const pipelineId = await savedPipeline(calls);
    const contextOf = async (traceparent: string) => {
      const metadata = bearer(await tokenOf(gateway.context, "owner"));
      metadata.set("traceparent", traceparent);
      const { runId } = await calls.pipeline("triggerPipeline", { pipelineId }, metadata);
      return (await gateway.context.stores.aggregates.loadHead(runId as RunId))!.origin.traceparent;
    };
    const given = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    expect(await contextOf(given)).to.equal(given);
    expect(await contextOf(given.toUpperCase())).to.equal(undefined);
  });

  it("are shown with their jobs, steps, waits and times", async () => {
    const run = await newRun(gateway, calls);
    const { pipelineId, runId } = run;
    await saveTurn(gateway.context, run, {
      run: { state: "running" },
      jobs: [
        { jobId: run.jobIds[0]!, state: "running", startedAt: 2_000, grant: GRANT, stepActive: true, priority: 7 },
      ],
      steps: [
        {
          stepRunId: run.stepIds[0]![0]!,
          state: "running",
          queuedAt: 2_000,
          startedAt: 2_500,
          grant: GRANT,
          metadata: [["ticket", "7"]],
        },
      ],
    });
    const detail = (await calls.pipeline("getPipelineRun", { pipelineId, runId })).run!;
    expect(detail.jobs.map(({ priority }) => priority)).to.deep.equal([7, 0, 0]);
    expect(detail.jobs[0]!.steps.map(({ metadata }) => metadata)).to.deep.equal([{ ticket: "7" }, {}]);
    expect(detail.summary).to.include({ runId, status: "RUN_STATUS_RUNNING" });
    expect(detail).to.deep.include({ variables: {}, reason: "", retriedBy: "", approvals: [] });
    expect(detail.jobs.map(({ name, stage, status: shown }) => [name, stage, shown])).to.deep.equal([
      ["make (node=20)", "build", "JOB_STATUS_RUNNING"],
      ["test", "build", "JOB_STATUS_PENDING"],
      ["ship", "ship", "JOB_STATUS_PENDING"],
    ]);
    const [make, test] = detail.jobs;
    expect(make).to.deep.include({
      jobId: run.jobIds[0],
      matrix: { node: "20" },
      agentId: "agt_TEST",
      startedAtMs: 2_000n,
      waitingFor: undefined,
    });
    expect(test!.waitingFor).to.deep.include({ reason: "needs", needs: ["make (node=20)"] });
    expect(test!.needs).to.deep.equal(["make (node=20)"]);
    const [one, two] = make!.steps;
    expect(one).to.deep.include({
      name: "one",
      status: "STEP_RUN_STATUS_RUNNING",
      attempt: 1,
      startedAtMs: 2_500n,
      exitCode: undefined,
    });
    expect(one!.timing).to.deep.include({ claimedAtMs: 2_000n, startedAtMs: 2_500n });
    expect(one!.timing!.waits).to.include({ startMs: 500n });
    expect(two!.timing!.waits!.startMs, "what it does not wait for yet").to.equal(undefined);
    expect(two!.waitingFor).to.deep.include({ reason: "step", text: "waits for step one to end" });
    const page = (await calls.pipeline("getPipelineRun", { runId, jobs: `${make!.jobId},3..3` })).run!;
    expect([page.jobCount, page.jobs.map(({ name }) => name)]).to.deep.equal([3, ["make (node=20)", "ship"]]);
    expect(await refusalOf(calls.pipeline("getPipelineRun", { runId, jobs: "0..1" }))).to.include({
      code: INVALID_ARGUMENT,
    });
    const other = calls.pipeline("getPipelineRun", { pipelineId: "pl_other", runId });
    expect(await refusalOf(other)).to.include({ code: NOT_FOUND });
    expect((await calls.pipeline("getPipelineRun", { runId })).run!.summary!.pipelineId).to.equal(pipelineId);
  });

  it("are stopped, paused and resumed with the run's verdict", async () => {
    const { pipelineId, runId } = await newRun(gateway, calls);
    const ids = { pipelineId, runId };
    const [paused, command] = await Promise.all([
      calls.pipeline("pausePipeline", { ...ids, reason: "lunch", operator: "ann" }),
      decideNext(gateway, runId, { outcome: "accepted", status: "paused" }),
    ]);
    expect(paused).to.deep.equal({ status: "RUN_STATUS_PAUSED" });
    expect(command).to.include({ kind: "pause", reason: "lunch", operator: "ann", actor: "admin" });
    const [refused] = await Promise.all([
      refusalOf(calls.pipeline("resumePipeline", ids)),
      decideNext(gateway, runId, { outcome: "refused", status: "running" }),
    ]);
    expect(refused).to.include({ code: FAILED_PRECONDITION, reason: "conflict" });
    expect(await calls.pipeline("stopPipeline", { runId })).to.deep.equal({ status: "RUN_STATUS_RUNNING" });
    const elsewhere = calls.pipeline("stopPipeline", { pipelineId: "pl_other", runId });
    expect(await refusalOf(elsewhere)).to.include({ code: NOT_FOUND });
    expect((await refusalOf(calls.pipeline("stopPipeline", { ...ids, reason: "x".repeat(2_001) }))).text).to.include(
      "/reason",
    );
  });

  it("are run again in the requested scope, once", async () => {
    const run = await newRun(gateway, calls);
    const { runId } = run;
    const scope = "RERUN_SCOPE_ALL" as const;
    expect(await refusalOf(calls.pipeline("rerunPipeline", { runId, scope }))).to.include({
      code: FAILED_PRECONDITION,
    });
    await saveTurn(gateway.context, run, {
      run: { state: "failed", endedAt: 9 },
      jobs: run.jobIds.map((jobId) => ({ jobId, state: "failed" as const, endedAt: 9, grant: GRANT })),
      steps: run.stepIds.flat().map((stepRunId) => ({ stepRunId, state: "failed" as const, endedAt: 9, grant: GRANT })),
    });
    expect((await refusalOf(calls.pipeline("rerunPipeline", { runId }))).text).to.include("/scope");
    const stray = { runId, scope, stepRunId: run.stepIds[0]![0]! };
    expect((await refusalOf(calls.pipeline("rerunPipeline", stray))).text).to.include("/stepRunId");
    const again = await calls.pipeline("rerunPipeline", { runId, scope, requestId: "again" });
    expect(again.attempt).to.equal(2);
    expect(await calls.pipeline("rerunPipeline", { runId, scope, requestId: "again" })).to.deep.equal(again);
    expect((await calls.pipeline("getPipelineRun", { runId })).run!.retriedBy).to.equal(again.runId);
    const other = calls.pipeline("rerunPipeline", {
      runId,
      scope: "RERUN_SCOPE_STEP",
      stepRunId: run.stepIds[0]![1]!,
    });
    expect((await refusalOf(other)).text).to.include(again.runId);
  });

  it("show every transition, in pages", async () => {
    const { runId } = await newRun(gateway, calls);
    const all = await calls.pipeline("getRunTimeline", { runId });
    expect(all.transitions.map(({ number }) => Number(number))).to.deep.equal(all.transitions.map((_, at) => at + 1));
    expect(all.next).to.equal(0n);
    const [created] = all.transitions;
    expect(created).to.include({
      object: "pipeline",
      lifecycle: "created",
      cause: "trigger",
      by: "admin",
      jobId: "",
    });
    expect(JSON.parse(created!.dataJson)).to.include({ reason: "" });
    const page = await calls.pipeline("getRunTimeline", { runId, after: 1n, limit: 1 });
    expect([page.transitions[0]!.number, page.transitions.length, page.next]).to.deep.equal([2n, 1, 2n]);
    expect((await refusalOf(calls.pipeline("getRunTimeline", { runId, limit: 1_001 }))).text).to.include("/limit");
  });

  it("show their outputs", async () => {
    const pipelineId = await newPipeline(calls);
    const spec = {
      jobs: [{ name: "a", outputs: { v: "${{ steps.s.outputs.v }}", w: "x" }, steps: [{ id: "s", ...SHELL }] }],
    };
    await calls.pipeline("saveSpec", { pipelineId, spec });
    const { runId } = await calls.pipeline("triggerPipeline", { pipelineId, variables: {} });
    expect(await calls.pipeline("getRunOutputs", { runId })).to.deep.equal({ jobs: [] });
    const { jobs } = (await calls.pipeline("getPipelineRun", { runId })).run!;
    const [job] = jobs;
    await saveTurn(
      gateway.context,
      { runId: asId(runId), pipelineId: asId(pipelineId), jobIds: [], stepIds: [] },
      { jobs: [{ jobId: asId(job!.jobId), state: "success", endedAt: 5 }] },
    );
    expect(await calls.pipeline("getRunOutputs", { runId })).to.deep.equal({
      jobs: [{ jobId: job!.jobId, name: "a", status: "JOB_STATUS_SUCCESS", outputs: { v: null, w: "x" } }],
    });
  });

  it("let single jobs be cancelled with the job's verdict", async () => {
    const run = await newRun(gateway, calls);
    const jobId = run.jobIds[0]!;
    const [cancelled, command] = await Promise.all([
      calls.pipeline("cancelJob", { jobId, reason: "slow" }),
      decideNext(gateway, run.runId, { outcome: "accepted", status: "cancelled" }),
    ]);
    expect(cancelled).to.deep.equal({ status: "JOB_STATUS_CANCELLED" });
    expect(command).to.include({ kind: "cancelJob", jobId, reason: "slow", operator: "admin" });
    const [refused] = await Promise.all([
      refusalOf(calls.pipeline("cancelJob", { jobId })),
      decideNext(gateway, run.runId, { outcome: "refused", status: "cancelled" }),
    ]);
    expect(refused).to.include({ code: FAILED_PRECONDITION });
    expect(refused.text).to.include("which is cancelled, and has ended");
    expect(await refusalOf(calls.pipeline("cancelJob", { jobId: "job_none" }))).to.include({ code: NOT_FOUND });
  });

  it("take a change of a step only on the version that the caller has read", async () => {
    const { runId, stepIds } = await newRun(gateway, calls);
    const stepRunId = stepIds[0]![0]!;
    const { version } = (await calls.stepRun("getStepRun", { stepRunId })).stepRun!;
    const change = { stepRunId, priority: 5 };
    const refused = await refusalOf(calls.stepRun("updateStepRun", { ...change, expectedVersion: "another" }));
    expect(refused).to.include({ code: FAILED_PRECONDITION, reason: "precondition_failed" });
    expect(refused.text).to.include(`its version is ${version} now`);
    const [{ stepRun }, command] = await Promise.all([
      calls.stepRun("updateStepRun", { ...change, expectedVersion: version }),
      decideNext(gateway, runId, { outcome: "accepted", status: "pending" }),
    ]);
    expect(command).to.deep.include({ expected: { priority: 0, metadata: [] } });
    expect(stepRun!.version).to.equal(version);
  });

  describe("approvals", () => {
    async function askedRun() {
      const pipelineId = await newPipeline(calls);
      const approval = {
        requiredApprovers: ["admin"],
        allowed: { roles: ["operator"] },
        count: 2,
        timeout: "1h",
        message: "now?",
      };
      const spec = { jobs: [{ name: "deploy", approval, steps: [{ name: "s", ...SHELL }] }] };
      await calls.pipeline("saveSpec", { pipelineId, spec });
      const { runId } = await calls.pipeline("triggerPipeline", { pipelineId, variables: {} });
      const { approvals } = await calls.pipeline("listRunApprovals", { runId });
      return {
        pipelineId,
        runId: asId<RunId>(runId),
        asked: approvals[0]!,
        approvalId: approvals[0]!.approval!.approvalId,
      };
    }

    it("are listed, each with whether the caller may approve", async () => {
      const { pipelineId, runId, asked } = await askedRun();
      const { requestedAtMs, expiresAtMs, approvalId, ...rest } = asked.approval!;
      expect(rest).to.deep.equal({
        runId,
        pipelineId,
        projectId: "default",
        gate: { $case: "job", value: "deploy" },
        status: "APPROVAL_STATUS_PENDING",
        message: "now?",
        endedAtMs: 0n,
        approvals: [],
        rejection: undefined,
        required: ["admin"],
        count: 2,
        missing: 2,
        missingUsers: ["admin"],
        allowedUsers: [],
        allowedRoles: ["operator"],
        preventSelf: false,
      });
      expect(expiresAtMs - requestedAtMs).to.equal(3_600_000n);
      expect(asked).to.include({ mayDecide: true, whyNot: "" });
      const viewer = await tokenOf(gateway.context, "viewer");
      const { approvals, total } = await calls.pipeline("listApprovals", { pipelineId }, viewer);
      expect([total, approvals[0]!.approval]).to.deep.equal([1n, asked.approval]);
      expect(approvals[0]!.mayDecide).to.equal(false);
      expect(approvals[0]!.whyNot).to.include("may not");
      const rejected = await calls.pipeline("listApprovals", { pipelineId, status: "APPROVAL_STATUS_REJECTED" });
      expect(rejected.total).to.equal(0n);
      const { run } = await calls.pipeline("getPipelineRun", { runId });
      expect(run!.approvals).to.deep.equal([asked.approval]);
      expect(run!.jobs[0]!.waitingFor).to.include({ reason: "approval", approvalId });
    });

    it("take votes with the approval's verdict", async () => {
      const { runId, approvalId } = await askedRun();
      const [answer, command] = await Promise.all([
        calls.pipeline("approve", { runId, approvalId, comment: "fine" }),
        decideNext(gateway, runId, { outcome: "accepted", status: "pending" }),
      ]);
      expect(answer.approval!.approval).to.include({ approvalId, status: "APPROVAL_STATUS_PENDING" });
      expect(command).to.include({ kind: "approve", approvalId, comment: "fine" });
      const [refused] = await Promise.all([
        refusalOf(calls.pipeline("reject", { runId, approvalId })),
        decideNext(gateway, runId, { outcome: "refused", status: "expired" }),
      ]);
      expect(refused).to.include({ code: FAILED_PRECONDITION });
      expect(refused.text).to.include("expired");
      const viewer = await tokenOf(gateway.context, "viewer");
      expect(await refusalOf(calls.pipeline("approve", { runId, approvalId }, viewer))).to.include({
        code: PERMISSION_DENIED,
      });
      expect(await refusalOf(calls.pipeline("approve", { runId, approvalId: "apr_none" }))).to.include({
        code: NOT_FOUND,
      });
    });
  });
});
