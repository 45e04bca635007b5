import { status } from "@grpc/grpc-js";
import { expect } from "chai";
import type { AgentNotice } from "../../src/board/agent-notices.ts";
import type { AgentId } from "../../src/domain/ids.ts";
import { until } from "../support/until.ts";
import { Channel, Gateway, invoke, reasonOf, type TestAgent } from "./gateway.ts";
import { StoredRun } from "./stored-run.ts";

const REPORT = {
  runId: "",
  jobId: "",
  exitCode: 0,
  reason: "",
  lastLine: 4n,
  outputs: {},
  startedAtMs: 1_000n,
  endedAtMs: 1_250n,
  usage: { cpuMs: 40n, maxRssBytes: 2n ** 30n },
  notes: undefined,
} as const;

describe("an agent's control channel", () => {
  let gateway: Gateway;
  let agents = 0;
  before(async () => (gateway = await Gateway.start()));
  beforeEach(async () => {
    gateway.sentMessages.length = 0;
    await gateway.redis.flushall();
  });
  const stopLater: (() => Promise<void>)[] = [];
  afterEach(async () => {
    await gateway.hangUp();
    for (const stop of stopLater.splice(0)) await stop();
  });
  after(() => gateway.stop());

  const newAgent = (labels = {}): Promise<TestAgent> => gateway.register(`agent-${++agents}`, 2, labels);
  const grantOf = (agent: TestAgent, requestId = "", bootId = "boot-1") => ({
    agentId: agent.agentId,
    bootId,
    requestId,
    token: 1,
  });

  it("welcomes the agent, shows it as online, and takes over its labels and slots", async () => {
    const agent = await newAgent();
    const channel = await Channel.open(gateway, agent, { labels: { os: "linux" }, slots: 4, version: "2" });
    const welcome = await channel.next("welcome");
    expect(welcome).to.deep.equal({ agentId: agent.agentId, heartbeatIntervalMs: 1_000n, eventNamespace: "svc" });
    expect(channel.kinds()[0]).to.equal("welcome");
    const [present] = await gateway.context.presence.online(60_000);
    expect(present).to.include({ agentId: agent.agentId, bootId: "boot-1", slots: 4, busy: 0 });
    const stored = await gateway.stores.identity.findAgent(agent.agentId);
    expect(stored).to.deep.include({ slots: 4, version: "2", labels: { os: "linux" } });
  });

  it("acknowledges a heartbeat after it has recorded the heartbeat", async () => {
    const agent = await newAgent();
    const channel = await Channel.open(gateway, agent);
    const before = (await gateway.context.presence.read([agent.agentId])).get(agent.agentId)!.beat;
    await channel.beat({ heldJobIds: ["job_unknown"] });
    const after = (await gateway.context.presence.read([agent.agentId])).get(agent.agentId)!.beat;
    expect(after).to.not.equal(before);
    expect((await gateway.context.presence.online(60_000))[0]).to.include({ busy: 1 });
  });

  it("keeps the stream during an outage, and acknowledges no heartbeat that it cannot record", async function () {
    this.timeout(30_000);
    const agent = await newAgent();
    const channel = await Channel.open(gateway, agent);
    await gateway.testRedis.kill();
    const lost = channel.heartbeat();
    await until("Redis is missed", async () => (await gateway.redis.ping().catch(() => "")) === "");
    await gateway.testRedis.restart();
    await until("Redis is back", async () => (await gateway.redis.ping().catch(() => "")) === "PONG");
    await channel.beat();
    expect(channel.all("heartbeatAck").map(({ sequence }) => sequence)).to.not.include(lost);
    expect(channel.status).to.equal(undefined);
  });

  it("ends streams with a wrong first message, and says why", async () => {
    const agent = await newAgent();
    const early = new Channel(gateway, agent);
    early.heartbeat();
    expect(await early.ended()).to.include({ code: status.INVALID_ARGUMENT });
    const odd = new Channel(gateway, agent);
    odd.hello({ bootId: "", slots: 0 });
    expect(await odd.ended()).to.include({ code: status.INVALID_ARGUMENT });
    const twice = await Channel.open(gateway, agent);
    twice.hello();
    expect(await twice.ended()).to.include({ code: status.INVALID_ARGUMENT });
    const other = await Channel.open(gateway, agent);
    other.heartbeat({ bootId: "another" });
    expect(reasonOf(await other.ended())).to.equal("conflict");
  });

  it("shows an agent as offline at once after its goodbye", async () => {
    const agent = await newAgent();
    const channel = await Channel.open(gateway, agent);
    channel.end();
    expect(await channel.ended()).to.include({ code: status.OK });
    expect(await gateway.context.presence.online(60_000)).to.deep.equal([]);
  });

  it("dispatches after the grant and not before, with everything that the agent needs", async () => {
    const agent = await newAgent();
    const channel = await Channel.open(gateway, agent);
    const run = await StoredRun.create(gateway.stores, [{ steps: [{ timeoutMs: 60_000 }], cancelGraceMs: 7_000 }], {
      env: [["A", "job"]],
      late: [],
      steps: [
        {
          name: "step-0",
          uses: "shell",
          action: "",
          args: { script: "echo hi" },
          env: [["A", "step"]],
          workingDirectory: "src",
          artifacts: [{ name: "build", paths: ["dist"], ifMissing: "warn", retentionMs: null }],
          plugin: null,
          late: [],
          secrets: [],
        },
      ],
    });
    await gateway.context.board.offer(run.offer());
    const claim = await until("the claim", () => gateway.messages("claimRequested")[0]);
    expect(claim).to.include({ agentId: agent.agentId, bootId: "boot-1" });
    expect(gateway.sentMessages[0]).to.deep.include({ rootId: run.runId, to: { kind: "job", id: run.jobId() } });
    expect(channel.all("dispatch"), "before the grant").to.deep.equal([]);
    await run.grant(grantOf(agent, claim["requestId"] as string));
    await gateway.notify(agent, { type: "dispatch", order: run.grantedStep() });
    const dispatch = await channel.next("dispatch");
    const { env, ...rest } = dispatch;
    expect(rest).to.deep.equal({
      runId: run.runId,
      jobId: run.jobId(),
      stepRunId: run.stepRunId(),
      token: 1n,
      pipelineId: "pl_TEST",
      jobName: "job-0",
      stepName: "step-0",
      uses: "shell",
      action: "",
      argsJson: '{"script":"echo hi"}',
      workingDirectory: "src",
      timeoutMs: 60_000n,
      cancelGraceMs: 7_000n,
      leaseMs: 30_000n,
      stepIndex: 0,
      requestId: claim["requestId"],
      jobAttempt: 1,
      secrets: [],
      services: [],
      container: undefined,
      artifacts: [{ name: "build", paths: ["dist"], ifMissing: "IF_MISSING_WARN" }],
      plugin: undefined,
      testReports: undefined,
      logLimit: { lines: 1_000_000n, bytes: 100_000_000n, tailLines: 10_000n, tailBytes: 10_000_000n },
      contentLimits: { fileBytes: 1_000_000n, artifactBytes: 1_500_000n, cacheBytes: 600_000n },
    });
    expect(env.slice(0, 2)).to.deep.equal([
      { name: "A", value: "job" },
      { name: "A", value: "step" },
    ]);
    expect(env).to.deep.include({ name: "MILLRACE_REF", value: "main" });
    expect(env).to.deep.include({ name: "MILLRACE_PIPELINE_ID", value: "pl_TEST" });
  });

  it("does not send a dispatch for another boot of the agent", async () => {
    const agent = await newAgent();
    const channel = await Channel.open(gateway, agent);
    const run = await StoredRun.create(gateway.stores);
    await run.grant(grantOf(agent));
    await gateway.notify(agent, { type: "dispatch", order: { ...run.grantedStep(), bootId: "boot-2" } });
    await channel.beat({ held: [held(run)], heldJobIds: [run.jobId()] });
    expect(channel.all("dispatch")).to.deep.equal([]);
  });

  it("passes on revocations, releases, acknowledgements and refusals in order", async () => {
    const agent = await newAgent();
    const channel = await Channel.open(gateway, agent);
    const run = await StoredRun.create(gateway.stores);
    const [jobId, stepRunId] = [run.jobId(), run.stepRunId()];
    await run.grant(grantOf(agent));
    const notices: AgentNotice[] = [
      { type: "dispatch", order: run.grantedStep() },
      { type: "revoke", jobId, stepRunId, token: 1, graceMs: 500, reason: "cancelled" },
      { type: "acknowledge", stepRunId, token: 1 },
      { type: "refuse", stepRunId, token: 1 },
      { type: "release", jobId },
    ];
    for (const notice of notices) await gateway.notify(agent, notice);
    await channel.next("release");
    expect(channel.kinds()).to.deep.equal(["welcome", ...notices.map(({ type }) => type)]);
    expect(await channel.next("revoke")).to.include({ graceMs: 500n, reason: "cancelled", token: 1n });
  });

  it("claims as many jobs as the agent has slots, and another when one is released", async () => {
    const agent = await newAgent();
    const channel = await Channel.open(gateway, agent, { slots: 2 });
    const run = await StoredRun.create(gateway.stores, [{}, {}, {}, {}]);
    for (const job of [0, 1, 2, 3]) await gateway.context.board.offer(run.offer(job, { queuedAt: job }));
    await until("two claims", () => claims().length === 2);
    for (const job of [0, 1]) {
      await run.grant(grantOf(agent, claims()[job]!), "queued", job);
      await gateway.context.board.withdraw(run.jobId(job));
      await gateway.notify(agent, { type: "dispatch", order: run.grantedStep(job) });
    }
    await channel.next("dispatch", 2);
    await channel.beat({ held: [held(run, 0), held(run, 1)], heldJobIds: [run.jobId(0), run.jobId(1)] });
    expect(claims(), "while both slots are taken").to.have.length(2);
    await run.change({ job: 0, state: { state: "success" } }, { job: 0, step: 0, state: { state: "success" } });
    await gateway.notify(agent, { type: "release", jobId: run.jobId(0) });
    await until("a third claim", () => claims().length === 3);
    expect(gateway.sentMessages.at(-1)!.to).to.deep.equal({ kind: "job", id: run.jobId(2) });
  });

  it("claims the next job when a claim is refused", async () => {
    const agent = await newAgent();
    await Channel.open(gateway, agent, { slots: 1 });
    const run = await StoredRun.create(gateway.stores, [{}, {}]);
    for (const job of [0, 1]) await gateway.context.board.offer(run.offer(job, { queuedAt: job }));
    await until("a claim", () => claims().length === 1);
    await gateway.notify(agent, { type: "refuseClaim", requestId: claims()[0]! });
    await until("the next claim", () => claims().length === 2);
    expect(gateway.sentMessages[1]!.to).to.deep.equal({ kind: "job", id: run.jobId(1) });
  });

  it("frees the slot of a claim without an answer", async () => {
    const agent = await newAgent();
    const channel = await Channel.open(gateway, agent, { slots: 1 });
    const run = await StoredRun.create(gateway.stores);
    await gateway.context.board.offer(run.offer());
    await until("the job is claimed again", async () => {
      await channel.beat();
      return claims().length === 2;
    });
    expect(new Set(claims())).to.have.length(2);
  });

  it("wakes one agent for one offer, and only one whose labels match", async () => {
    for (const os of ["windows", "linux", "linux", "linux"]) {
      await Channel.open(gateway, await newAgent({ os }), { labels: { os }, slots: 1 });
    }
    const run = await StoredRun.create(gateway.stores, [{}, {}]);
    const selector = { matchLabels: [["os", "linux"] as const], matchExpressions: [] };
    for (const job of [0, 1]) await gateway.context.board.offer(run.offer(job, { selector }));
    await until("two claims", () => claims().length === 2);
    const askers = gateway.messages("claimRequested").map(({ agentId }) => agentId);
    expect(new Set(askers)).to.have.length(2);
    for (const asker of askers) {
      expect((await gateway.stores.identity.findAgent(asker as AgentId))!.labels["os"]).to.equal("linux");
    }
  });

  it("claims nothing while the agent is silent, and claims again after its next heartbeat", async () => {
    const [standing, beating] = [await newAgent(), await newAgent()];
    const stood = await Channel.open(gateway, standing, { slots: 1 });
    const beats = await Channel.open(gateway, beating, { slots: 1 });
    const silentSince = performance.now();
    await until("one has been silent for two heartbeats", async () => {
      await beats.beat();
      return performance.now() - silentSince > 2_100;
    });
    const run = await StoredRun.create(gateway.stores, [{}, {}]);
    const askers = () => gateway.messages("claimRequested").map(({ agentId }) => agentId);
    await gateway.context.board.offer(run.offer(0));
    await until("the other one asks", () => askers().length === 1);
    expect(askers()).to.deep.equal([beating.agentId]);
    await gateway.context.board.offer(run.offer(1));
    await stood.beat();
    await until("the silent one asks, too", () => askers().length === 2);
    expect(askers()[1]).to.equal(standing.agentId);
  });

  it("claims nothing while the agent takes no jobs, and shows why", async () => {
    const agent = await newAgent();
    const takesNoJobs = "its disk is full";
    const channel = await Channel.open(gateway, agent, { takesNoJobs });
    const run = await StoredRun.create(gateway.stores);
    await gateway.context.board.offer(run.offer());
    await channel.beat({ takesNoJobs });
    expect(claims()).to.deep.equal([]);
    const present = (await gateway.context.presence.online(60_000)).find(({ agentId }) => agentId === agent.agentId);
    expect(present).to.include({ takesNoJobs });
    await channel.beat();
    await until("a claim", () => claims().length === 1);
  });

  it("hands back the jobs of an agent that says goodbye, and ends the stream", async () => {
    const agent = await newAgent();
    const channel = await Channel.open(gateway, agent);
    const run = await StoredRun.create(gateway.stores);
    await run.grant(grantOf(agent));
    channel.send({ message: { $case: "drain", value: { goodbye: true } } });
    channel.end();
    expect((await channel.ended()).code).to.equal(status.OK);
    expect(gateway.sentMessages).to.deep.equal([
      {
        rootId: run.runId,
        to: { kind: "job", id: run.jobId() },
        message: { type: "agentLost", agentId: agent.agentId, bootId: "boot-1", reason: "agent_stopped" },
      },
    ]);
    expect((await gateway.context.presence.read([agent.agentId])).size, "it is not missed").to.equal(0);
  });

  it("claims nothing while the agent drains", async () => {
    const agent = await newAgent();
    const channel = await Channel.open(gateway, agent);
    channel.send({ message: { $case: "drain", value: { goodbye: false } } });
    await channel.beat();
    const run = await StoredRun.create(gateway.stores);
    await gateway.context.board.offer(run.offer());
    await channel.beat();
    expect(claims()).to.deep.equal([]);
    expect((await gateway.context.board.take({ labels: {} }, 1, 1))[0]?.jobId).to.equal(run.jobId());
  });

  it("passes reports to the step as messages of actors", async () => {
    const agent = await newAgent();
    const channel = await Channel.open(gateway, agent);
    const run = await StoredRun.create(gateway.stores);
    await run.grant(grantOf(agent));
    const report = { ...REPORT, stepRunId: run.stepRunId(), token: 1n, phase: "STEP_PHASE_SUCCEEDED" } as const;
    channel.send({ message: { $case: "report", value: report } });
    await until("the message to the run is sent", () => gateway.sentMessages.length === 1);
    expect(gateway.sentMessages[0]).to.deep.equal({
      rootId: run.runId,
      to: { kind: "step", id: run.stepRunId() },
      message: {
        type: "reported",
        agentId: agent.agentId,
        token: 1,
        phase: "succeeded",
        exitCode: 0,
        reason: "",
        hasOutputs: false,
        lastLine: 4,
        durationMs: 250,
        usage: { cpuMs: 40, maxRssBytes: 2 ** 30 },
      },
    });
  });

  it("refuses reports of other agents' steps, stale tokens and unknown steps", async () => {
    const [owner, thief] = [await newAgent(), await newAgent()];
    const channel = await Channel.open(gateway, thief);
    const run = await StoredRun.create(gateway.stores, [{}, {}]);
    await run.grant(grantOf(owner), "running", 0);
    await run.grant({ ...grantOf(thief), token: 7 }, "running", 1);
    const forged: [string, bigint][] = [
      [run.stepRunId(0), 1n],
      [run.stepRunId(1), 6n],
      ["step_unknown", 1n],
    ];
    for (const [stepRunId, token] of forged) {
      const report = { ...REPORT, stepRunId, token, phase: "STEP_PHASE_FAILED" } as const;
      channel.send({ message: { $case: "report", value: report } });
    }
    await channel.next("refuse", 3);
    expect(channel.all("refuse").map(({ stepRunId, token }) => [stepRunId, token])).to.deep.equal(forged);
    expect(gateway.sentMessages).to.deep.equal([]);
  });

  it("passes a report on as soon as the mailbox can be reached again", async () => {
    const agent = await newAgent();
    const channel = await Channel.open(gateway, agent);
    const run = await StoredRun.create(gateway.stores);
    await run.grant(grantOf(agent));
    gateway.mailboxOutage = true;
    const report = { ...REPORT, stepRunId: run.stepRunId(), token: 1n, phase: "STEP_PHASE_STARTED" } as const;
    channel.send({ message: { $case: "report", value: report } });
    await channel.beat({ held: [held(run)], heldJobIds: [run.jobId()] }).finally(() => (gateway.mailboxOutage = false));
    await until("the message to the run is sent", () => gateway.messages("reported").length === 1);
  });

  it("ends a stream whose agent reads nothing, so that memory stays bounded", async () => {
    const agent = await newAgent();
    const channel = await Channel.open(gateway, agent);
    channel.pause();
    const run = await StoredRun.create(gateway.stores);
    const notice = { type: "revoke", jobId: run.jobId(), stepRunId: run.stepRunId(), token: 1, graceMs: 1 } as const;
    const reason = "x".repeat(4_000);
    await until(
      "the gateway gives up",
      async () => {
        await Promise.all(Array.from({ length: 200 }, () => gateway.notify(agent, { ...notice, reason })));
        const subscribers = await gateway.redis.pubsub("NUMSUB", `feed:agent:${agent.agentId}`);
        return subscribers[1] === 0;
      },
      15_000,
    );
  });

  it("ends every stream when the gateway stops, so that agents connect elsewhere", async () => {
    const other = await Gateway.start();
    stopLater.push(() => other.stop());
    const agent = await other.register("guest");
    const channel = await Channel.open(other, agent);
    const client = other.agents();
    const request = { bootId: "boot-1", requestId: "r", freeSlots: 0, waitMs: 500n };
    const fetch = invoke(client, "fetchStepRun", request, agent.metadata);
    // This call uses the same connection: when it is answered, the fetch has arrived.
    const beat = { bootId: "boot-1", sequence: 1n, held: [], heldJobIds: [], takesNoJobs: "" };
    await invoke(client, "heartbeat", beat, agent.metadata);
    await other.server.stop(2_000);
    expect(await channel.ended()).to.include({ code: status.UNAVAILABLE });
    expect((await fetch).dispatches).to.deep.equal([]);
    expect(await other.redis.pubsub("CHANNELS", "*")).to.deep.equal([]);
  });

  function claims(): string[] {
    return gateway.messages("claimRequested").map(({ requestId }) => requestId as string);
  }
});

function held(run: StoredRun, job = 0) {
  return { runId: run.runId, jobId: run.jobId(job), stepRunId: run.stepRunId(job), token: 1n };
}
