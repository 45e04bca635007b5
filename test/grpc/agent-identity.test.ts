import { status } from "@grpc/grpc-js";
import { expect } from "chai";
import type { Caller } from "../../src/app/identity/access.ts";
import { issueToken, tokenIdOf } from "../../src/app/identity/tokens.ts";
import { asId, type UserId } from "../../src/domain/ids.ts";
import { until } from "../support/until.ts";
import { bearer, Channel, Gateway, invoke, reasonOf, refusal, Stream, type TestAgent } from "./gateway.ts";
import { StoredRun } from "./stored-run.ts";
import { deleteAgent, revokeAgentToken } from "../../src/app/agents/agent-removal.ts";

const ADMIN: Caller = { kind: "user", userId: asId<UserId>("usr_1"), name: "admin", role: "owner", scopes: [] };
const FACTS = { labels: {}, slots: 1, version: "1" };

describe("an agent's token", () => {
  let gateway: Gateway;
  let holder: TestAgent;
  let intruder: TestAgent;
  let run: StoredRun;
  let agents = 0;

  before(async () => (gateway = await Gateway.start()));
  beforeEach(async () => {
    gateway.sentMessages.length = 0;
    holder = await gateway.register(`holder-${++agents}`);
    intruder = await gateway.register(`intruder-${agents}`);
    run = await StoredRun.create(gateway.stores);
    await run.grant({ agentId: holder.agentId, bootId: "boot-1", requestId: "req", token: 5 }, "running");
  });
  afterEach(() => gateway.hangUp());
  after(() => gateway.stop());

  const report = (phase: "STEP_PHASE_SUCCEEDED" | "STEP_PHASE_STARTED" = "STEP_PHASE_SUCCEEDED") => ({
    runId: run.runId,
    jobId: run.jobId(),
    stepRunId: run.stepRunId(),
    token: 5n,
    phase,
    exitCode: 0,
    reason: "",
    lastLine: 0n,
    startedAtMs: 0n,
    endedAtMs: 0n,
    outputs: {},
    usage: undefined,
    notes: undefined,
  });
  const held = () => ({ runId: run.runId, jobId: run.jobId(), stepRunId: run.stepRunId(), token: 5n });

  it("is refused in reports about a step of another agent, over a call and over the channel", async () => {
    for (const phase of ["STEP_PHASE_STARTED", "STEP_PHASE_SUCCEEDED"] as const) {
      const answer = await invoke(
        gateway.agents(),
        "reportStepRunStatus",
        { report: report(phase) },
        intruder.metadata,
      );
      expect(answer.verdict).to.equal("REPORT_VERDICT_REFUSED");
    }
    const channel = await Channel.open(gateway, intruder);
    channel.send({ message: { $case: "report", value: report() } });
    expect(await channel.next("refuse")).to.deep.equal({ stepRunId: run.stepRunId(), token: 5n });
    expect(gateway.messages("reported")).to.deep.equal([]);
  });

  it("gets a refusal for held steps of another agent, which keeps them", async () => {
    const channel = await Channel.open(gateway, intruder, { held: [held()], heldJobIds: [run.jobId()] });
    await channel.next("refuse");
    await channel.next("release");
    const request = { bootId: "boot-1", sequence: 1n, held: [held()], heldJobIds: [run.jobId()], takesNoJobs: "" };
    const { missed } = await invoke(gateway.agents(), "heartbeat", request, intruder.metadata);
    expect(missed.map(({ message }) => message?.$case)).to.deep.equal(["refuse", "release"]);
    expect(gateway.messages("agentLost")).to.deep.equal([]);
    const own = await Channel.open(gateway, holder, { held: [held()], heldJobIds: [run.jobId()] });
    await own.beat({ held: [held()], heldJobIds: [run.jobId()] });
    expect(own.all("refuse")).to.deep.equal([]);
  });

  it("fetches nothing with the request id of another agent's claim", async () => {
    const request = { bootId: "boot-1", requestId: "req", freeSlots: 1, waitMs: 0n };
    const mine = await invoke(gateway.agents(), "fetchStepRun", request, holder.metadata);
    expect(mine.dispatches.map(({ stepRunId }) => stepRunId)).to.deep.equal([run.stepRunId()]);
    expect((await invoke(gateway.agents(), "fetchStepRun", request, intruder.metadata)).dispatches).to.deep.equal([]);
  });

  it("cannot cancel a step of another agent", async () => {
    const stream = await Channel.open(gateway, holder);
    const request = { stepRunId: run.stepRunId(), reason: "mine now" };
    const error = await refusal(invoke(gateway.agents(), "cancelStepRun", request, intruder.metadata));
    expect(error.code).to.equal(status.NOT_FOUND);
    await stream.beat();
    expect(stream.all("revoke")).to.deep.equal([]);
  });

  it("changes labels and unregisters only for its own agent", async () => {
    const client = gateway.agents();
    await invoke(client, "updateLabels", { labels: { stolen: "yes" }, replace: true }, intruder.metadata);
    await invoke(client, "unregister", {}, intruder.metadata);
    expect((await gateway.stores.identity.findAgent(holder.agentId))!.labels).to.deep.equal({});
    expect(gateway.messages("agentLost")).to.deep.equal([]);
  });

  it("is needed for every operation: tokens of users, registration tokens and none are refused", async () => {
    const personal = await issueToken(gateway.context, { kind: "personal", subject: "usr_none", name: "x" });
    const registration = await gateway.registrationToken();
    const client = gateway.agents();
    const calls = (metadata: TestAgent["metadata"]) => [
      invoke(client, "unregister", {}, metadata),
      invoke(client, "heartbeat", { bootId: "b", sequence: 1n, held: [], heldJobIds: [], takesNoJobs: "" }, metadata),
      invoke(client, "fetchStepRun", { bootId: "b", requestId: "r", freeSlots: 1, waitMs: 0n }, metadata),
      invoke(client, "reportStepRunStatus", { report: report() }, metadata),
      invoke(client, "cancelStepRun", { stepRunId: run.stepRunId(), reason: "" }, metadata),
      invoke(client, "updateLabels", { labels: {}, replace: false }, metadata),
      ...[client.connect(metadata), gateway.logs().pushLogs(metadata), gateway.logs().pushEvents(metadata)].map(
        async (call) => Promise.reject(await new Stream(call as never).ended()),
      ),
    ];
    const codesOf = (metadata: TestAgent["metadata"]) =>
      Promise.all(calls(metadata).map(async (call) => (await refusal(call as Promise<unknown>)).code));
    expect(new Set(await codesOf(registration))).to.deep.equal(new Set([status.PERMISSION_DENIED]));
    for (const unknown of [bearer(personal), bearer("nonsense"), bearer("")]) {
      expect(new Set(await codesOf(unknown))).to.deep.equal(new Set([status.UNAUTHENTICATED]));
    }
  });
});

