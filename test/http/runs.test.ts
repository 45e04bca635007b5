import { expect } from "chai";
import { shardOf } from "../../queues/shard-map.ts";
import { nextAttempt, newJob } from "../../actors/job/state.ts";
import { newStep } from "../../actors/step/state.ts";
import type { RunDetail, RunView } from "../../src/app/runs/run-view.ts";
import { asId, type AgentId, type CommandId, newId, type PipelineId } from "../../src/domain/ids.ts";
import type { Verdict } from "../../src/domain/effects.ts";
import { commandChannel } from "../../src/feed/feed.ts";
import type { Command } from "../../src/stores/ports/inbox.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";
import { planOf } from "../support/plans.ts";
import { GRANT, saveTurn, type StoredRun, storeRun } from "../support/stored-runs.ts";
import { until } from "../support/until.ts";

describe("runs over HTTP", () => {
  let edge: TestEdge;
  let pipelineId: PipelineId;
  before(async () => {
    edge = await openTestEdge();
  });
  after(() => edge.close());
  beforeEach(async () => {
    const created = await edge.call("POST", "/api/v1/pipelines", { body: { name: newId("pl") } });
    pipelineId = created.body.detail.pipelineId;
  });

  const plan = () => ({
    ...planOf([
      [{ name: "build", steps: 2, matrix: [["node", 20]] }],
      [
        { name: "lint" },
        { name: "test", needs: [1], selector: { matchLabels: [["os", "linux"]], matchExpressions: [] } },
      ],
    ]),
    pipelineId,
  });
  const newRun = () => storeRun(edge.context, plan());
  const running = (run: StoredRun) => saveTurn(edge.context, run, { run: { state: "running", startedAt: Date.now() } });
  const detailOf = async (run: StoredRun, query = "") =>
    (await edge.call("GET", `/api/v1/pipelines/runs/${run.runId}${query}`)).body.detail;
  const control = (run: StoredRun, word: string, body: object = {}) =>
    edge.call("POST", `/api/v1/pipelines/${pipelineId}/runs/${run.runId}/${word}`, { body });

  describe("reading", () => {
    it("shows a run with all its jobs and steps, also those that have not begun", async () => {
      const run = await newRun();
      const detail = await detailOf(run);
      expect(detail).to.deep.include({
        runId: run.runId,
        pipelineId,
        status: "pending",
        statusCode: 1,
        trigger: { kind: "manual", ref: "main" },
        variables: { ref: "main" },
        triggeredBy: "admin",
        attempt: 1,
        startTime: null,
        endTime: null,
        duration: 0,
      });
      expect(detail.waitingFor.reason).to.equal("worker");
      expect(detail.jobs.map(({ name }: { name: string }) => name)).to.deep.equal(["build", "lint", "test"]);
      expect(detail.jobs[0]).to.deep.include({
        jobId: run.jobIds[0],
        stage: "stage-0",
        matrix: { node: 20 },
        needs: [],
        status: "pending",
        statusCode: 1,
        attempt: 1,
        retryOf: null,
        agentId: null,
        reason: "",
      });
      expect(detail.jobs[0].steps.map(({ stepRunId }: { stepRunId: string }) => stepRunId)).to.deep.equal(
        run.stepIds[0],
      );
      expect(detail.jobs[0].steps[0]).to.deep.include({
        name: "step-0",
        status: "pending",
        statusCode: 1,
        exitCode: null,
      });
      expect(detail.jobs[2].needs).to.deep.equal(["lint"]);
    });

    it("shows only the jobs that are asked for, by id and by position", async () => {
      const run = await newRun();
      const names = async (query: string) => {
        const { jobs, jobCount } = await detailOf(run, query);
        expect(jobCount).to.equal(3);
        return jobs.map(({ name }: { name: string }) => name);
      };
      expect(await names("?jobs=2..3")).to.deep.equal(["lint", "test"]);
      expect(await names(`?jobs=${run.jobIds[2]},1..1&attempts=all`)).to.deep.equal(["build", "test"]);
      expect(await names("?jobs=none")).to.deep.equal([]);
      expect(await names("?jobs=4..90")).to.deep.equal([]);
      const path = `/api/v1/pipelines/runs/${run.runId}?jobs=`;
      expect((await edge.call("GET", `${path}job_unknown`)).body).to.include({ code: 404, reason: "not_found" });
      const bad = await edge.call("GET", `${path}3..2,0..1`);
      expect(bad.body).to.include({ code: 400, reason: "malformed_request" });
      expect(bad.body.errors.map(({ pointer }: { pointer: string }) => pointer)).to.deep.equal(["/jobs", "/jobs"]);
    });

    it("says what a queued job waits for, by the agents that are online", async () => {
      const run = await newRun();
      await saveTurn(edge.context, run, {
        run: { state: "running" },
        jobs: [
          { jobId: run.jobIds[1]!, state: "running", stageOpen: true, grant: GRANT },
          { jobId: run.jobIds[2]!, state: "queued", stageOpen: true, openNeeds: [] },
        ],
      });
      const waiting = async () => (await detailOf(run)).jobs[2].waitingFor;
      expect(await waiting()).to.include({ reason: "no_agent_online" });
      const record = { agentId: asId<AgentId>("agt_1"), bootId: "b", gatewayId: "g", slots: 1, busy: 0 };
      await edge.context.presence.beat({ ...record, labels: { os: "mac" } });
      expect(await waiting()).to.include({ reason: "no_agent_matches" });
      expect((await waiting()).text).to.include("os=linux");
      const failing = [{ clause: "os=linux", agents: 1, agentIds: [record.agentId] }];
      const nearest = { agentId: record.agentId, failing: ["os=linux"] };
      expect((await waiting()).agents).to.deep.equal({ online: 1, matching: 0, failing, nearest, busy: [] });
      await edge.context.presence.beat({ ...record, labels: { os: "linux" }, busy: 1 });
      expect(await waiting()).to.include({ reason: "all_busy" });
      const busy = [{ agentId: record.agentId, busy: 1, slots: 1, takesNoJobs: "" }];
      expect((await waiting()).agents).to.deep.equal({ online: 1, matching: 1, failing: [], nearest: null, busy });
      await edge.context.presence.leave(record.agentId, "b");
      expect((await detailOf(run)).jobs[1]).to.include({ agentId: GRANT.agentId, waitingFor: null });
    });

    it("says in the list what each run without a running job waits for", async () => {
      const [pending, waiting, atWork] = [await newRun(), await newRun(), await newRun()];
      const queued = (run: StoredRun) =>
        ({ jobId: run.jobIds[2]!, state: "queued", stageOpen: true, queuedAt: 1 }) as const;
      await saveTurn(edge.context, waiting, { run: { state: "running" }, jobs: [queued(waiting)] });
      const busy = { jobId: atWork.jobIds[1]!, state: "running", grant: GRANT } as const;
      await saveTurn(edge.context, atWork, { run: { state: "running" }, jobs: [queued(atWork), busy] });
      const reasons = async () => {
        const { body } = await edge.call("GET", `/api/v1/pipelines/${pipelineId}/runs?sort=createdAt`);
        return new Map(body.detail.list.map((row: RunView) => [row.runId, row.waitingFor?.reason ?? null]));
      };
      const first = await reasons();
      expect([pending, waiting, atWork].map(({ runId }) => first.get(runId))).to.deep.equal([
        "worker",
        "no_agent_online",
        null,
      ]);
      const record = { agentId: asId<AgentId>("agt_2"), bootId: "b", gatewayId: "g", slots: 1, busy: 0 };
      await edge.context.presence.beat({ ...record, labels: { os: "mac" } });
      expect((await reasons()).get(waiting.runId)).to.equal("no_agent_matches");
      expect((await detailOf(waiting)).waitingFor).to.include({ reason: "no_agent_matches" });
      expect((await detailOf(atWork)).waitingFor).to.equal(null);
      await edge.context.presence.leave(record.agentId, "b");
    });

    it("says what steps that have not begun wait for", async () => {
      const run = await newRun();
      const job = { jobId: run.jobIds[0]!, state: "running", grant: GRANT } as const;
      const step = { stepRunId: run.stepIds[0]![0]!, state: "queued", grant: GRANT } as const;
      await saveTurn(edge.context, run, { run: { state: "running" }, jobs: [job], steps: [step] });
      const { jobs } = await detailOf(run);
      const reasons = jobs.map(({ steps }: RunDetail["jobs"][number]) => steps.map((each) => each.waitingFor?.reason));
      expect(reasons).to.deep.equal([["start", "step"], ["job"], ["job"]]);
      const text = "waits for the token of its checkout: the host is away";
      const record = { agentId: GRANT.agentId, bootId: "b", gatewayId: "g", slots: 1, busy: 1, labels: {} };
      await edge.context.presence.beat({ ...record, waits: [{ stepRunId: step.stepRunId, text }] });
      expect((await detailOf(run)).jobs[0].steps[0].waitingFor).to.deep.equal({ reason: "token", text });
      await edge.context.presence.leave(record.agentId, "b");
    });

    it("shows the newest attempts, and on request earlier ones with links", async () => {
      const run = await newRun();
      const { aggregates } = edge.context.stores;
      const aggregate = (await aggregates.load(run.runId))!;
      const lost = { ...newJob(run.runId, plan().jobs[1]!), state: "failed" as const, reason: "agent_lost" };
      const again = nextAttempt(lost);
      const step = newStep(again, 0);
      const index = { position: 1, jobId: null, attempt: 1, agentId: null };
      await aggregates.save({
        expectedVersion: 1,
        head: { ...aggregate.head, version: 2 },
        events: [],
        changed: [
          { kind: "job", id: lost.jobId, state: lost, index: { ...index, status: "failed" } },
          { kind: "job", id: again.jobId, state: again, index: { ...index, status: "pending", attempt: 2 } },
          {
            kind: "step",
            id: step.stepRunId,
            state: step,
            index: { ...index, position: 0, jobId: again.jobId, status: "pending" },
          },
        ],
      });
      const newest = (await detailOf(run)).jobs;
      expect(newest).to.have.length(3);
      expect(newest[1]).to.include({ jobId: again.jobId, attempt: 2, retryOf: lost.jobId, retriedBy: null });
      expect(newest[1].steps).to.have.length(1);
      const byId = (await detailOf(run, `?jobs=${lost.jobId}`)).jobs;
      expect(byId, "an earlier attempt that is asked for").to.have.length(1);
      expect(byId[0]).to.include({ jobId: lost.jobId, retriedBy: again.jobId });
      expect((await detailOf(run, "?jobs=2..2")).jobs).to.deep.equal([newest[1]]);
      const all = (await detailOf(run, "?attempts=all")).jobs;
      expect(all.map(({ attempt }: { attempt: number }) => attempt)).to.deep.equal([1, 1, 2, 1]);
      expect(all[1]).to.include({ jobId: lost.jobId, reason: "agent_lost", retriedBy: again.jobId });
    });

    it("lists the runs of a pipeline, newest first, by status", async () => {
      const [first, second] = [await newRun(), await newRun()];
      await saveTurn(edge.context, first, { run: { state: "partial", startedAt: 1_000, endedAt: 3_500 } });
      const list = async (query: string) =>
        (await edge.call("GET", `/api/v1/pipelines/${pipelineId}/runs${query}`)).body.detail;
      const ids = (found: { list: { runId: string }[] }) => found.list.map(({ runId }) => runId);
      expect(ids(await list(""))).to.deep.equal([second.runId, first.runId]);
      expect(ids(await list("?sort=createdAt&pageSize=1"))).to.deep.equal([first.runId]);
      const page = await list("?pageSize=1");
      expect([page.total, page.totalIsExact]).to.deep.equal([2, true]);
      const behind = await list(`?pageSize=1&after=${page.next}`);
      expect(ids(behind)).to.deep.equal([first.runId]);
      expect((await list(`?pageSize=1&after=${behind.next}`)).next).to.equal(null);
      expect((await list("")).next).to.equal(null);
      const forged = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
      for (const after of [
        "",
        "x",
        `${page.next}x`,
        `${page.next}=`,
        "a".repeat(501),
        ...[null, {}, [1], ["1", "run_"], [1, 2], [1.5, "run_"], [1, "run_", 3], [1, { $gt: "" }]].map(forged),
      ]) {
        const { status, body } = await edge.call("GET", `/api/v1/pipelines/${pipelineId}/runs?after=${after}`);
        expect([status, body.errors?.[0]?.pointer], after).to.deep.equal([400, "/after"]);
      }
      const beyond = await list(`?after=${forged([0, "' OR 1=1 --"])}`);
      expect([beyond.list, beyond.total]).to.deep.equal([[], 2]);
      const partial = await list("?status=partial");
      expect(partial.total).to.equal(1);
      expect(partial.list[0]).to.deep.include({
        runId: first.runId,
        status: "partial",
        statusCode: 7,
        startTime: "1970-01-01T00:00:01.000Z",
        endTime: "1970-01-01T00:00:03.500Z",
        duration: 2_500,
      });
    });

    it("shows the newest run's status as the pipeline's, and a partial run as failed", async () => {
      const run = await newRun();
      const pipeline = async () => (await edge.call("GET", `/api/v1/pipelines/${pipelineId}`)).body.detail;
      await running(run);
      expect(await pipeline()).to.include({ status: "running" });
      await saveTurn(edge.context, run, { run: { state: "partial" } });
      const { status, lastRun, lastRuns } = await pipeline();
      expect(status).to.equal("failed");
      expect(lastRun).to.include({ runId: run.runId, status: "partial", statusCode: 7 });
      expect(lastRuns[0]).to.deep.equal(lastRun);
      const failed = await edge.call("GET", "/api/v1/pipelines?status=failed");
      expect(failed.body.detail.list.map((view: { pipelineId: string }) => view.pipelineId)).to.include(pipelineId);
    });

    it("answers 404 for unknown runs and for runs of another pipeline", async () => {
      const run = await newRun();
      expect((await edge.call("GET", "/api/v1/pipelines/runs/run_unknown")).body).to.include({ code: 404 });
      expect((await edge.call("GET", `/api/v1/pipelines/${pipelineId}/runs/${run.runId}`)).status).to.equal(200);
      expect((await edge.call("GET", `/api/v1/pipelines/pl_other/runs/${run.runId}`)).status).to.equal(404);
      for (const word of ["stop", "pause", "resume"]) {
        const answer = await edge.call("POST", `/api/v1/pipelines/pl_other/runs/${run.runId}/${word}`);
        expect(answer.body, word).to.include({ code: 404, reason: "not_found" });
      }
      expect((await edge.call("GET", `/api/v1/pipelines/runs/${run.runId}?attempts=some`)).status).to.equal(400);
    });
  });

  describe("control", () => {
    /** Answers the next command of the run, as the owner of its shard would. */
    async function decideNext(
      run: StoredRun,
      outcome: "accepted" | "refused",
      status: Verdict["status"],
    ): Promise<Command> {
      const { inbox } = edge.context.stores;
      const command = await until("a stored command", async () => (await inbox.pending(run.runId))[0]);
      await inbox.answer(command.id, { outcome, status });
      await edge.context.feed.publish(commandChannel(command.id), { outcome, status });
      return command;
    }

    it("answers a stop at once, when the command is stored", async () => {
      const run = await newRun();
      const answer = await control(run, "stop", { reason: "enough", operator: "ann" });
      expect(answer.status).to.equal(200);
      expect(answer.body.detail).to.deep.equal({ runId: run.runId, pipelineId, status: "pending", statusCode: 1 });
      const [command] = await edge.context.stores.inbox.pending(run.runId);
      const shard = shardOf(run.runId, edge.context.shards);
      expect(command).to.include({ kind: "stop", reason: "enough", operator: "ann", actor: "admin", shard });
      expect(edge.sentMessages).to.deep.include({ rootId: run.runId, to: null, message: null });
    });

    it("needs no body for a command", async () => {
      const run = await newRun();
      const answer = await edge.call("POST", `/api/v1/pipelines/${pipelineId}/runs/${run.runId}/stop`);
      expect(answer.status).to.equal(200);
    });

    it("refuses commands to final runs, with their status", async () => {
      const run = await newRun();
      await saveTurn(edge.context, run, { run: { state: "success" } });
      for (const word of ["stop", "pause", "resume"]) {
        const answer = await control(run, word);
        expect(answer.body, word).to.include({ code: 409, reason: "conflict" });
        expect(answer.body.errMsg).to.include("success");
      }
      expect(await edge.context.stores.inbox.pending(run.runId)).to.have.length(0);
    });

    it("answers pause and resume with the run's verdict", async () => {
      const run = await newRun();
      await running(run);
      const [paused] = await Promise.all([control(run, "pause"), decideNext(run, "accepted", "paused")]);
      expect(paused.body.detail).to.include({ status: "paused", statusCode: 6 });
      const [resumed] = await Promise.all([control(run, "resume"), decideNext(run, "accepted", "running")]);
      expect(resumed.body.detail).to.include({ status: "running", statusCode: 2 });
      const [refused] = await Promise.all([control(run, "resume"), decideNext(run, "refused", "running")]);
      expect(refused.body).to.include({ code: 409, reason: "conflict" });
      expect(refused.body.errMsg).to.include("running");
    });

    it("answers the cancel of a step or job with the job's verdict", async () => {
      const run = await newRun();
      const [jobId, stepRunId] = [run.jobIds[0]!, run.stepIds[0]![0]!];
      const [step, asked] = await Promise.all([
        control(run, `steps/${stepRunId}/cancel`, { reason: "slow", operator: "ann" }),
        decideNext(run, "accepted", "running"),
      ]);
      expect(step.body.detail).to.deep.equal({ stepRunId, jobId, runId: run.runId, status: "running", statusCode: 3 });
      expect(asked).to.include({
        kind: "cancelStep",
        jobId,
        stepRunId,
        reason: "slow",
        operator: "ann",
        actor: "admin",
      });
      const [job] = await Promise.all([control(run, `jobs/${jobId}/cancel`), decideNext(run, "accepted", "cancelled")]);
      expect(job.body.detail).to.deep.equal({ jobId, runId: run.runId, status: "cancelled", statusCode: 6 });
      const [refused] = await Promise.all([
        control(run, `jobs/${jobId}/cancel`),
        decideNext(run, "refused", "success"),
      ]);
      expect(refused.body).to.include({ code: 409, reason: "conflict" });
      expect(refused.body.errMsg).to.include("which is success, and has ended");

      const other = await newRun();
      for (const path of [`steps/${stepRunId}/cancel`, `jobs/${jobId}/cancel`, "jobs/job_none/cancel"]) {
        expect((await control(other, path)).body, path).to.include({ code: 404, reason: "not_found" });
      }
      const elsewhere = `/api/v1/pipelines/pl_other/runs/${run.runId}/steps/${stepRunId}/cancel`;
      expect((await edge.call("POST", elsewhere)).status).to.equal(404);
      const { token } = await edge.userWithRole("viewer");
      const path = `/api/v1/pipelines/${pipelineId}/runs/${run.runId}/jobs/${jobId}/cancel`;
      expect((await edge.call("POST", path, { token })).status).to.equal(403);
    });

    it("finds a verdict in the store when none was published", async () => {
      const run = await newRun();
      await running(run);
      const pausing = control(run, "pause");
      const { inbox } = edge.context.stores;
      const command = await until("a stored command", async () => (await inbox.pending(run.runId))[0]);
      await inbox.answer(command.id, { outcome: "accepted", status: "paused" });
      expect((await pausing).body.detail.status).to.equal("paused");
    });

    it("answers 503 without a verdict, and the first command's verdict to a repeat of its requestId", async () => {
      const run = await newRun();
      await running(run);
      const late = await control(run, "pause", { requestId: "p1" });
      expect(late.body).to.include({ code: 503, reason: "unavailable" });
      const [command] = await edge.context.stores.inbox.pending(run.runId);
      await edge.context.stores.inbox.answer(command!.id, { outcome: "accepted", status: "paused" });
      const repeat = await control(run, "pause", { requestId: "p1" });
      expect(repeat.body.detail.status).to.equal("paused");
      expect(await edge.context.stores.inbox.pending(run.runId)).to.have.length(0);
      const other = await control(run, "pause", { requestId: "p1", reason: "another" });
      expect(other.body).to.include({ code: 409, reason: "request_id_reused" });
    }).timeout(10_000);

    it("gives the first answer to a repeated stop, also after the run has ended", async () => {
      const run = await newRun();
      await control(run, "stop", { requestId: "s1" });
      await saveTurn(edge.context, run, { run: { state: "cancelled" } });
      expect((await control(run, "stop", { requestId: "s1" })).status).to.equal(200);
      expect((await control(run, "stop")).status).to.equal(409);
      expect(await edge.context.stores.inbox.verdict(asId<CommandId>("cmd_x"))).to.equal(undefined);
    });

    it("refuses unknown fields, and an operator who is not the caller", async () => {
      const run = await newRun();
      expect((await control(run, "stop", { why: "x" })).body.errors[0]).to.include({ pointer: "/why" });
      const { token } = await edge.userWithRole("operator");
      const path = `/api/v1/pipelines/${pipelineId}/runs/${run.runId}/stop`;
      expect((await edge.call("POST", path, { token, body: { operator: "admin" } })).status).to.equal(403);
      expect(await edge.context.stores.inbox.pending(run.runId)).to.have.length(0);
    });
  });
});
