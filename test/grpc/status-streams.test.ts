import { status as codes } from "@grpc/grpc-js";
import { expect } from "chai";
import { newStep } from "../../actors/step/state.ts";
import { stepActor } from "../../actors/step/actor.ts";
import { jobActor } from "../../actors/job/actor.ts";
import { type JobState, nextAttempt } from "../../actors/job/state.ts";
import type { EventDraft } from "../../src/domain/events.ts";
import { runChannel } from "../../src/feed/feed.ts";
import type { StoredActor } from "../../src/stores/ports/aggregates.ts";
import { planOf } from "../support/plans.ts";
import { GRANT, saveTurn, stepEvent, type StoredRun, storeRun } from "../support/stored-runs.ts";
import { until } from "../support/until.ts";
import { Gateway, reasonOf } from "./gateway.ts";
import { StreamCaller } from "./streaming.ts";

describe("streams of statuses", () => {
  let gateway: Gateway;
  let caller: StreamCaller;
  let run: StoredRun;
  before(async () => {
    gateway = await Gateway.start();
    caller = await StreamCaller.withRole(gateway.context, gateway.port, "viewer");
  });
  after(async () => {
    caller.close();
    await gateway.stop();
  });
  beforeEach(async () => {
    run = await storeRun(gateway.context, planOf([[{ steps: 2 }]]));
  });

  const stepRunId = () => run.stepIds[0]![0]!;
  const jobId = () => run.jobIds[0]!;
  const turn = (change: Parameters<typeof saveTurn>[2]) => saveTurn(gateway.context, run, change);
  const jobEvent = (lifecycle: EventDraft["lifecycle"], status: string, data: EventDraft["data"] = {}): EventDraft => ({
    object: "job",
    lifecycle,
    jobId: jobId(),
    stepRunId: null,
    status,
    data,
  });
  const runEvent = (lifecycle: EventDraft["lifecycle"], status: string, reason = ""): EventDraft => ({
    object: "pipeline",
    lifecycle,
    jobId: null,
    stepRunId: null,
    status,
    data: { reason },
  });
  const queue = (published = true) =>
    turn({
      run: { state: "running", startedAt: 1_500 },
      jobs: [{ jobId: jobId(), state: "running", startedAt: 1_600, grant: GRANT }],
      steps: [{ stepRunId: stepRunId(), state: "queued", grant: GRANT, queuedAt: 2_000 }],
      events: [runEvent("started", "running"), jobEvent("started", "running"), stepEvent(run, "queued", "queued")],
      published,
    });
  const start = (published = true) =>
    turn({
      steps: [{ stepRunId: stepRunId(), state: "running", startedAt: 3_000 }],
      events: [stepEvent(run, "started", "running")],
      published,
    });
  const fail = (published = true) =>
    turn({
      run: { state: "failed", endedAt: 4_000, reason: "job failed" },
      jobs: [{ jobId: jobId(), state: "failed", reason: "step_failed", endedAt: 4_000 }],
      steps: [{ stepRunId: stepRunId(), state: "failed", reason: "exit code 3", endedAt: 4_000 }],
      events: [
        { ...stepEvent(run, "failed", "failed"), data: { reason: "exit code 3" } },
        jobEvent("failed", "failed", { reason: "step_failed" }),
        runEvent("failed", "failed", "job failed"),
      ],
      published,
    });

  it("send the stored status, then each change, and end after the final one", async () => {
    await queue();
    const step = caller.read("streamStepRunStatus", { stepRunId: stepRunId() });
    const job = caller.read("streamJobStatus", { jobId: jobId() });
    const whole = caller.read("streamPipelineStatus", { runId: run.runId });
    await Promise.all([step, job, whole].map((reader) => reader.count(1)));
    const [started] = await start();
    await turn({ run: { state: "paused" }, events: [runEvent("paused", "paused")] });
    const ended = await fail();
    for (const reader of [step, job, whole]) expect((await reader.ended()).code).to.equal(codes.OK);
    const ids = { stepRunId: stepRunId(), runId: run.runId, jobId: jobId() };
    expect(step.received).to.deep.equal([
      { ...ids, status: "STEP_RUN_STATUS_QUEUED", reason: "", eventNumber: 3n, timeMs: 2_000n, retriedBy: "" },
      {
        ...ids,
        status: "STEP_RUN_STATUS_RUNNING",
        reason: "",
        eventNumber: 4n,
        timeMs: BigInt(started!.timeMs),
        retriedBy: "",
      },
      {
        ...ids,
        status: "STEP_RUN_STATUS_FAILED",
        reason: "exit code 3",
        eventNumber: 6n,
        timeMs: BigInt(ended[0]!.timeMs),
        retriedBy: "",
      },
    ]);
    expect(job.received.map(({ status, reason, eventNumber }) => [status, reason, eventNumber])).to.deep.equal([
      ["JOB_STATUS_RUNNING", "", 3n],
      ["JOB_STATUS_FAILED", "step_failed", 7n],
    ]);
    expect(job.received[0]).to.include({ jobId: jobId(), runId: run.runId, timeMs: 1_600n });
    expect(whole.received.map(({ status, reason, eventNumber }) => [status, reason, eventNumber])).to.deep.equal([
      ["RUN_STATUS_RUNNING", "", 3n],
      ["RUN_STATUS_PAUSED", "", 5n],
      ["RUN_STATUS_FAILED", "job failed", 8n],
    ]);
    expect(whole.received[0]).to.include({ runId: run.runId, pipelineId: run.pipelineId, timeMs: 1_500n });
  });

  it("of something final are one message", async () => {
    await queue();
    await fail();
    expect(await caller.all("streamStepRunStatus", { stepRunId: stepRunId() })).to.have.length(1);
    expect(await caller.all("streamJobStatus", { jobId: jobId() })).to.have.length(1);
    const [last] = await caller.all("streamPipelineStatus", { runId: run.runId });
    expect(last).to.include({ status: "RUN_STATUS_FAILED", reason: "job failed", eventNumber: 6n, timeMs: 4_000n });
  });

  it("send after a number only changes with higher numbers", async () => {
    await queue();
    await start(false);
    await fail(false);
    const after = async (afterEvent: bigint) =>
      (await caller.all("streamStepRunStatus", { stepRunId: stepRunId(), afterEvent })).map(
        (message) => message.eventNumber,
      );
    expect(await after(0n)).to.deep.equal([3n, 4n, 5n]);
    expect(await after(3n)).to.deep.equal([4n, 5n]);
    expect(await after(4n)).to.deep.equal([5n]);
    expect(await after(5n), "while others of the run have changed since").to.deep.equal([]);
    expect(await after(7n)).to.deep.equal([]);
  });

  it("end for a caller who has the last message, also while the run continues", async () => {
    await queue();
    await turn({
      steps: [{ stepRunId: stepRunId(), state: "success", endedAt: 4_000 }],
      events: [stepEvent(run, "completed", "success"), stepEvent(run, "queued", "queued", run.stepIds[0]![1]!)],
    });
    expect(await caller.all("streamStepRunStatus", { stepRunId: stepRunId(), afterEvent: 4n })).to.deep.equal([]);
    expect(await caller.all("streamStepRunStatus", { stepRunId: stepRunId(), afterEvent: 5n })).to.deep.equal([]);
  });

  it("send changes only, and no waits", async () => {
    const reader = caller.read("streamPipelineStatus", { runId: run.runId });
    await reader.count(1);
    await turn({ events: [runEvent("waiting", "pending")] });
    await queue();
    await reader.count(2);
    expect(reader.received.map(({ status }) => status)).to.deep.equal(["RUN_STATUS_PENDING", "RUN_STATUS_RUNNING"]);
    reader.cancel();
  });

  it("name the next attempt of a step in the last message", async () => {
    await queue();
    const reader = caller.read("streamStepRunStatus", { stepRunId: stepRunId() });
    await reader.count(1);
    const { runId } = run;
    const step = newStep({ runId, jobId: jobId(), index: 0, attempt: 1, attemptsBefore: 0 }, 0, 2);
    await saveWith({ kind: "step", id: step.stepRunId, state: step, index: stepActor.index(step) }, "step");
    expect((await reader.ended()).code).to.equal(codes.OK);
    expect(reader.received.at(-1)).to.include({ status: "STEP_RUN_STATUS_FAILED", retriedBy: step.stepRunId });
    const [late] = await caller.all("streamStepRunStatus", { stepRunId: stepRunId() });
    expect(late).to.include({ retriedBy: step.stepRunId });
    const next = caller.read("streamStepRunStatus", { stepRunId: step.stepRunId });
    expect((await next.count(1))[0]).to.include({ status: "STEP_RUN_STATUS_PENDING", retriedBy: "" });
    next.cancel();
  });

  it("follow one attempt of a job, and name the next in the last message", async () => {
    await queue();
    const reader = caller.read("streamJobStatus", { jobId: jobId() });
    await reader.count(1);
    const { actors } = (await gateway.stores.aggregates.load(run.runId))!;
    const job = nextAttempt(actors.find(({ kind }) => kind === "job")!.state as JobState);
    await saveWith({ kind: "job", id: job.jobId, state: job, index: jobActor.index(job) }, "job");
    expect((await reader.ended()).code).to.equal(codes.OK);
    expect(reader.received.map(({ status, retriedBy }) => [status, retriedBy])).to.deep.equal([
      ["JOB_STATUS_RUNNING", ""],
      ["JOB_STATUS_FAILED", job.jobId],
    ]);
  });

  /** Saves a turn that ends an attempt and makes the next one, whose event follows at once. */
  async function saveWith(next: StoredActor, failed: "step" | "job"): Promise<void> {
    const { aggregates } = gateway.stores;
    const { head, actors } = (await aggregates.load(run.runId))!;
    const before = actors.find(({ id }) => id === (failed === "step" ? stepRunId() : jobId()))!;
    const state = { ...(before.state as object), state: "failed" };
    const number = head.eventNumber + 1;
    const drafts: EventDraft[] =
      failed === "step"
        ? [stepEvent(run, "failed", "failed"), stepEvent(run, "retried", "pending", next.id as never)]
        : [jobEvent("failed", "failed"), { ...jobEvent("retried", "pending"), jobId: next.id as never }];
    const { runId, pipelineId } = run;
    const events = drafts.map((draft, at) => ({ ...draft, runId, pipelineId, number: number + at, timeMs: 9 }));
    const saved = await aggregates.save({
      expectedVersion: head.version,
      head: { ...head, version: head.version + 1, eventNumber: number + 1 },
      changed: [{ ...before, state, index: { ...before.index, status: "failed" } }, next],
      events,
    });
    expect(saved).to.equal("saved");
    for (const event of events) await gateway.context.feed.publish(runChannel(runId), event);
  }

  it("read lost changes from the store, and hold back changes that come too early", async () => {
    const reader = caller.read("streamStepRunStatus", { stepRunId: stepRunId() });
    await reader.count(1);
    await queue(false);
    await start();
    await fail(false);
    await reader.ended();
    expect(reader.received.map(({ eventNumber }) => eventNumber)).to.deep.equal([0n, 3n, 4n, 5n]);
  });

  it("are refused with the status and the reason of the error table", async () => {
    const statusOf = async (
      operation: "streamStepRunStatus" | "streamJobStatus" | "streamPipelineStatus",
      id: string,
      afterEvent?: bigint,
    ) => {
      const request = { stepRunId: id, jobId: id, runId: id, ...(afterEvent === undefined ? {} : { afterEvent }) };
      const status = await caller.read(operation, request).ended();
      return [status.code, reasonOf(status)];
    };
    const unknown = [codes.NOT_FOUND, "not_found"];
    expect(await statusOf("streamStepRunStatus", "step_NONE")).to.deep.equal(unknown);
    expect(await statusOf("streamJobStatus", "job_NONE")).to.deep.equal(unknown);
    expect(await statusOf("streamPipelineStatus", "run_NONE")).to.deep.equal(unknown);
    const malformed = [codes.INVALID_ARGUMENT, "malformed_request"];
    expect(await statusOf("streamStepRunStatus", jobId())).to.deep.equal(malformed);
    expect(await statusOf("streamJobStatus", run.runId)).to.deep.equal(malformed);
    expect(await statusOf("streamPipelineStatus", stepRunId())).to.deep.equal(malformed);
    expect(await statusOf("streamPipelineStatus", "run_a.b")).to.deep.equal(malformed);
    expect(await statusOf("streamPipelineStatus", "")).to.deep.equal(malformed);
    expect(await statusOf("streamStepRunStatus", stepRunId(), 1n)).to.deep.equal(malformed);
    expect(await statusOf("streamPipelineStatus", run.runId, -1n)).to.deep.equal(malformed);
    const { details } = await caller.read("streamPipelineStatus", { runId: run.runId, afterEvent: 7n }).ended();
    expect(details).to.equal(
      `7 is above 0, the number of the newest event of ${run.runId}: it is a number of another run`,
    );
  });

  it("need the token of a user", async () => {
    const agent = await gateway.register("nosy");
    const token = /Bearer (.*)/.exec(String(agent.metadata.get("authorization")[0]))![1]!;
    const [asAgent, withUnknownToken] = [
      new StreamCaller(gateway.port, token),
      new StreamCaller(gateway.port, "unknown"),
    ];
    const streams = [
      ["streamStepRunStatus", { stepRunId: stepRunId() }],
      ["streamJobStatus", { jobId: jobId() }],
      ["streamPipelineStatus", { runId: run.runId }],
      ["streamEvents", { runId: run.runId, log: "", after: 0n, objects: [] }],
      ["streamAgentStatus", { agentIds: [], revision: "" }],
    ] as const;
    for (const [operation, request] of streams) {
      const refused = asAgent.read(operation, request as never);
      expect((await refused.ended()).code, operation).to.equal(codes.PERMISSION_DENIED);
      expect((await withUnknownToken.read(operation, request as never).ended()).code).to.equal(codes.UNAUTHENTICATED);
    }
    asAgent.close();
    withUnknownToken.close();
  });

  it("subscribe to the run once for all callers, and only while there is a caller", async () => {
    const channels = () => gateway.redis.pubsub("CHANNELS", `feed:run:${run.runId}`);
    const readers = Array.from({ length: 20 }, () => caller.read("streamPipelineStatus", { runId: run.runId }));
    await Promise.all(readers.map((reader) => reader.count(1)));
    await until("the subscription", async () => (await channels()).length === 1);
    expect(await gateway.redis.pubsub("NUMSUB", `feed:run:${run.runId}`)).to.deep.equal([`feed:run:${run.runId}`, 1]);
    for (const reader of readers) reader.cancel();
    await until("the end of the subscription", async () => (await channels()).length === 0);
  });
});
