import { generateKeyPairSync } from "node:crypto";
import { status } from "@grpc/grpc-js";
import { expect } from "chai";
import type { FetchStepRunRequest } from "../../proto/generated/agent/v1/agent.ts";
import { asId, type ProjectId } from "../../src/domain/ids.ts";
import { GitFault } from "../../src/git/git-fault.ts";
import { until } from "../support/until.ts";
import { Channel, Gateway, invoke, reasonOf, refusal, type TestAgent } from "./gateway.ts";
import { StoredRun } from "./stored-run.ts";

const FETCH: FetchStepRunRequest = { bootId: "boot-1", requestId: "req-1", freeSlots: 1, waitMs: 5_000n };
const REPORT = {
  runId: "",
  jobId: "",
  token: 1n,
  exitCode: 3,
  reason: "",
  lastLine: 0n,
  outputs: {},
  startedAtMs: 0n,
  endedAtMs: 0n,
  usage: undefined,
  notes: undefined,
} as const;

describe("an agent that pulls", () => {
  let gateway: Gateway;
  let agent: TestAgent;
  let run: StoredRun;
  let agents = 0;

  before(async () => (gateway = await Gateway.start()));
  beforeEach(async () => {
    gateway.sentMessages.length = 0;
    await gateway.redis.flushall();
    agent = await gateway.register(`puller-${++agents}`);
    run = await StoredRun.create(gateway.stores, [{ steps: 2 }, {}]);
  });
  after(() => gateway.stop());

  const grantOf = (requestId: string, bootId = "boot-1") => ({ agentId: agent.agentId, bootId, requestId, token: 1 });
  const fetch = (overrides: Partial<FetchStepRunRequest> = {}, options = {}) =>
    invoke(gateway.agents(), "fetchStepRun", { ...FETCH, ...overrides }, agent.metadata, options);
  const claims = () => gateway.messages("claimRequested");

  it("claims an offered job with its own request id, and gets the step once it is granted", async () => {
    const answer = fetch();
    await gateway.context.board.offer(run.offer());
    await until("the claim", () => claims().length === 1);
    expect(claims()[0]).to.deep.include({ agentId: agent.agentId, bootId: "boot-1", requestId: "req-1" });
    await run.grant(grantOf("req-1"));
    await gateway.notify(agent, { type: "dispatch", order: run.grantedStep() });
    const { dispatches } = await answer;
    expect(dispatches.map(({ stepRunId, requestId }) => [stepRunId, requestId])).to.deep.equal([
      [run.stepRunId(), "req-1"],
    ]);
  });

  it("gets the saved grant again for a repeated request id, and claims nothing more", async () => {
    await run.grant(grantOf("req-1"), "running");
    await gateway.context.board.offer(run.offer(1));
    for (let n = 0; n < 2; n++) {
      const { dispatches } = await fetch();
      expect(dispatches.map(({ stepRunId }) => stepRunId)).to.deep.equal([run.stepRunId()]);
    }
    expect(claims()).to.deep.equal([]);
  });

  it("gets the step of a grant that is saved while the store is asked for the agent's jobs and steps", async () => {
    const { aggregates } = gateway.stores;
    const { jobsHeldBy, stepsHeldBy } = aggregates;
    let isGranted = (): void => {};
    const granted = new Promise<void>((resolve) => (isGranted = resolve));
    aggregates.stepsHeldBy = async (agentId) => {
      aggregates.stepsHeldBy = stepsHeldBy;
      const before = await aggregates.stepsHeldBy(agentId);
      await run.grant(grantOf("req-1"));
      isGranted();
      return before;
    };
    aggregates.jobsHeldBy = async (...of) => {
      aggregates.jobsHeldBy = jobsHeldBy;
      await granted;
      return aggregates.jobsHeldBy(...of);
    };
    const { dispatches } = await fetch();
    expect(dispatches.map(({ stepRunId }) => stepRunId)).to.deep.equal([run.stepRunId()]);
  });

  it("claims one job for one request id, also when the request is repeated while it waits", async () => {
    const both = [fetch(), fetch()];
    for (const job of [0, 1]) await gateway.context.board.offer(run.offer(job));
    await until("the claim", () => claims().length === 1);
    await run.grant(grantOf("req-1"));
    await gateway.notify(agent, { type: "dispatch", order: run.grantedStep() });
    const answers = await Promise.all(both);
    expect(answers.map(({ dispatches }) => dispatches.map(({ stepRunId }) => stepRunId))).to.deep.equal([
      [run.stepRunId()],
      [run.stepRunId()],
    ]);
    expect(claims()).to.have.length(1);
  });

  it("gets the next step of a job that it holds, also without a free slot", async () => {
    await run.grant(grantOf("earlier"), "success");
    await run.change({ job: 0, step: 0, state: { lastLine: 0 } });
    const answer = fetch({ freeSlots: 0 });
    await until("the fetch waits", async () => (await gateway.redis.pubsub("CHANNELS", "feed:agent:*")).length === 1);
    await run.grant(grantOf(""), "queued", 0, 1);
    await gateway.notify(agent, { type: "dispatch", order: run.grantedStep(0, 1) });
    expect((await answer).dispatches.map(({ stepIndex }) => stepIndex)).to.deep.equal([1]);
    const again = await fetch({ freeSlots: 0, requestId: "req-2" });
    expect(again.dispatches.map(({ stepRunId }) => stepRunId)).to.deep.equal([run.stepRunId(0, 1)]);
  });

  it("gets an empty list after the wait, and leaves no subscription behind", async () => {
    expect((await fetch({ waitMs: 50n })).dispatches).to.deep.equal([]);
    expect(await gateway.redis.pubsub("CHANNELS", "feed:agent:*")).to.deep.equal([]);
  });

  it("claims another job when its claim is refused", async () => {
    const answer = fetch({ waitMs: 1_000n });
    for (const job of [0, 1]) await gateway.context.board.offer(run.offer(job, { queuedAt: job }));
    await until("the claim", () => claims().length === 1);
    await gateway.notify(agent, { type: "refuseClaim", requestId: "req-1" });
    await until("the next claim", () => claims().length === 2);
    expect(gateway.sentMessages.map(({ to }) => to!.id)).to.deep.equal([run.jobId(0), run.jobId(1)]);
    expect((await answer).dispatches).to.deep.equal([]);
  });

  it("claims nothing more once it has disconnected", async () => {
    const hangUp = new AbortController();
    const answer = refusal(fetch({}, { hangUp: hangUp.signal }));
    await until("the fetch waits", async () => (await gateway.redis.pubsub("CHANNELS", "feed:agent:*")).length === 1);
    hangUp.abort();
    expect((await answer).code).to.equal(status.CANCELLED);
    await until(
      "no subscription is left",
      async () => (await gateway.redis.pubsub("CHANNELS", "feed:agent:*")).length === 0,
    );
    await gateway.context.board.offer(run.offer());
    expect((await gateway.context.board.take({ labels: {} }, 1, 1))[0]?.jobId).to.equal(run.jobId());
  });

  it("gets the names of missing fields in a fetch", async () => {
    const error = await refusal(fetch({ bootId: "", requestId: "", freeSlots: -1 }));
    expect(error.code).to.equal(status.INVALID_ARGUMENT);
    expect(error.details).to.include("/bootId").and.to.include("/requestId").and.to.include("/freeSlots");
  });

  describe("and its heartbeat", () => {
    const beat = (bootId: string, sequence: bigint) =>
      invoke(
        gateway.agents(),
        "heartbeat",
        { bootId, sequence, held: [], heldJobIds: [], takesNoJobs: "" },
        agent.metadata,
      );

    it("shows it as online, and answers with the messages that it has missed", async () => {
      await run.grant(grantOf("req-1"), "cancelling");
      const { sequence, missed } = await beat("boot-1", 7n);
      expect(sequence).to.equal(7n);
      expect(missed.map(({ message }) => message?.$case)).to.deep.equal(["dispatch", "revoke"]);
      expect((await gateway.context.presence.read([agent.agentId])).get(agent.agentId)?.bootId).to.equal("boot-1");
    });

    it("shows which of its steps wait for the tokens of their checkouts, while it gets the others", async () => {
      const project = { projectId: asId<ProjectId>("default"), pipelineId: null };
      const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
      const pem = privateKey.export({ type: "pkcs8", format: "pem" });
      const app = JSON.stringify({ appId: 1, installationId: 2, privateKey: pem });
      await gateway.context.secrets.create({ ...project, name: "APP" }, app, "ann");
      const away = new GitFault("unreachable", "the host is away", { isOfApi: true });
      const git = { appTokens: { source: () => ({ token: () => Promise.reject(away) }) } };
      Object.assign(gateway.context, { git });
      const [step] = (await gateway.stores.plans.loadJob(run.runId, 0))!.steps;
      const args = { repo: "https://github.com/team/app.git", credential: "${{ secrets.APP }}" };
      const checkout = await StoredRun.create(gateway.stores, [{}], {
        steps: [{ ...step!, uses: "checkout", args, late: ["/args/credential"], secrets: ["APP"] }],
      });
      await checkout.grant(grantOf("req-1"));
      await run.grant(grantOf("req-1"));
      const { dispatches } = await fetch({ freeSlots: 2 });
      expect(dispatches.map(({ stepRunId }) => stepRunId)).to.deep.equal([run.stepRunId()]);
      const { missed } = await beat("boot-1", 1n);
      expect(missed.map(({ message }) => message?.$case)).to.deep.equal(["dispatch"]);
      await beat("boot-1", 2n);
      const [record] = await gateway.context.presence.online(60_000);
      const text = "waits for the token of its checkout: the host is away";
      expect(record!.waits).to.deep.equal([{ stepRunId: checkout.stepRunId(), text }]);
      await checkout.change({ job: 0, step: 0, state: { state: "running" } });
      Object.assign(gateway.context, { git: undefined });
    });

    it("declares the steps of an earlier boot lost, and is refused for that boot", async () => {
      await run.grant(grantOf("req-1", "boot-1"), "running");
      await beat("boot-1", 4n);
      expect(gateway.messages("agentLost")).to.deep.equal([]);
      // The process before it may be alive: a token that was stolen must not end it.
      expect(reasonOf(await refusal(beat("boot-2", 1n)))).to.equal("unavailable");
      expect(gateway.messages("agentLost")).to.deep.equal([]);
      await until("the earlier process counts as silent", () => beat("boot-2", 1n).then(Boolean, () => false));
      expect(gateway.messages("agentLost").map(({ bootId }) => bootId)).to.deep.equal(["boot-1"]);
      await run.grant(grantOf("req-2", "boot-2"), "running", 1);
      const error = await refusal(beat("boot-1", 5n));
      expect(reasonOf(error)).to.equal("conflict");
      expect(gateway.messages("agentLost").map(({ bootId }) => bootId)).to.deep.equal(["boot-1"]);
    });
  });

  describe("and its reports", () => {
    const report = (phase: "STEP_PHASE_STARTED" | "STEP_PHASE_FAILED", overrides = {}, options = {}) =>
      invoke(
        gateway.agents(),
        "reportStepRunStatus",
        { report: { ...REPORT, stepRunId: run.stepRunId(), phase, ...overrides } },
        agent.metadata,
        options,
      );
    beforeEach(() => run.grant(grantOf("req-1")));

    it("of a start are answered once they are in the mailbox", async () => {
      expect((await report("STEP_PHASE_STARTED")).verdict).to.equal("REPORT_VERDICT_PROCESSED");
      expect(gateway.messages("reported").map(({ phase }) => phase)).to.deep.equal(["started"]);
    });

    for (const [type, verdict] of [
      ["acknowledge", "REPORT_VERDICT_PROCESSED"],
      ["refuse", "REPORT_VERDICT_REFUSED"],
    ] as const) {
      it(`of an end are answered by the actor's ${type}`, async () => {
        const answer = report("STEP_PHASE_FAILED");
        await until("the message to the run is sent", () => gateway.messages("reported").length === 1);
        await gateway.notify(agent, { type, stepRunId: run.stepRunId(), token: 99 });
        await gateway.notify(agent, { type, stepRunId: run.stepRunId(), token: 1 });
        expect((await answer).verdict).to.equal(verdict);
      });
    }

    it("of an end are answered from the store when the actor's answer is lost", async () => {
      const answer = report("STEP_PHASE_FAILED");
      await until("the message to the run is sent", () => gateway.messages("reported").length === 1);
      await run.change({ job: 0, step: 0, state: { state: "failed", lastLine: 0 } });
      expect((await answer).verdict).to.equal("REPORT_VERDICT_PROCESSED");
    });

    it("are UNAVAILABLE while they are not processed", async () => {
      const error = await refusal(report("STEP_PHASE_FAILED", {}, { deadlineMs: 700 }));
      expect(error.code).to.equal(status.UNAVAILABLE);
      expect(reasonOf(error)).to.equal("unavailable");
    });

    it("of another agent's step or an old token are refused and reach no actor", async () => {
      const thief = await gateway.register("thief");
      const request = { report: { ...REPORT, stepRunId: run.stepRunId(), phase: "STEP_PHASE_FAILED" } } as const;
      const stolen = await invoke(gateway.agents(), "reportStepRunStatus", request, thief.metadata);
      const stale = await report("STEP_PHASE_FAILED", { token: 0n });
      expect([stolen.verdict, stale.verdict]).to.deep.equal(["REPORT_VERDICT_REFUSED", "REPORT_VERDICT_REFUSED"]);
      expect(gateway.sentMessages).to.deep.equal([]);
    });

    it("that name another run or job are malformed and reach no actor", async () => {
      for (const wrong of [{ runId: "run_other" }, { jobId: "job_other" }]) {
        const [field] = Object.keys(wrong);
        for (const phase of ["STEP_PHASE_STARTED", "STEP_PHASE_FAILED"] as const) {
          const error = await refusal(report(phase, { runId: run.runId, jobId: run.jobId(), ...wrong }));
          expect([error.code, reasonOf(error)]).to.deep.equal([status.INVALID_ARGUMENT, "malformed_request"]);
          expect(error.details).to.include(`the report's ${field} names`);
        }
      }
      expect(gateway.sentMessages).to.deep.equal([]);
      const right = await report("STEP_PHASE_STARTED", { runId: run.runId, jobId: run.jobId() });
      expect(right.verdict).to.equal("REPORT_VERDICT_PROCESSED");
    });

    it("that name another run or job end the channel of an agent that is connected", async () => {
      for (const wrong of [{ runId: "run_other" }, { jobId: "job_other" }]) {
        const channel = await Channel.open(gateway, agent);
        const ids = { runId: run.runId, jobId: run.jobId(), stepRunId: run.stepRunId(), ...wrong };
        const value = { ...REPORT, ...ids, phase: "STEP_PHASE_SUCCEEDED" } as const;
        channel.send({ message: { $case: "report", value } });
        expect((await channel.ended()).code).to.equal(status.INVALID_ARGUMENT);
      }
      expect(gateway.messages("reported")).to.deep.equal([]);
    });

    it("without a phase, with a negative token or without a report are malformed", async () => {
      const client = gateway.agents();
      const bad = [{ ...REPORT, stepRunId: "s", phase: "STEP_PHASE_UNSPECIFIED" as const }, undefined];
      for (const body of bad) {
        const error = await refusal(invoke(client, "reportStepRunStatus", { report: body }, agent.metadata));
        expect(error.code).to.equal(status.INVALID_ARGUMENT);
      }
      const error = await refusal(report("STEP_PHASE_FAILED", { token: -1n }));
      expect(error.code).to.equal(status.INVALID_ARGUMENT);
    });
  });
});