describe("tokens of agents", () => {
  let gateway: Gateway;
  before(async () => (gateway = await Gateway.start()));
  afterEach(() => gateway.hangUp());
  after(() => gateway.stop());

  it("register as many agents as allowed and not one more, also at the same time", async () => {
    const token = await issueToken(gateway.context, {
      kind: "registration",
      subject: "usr_1",
      name: "two",
      maxUses: 2,
    });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 6 }, (_, at) =>
        invoke(gateway.agents(), "register", { ...FACTS, name: `many-${at}` }, bearer(token)),
      ),
    );
    expect(outcomes.filter(({ status: how }) => how === "fulfilled")).to.have.length(2);
    for (const outcome of outcomes) {
      if (outcome.status === "rejected") expect(outcome.reason).to.include({ code: status.UNAUTHENTICATED });
    }
    expect((await gateway.stores.identity.findToken(tokenIdOf(token)))!.uses).to.equal(2);
    const bad = { ...FACTS, name: "bad name" };
    const unspent = await issueToken(gateway.context, { kind: "registration", subject: "u", name: "1", maxUses: 1 });
    await refusal(invoke(gateway.agents(), "register", bad, bearer(unspent)));
    await invoke(gateway.agents(), "register", { ...FACTS, name: "good" }, bearer(unspent));
  });

  it("register no agent after they have expired", async () => {
    const expired = await issueToken(gateway.context, {
      kind: "registration",
      subject: "usr_1",
      name: "old",
      expiresInMs: -1,
    });
    const error = await refusal(invoke(gateway.agents(), "register", { ...FACTS, name: "late" }, bearer(expired)));
    expect(error.code).to.equal(status.UNAUTHENTICATED);
  });

  it("end every open stream at once when they are revoked, and open no other", async () => {
    const agent = await gateway.register("revoked");
    const channel = await Channel.open(gateway, agent);
    const logs = new Stream(gateway.logs().pushLogs(agent.metadata));
    const events = new Stream(gateway.logs().pushEvents(agent.metadata));
    for (const stream of [logs, events]) gateway.opened(stream);
    events.send({ events: [] });
    logs.send({ runId: "", stepRunId: "none", token: 1n, lines: [] });
    await until("both streams answer", () => logs.received.length + events.received.length === 2);
    await until("both listen", async () => (await gateway.redis.pubsub("CHANNELS", "feed:agent:*")).length === 1);
    const before = performance.now();
    await revokeAgentToken(gateway.context, ADMIN, { agentId: agent.agentId });
    const ended = await Promise.all([channel.ended(), logs.ended(), events.ended()]);
    expect(performance.now() - before).to.be.below(1_000);
    expect(ended.map(reasonOf)).to.deep.equal(["conflict", "unauthenticated", "unauthenticated"]);
    const again = new Channel(gateway, agent);
    expect(await again.ended()).to.include({ code: status.UNAUTHENTICATED });
    expect(await gateway.stores.identity.findAgent(agent.agentId), "the agent stays known").to.include({
      name: "revoked",
    });
    const registered = await gateway.register("revoked");
    expect(registered.agentId).to.equal(agent.agentId);
  });

  it("are deleted with an agent that is removed, whose live jobs count as lost", async () => {
    const agent = await gateway.register("removed");
    const channel = await Channel.open(gateway, agent);
    const run = await StoredRun.create(gateway.stores);
    await run.grant({ agentId: agent.agentId, bootId: "boot-1", requestId: "r", token: 1 }, "running");
    await deleteAgent(gateway.context, ADMIN, { agentId: agent.agentId });
    await channel.ended();
    expect(gateway.messages("agentLost")).to.have.length(1);
    expect(await gateway.stores.identity.findAgent(agent.agentId)).to.equal(undefined);
    expect(await refusal(deleteAgent(gateway.context, ADMIN, { agentId: agent.agentId }))).to.include({
      reason: "not_found",
    });
    const viewer: Caller = { ...ADMIN, role: "maintainer" };
    for (const operation of [deleteAgent, revokeAgentToken]) {
      const { agentId } = await gateway.register("kept");
      expect(await refusal(operation(gateway.context, viewer, { agentId }))).to.include({ reason: "forbidden" });
    }
  });
});
