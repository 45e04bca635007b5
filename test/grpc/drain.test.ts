/** Agents that an operator has drained: they take no new job, and finish what they hold. */
import { status } from "@grpc/grpc-js";
import { expect } from "chai";
import type { AgentRecord } from "../../proto/generated/agent/v1/agent.ts";
import { issueToken } from "../../src/app/identity/tokens.ts";
import { type AgentId, asId, type UserId } from "../../src/domain/ids.ts";
import { ANY_AGENT } from "../../src/domain/labels.ts";
import { until } from "../support/until.ts";
import { bearer, Channel, Gateway, invoke, refusal, type TestAgent } from "./gateway.ts";
import { StoredRun } from "./stored-run.ts";

describe("a drained agent", () => {
  let gateway: Gateway;
  let agents = 0;
  let admin: ReturnType<typeof bearer>;
  before(async () => {
    gateway = await Gateway.start();
    const userId = asId<UserId>("usr_ann");
    const ann = { userId, name: "ann", role: "admin", passwordHash: "", createdAt: 1, disabled: false } as const;
    await gateway.stores.identity.createUser(ann);
    admin = bearer(await issueToken(gateway.context, { kind: "personal", subject: userId, name: "test" }));
  });
  beforeEach(async () => {
    gateway.sentMessages.length = 0;
    await gateway.redis.flushall();
  });
  afterEach(() => gateway.hangUp());
  after(() => gateway.stop());

  const newAgent = () => gateway.register(`drained-${++agents}`);
  const drain = ({ agentId }: TestAgent, reason = "new disk") =>
    invoke(gateway.agents(), "drainAgent", { agentId, reason }, admin);
  const undrain = ({ agentId }: TestAgent) => invoke(gateway.agents(), "undrainAgent", { agentId }, admin);
  const read = async ({ agentId }: TestAgent): Promise<AgentRecord> =>
    (await invoke(gateway.agents(), "getAgent", { agentId }, admin)).agent!;
  const claimants = () => gateway.messages("claimRequested").map(({ agentId }) => agentId as AgentId);
  const offer = async () => {
    const run = await StoredRun.create(gateway.stores);
    await gateway.context.board.offer(run.offer(0, { selector: ANY_AGENT }));
  };

  it("leaves the jobs to other agents, says so in lists, and takes jobs again when it is undrained", async () => {
    const drained = await newAgent();
    await Channel.open(gateway, drained);
    const { agent } = await drain(drained);
    expect(agent).to.include({ agentId: drained.agentId, draining: true });
    expect(agent!.drain).to.include({ by: "ann", reason: "new disk" });
    await until("presence shows it", async () => (await gateway.context.presence.online(60_000))[0]?.draining === true);
    await offer();
    const other = await newAgent();
    await Channel.open(gateway, other);
    await until("the claim", () => claimants().length > 0);
    expect(claimants()).to.deep.equal([other.agentId]);
    const { agents: listed, total } = await invoke(gateway.agents(), "listAgents", {}, admin);
    expect(Number(total)).to.equal(listed.length);
    expect(listed.find(({ agentId }) => agentId === other.agentId)).to.include({ draining: false, drain: undefined });
    expect(listed.find(({ agentId }) => agentId === drained.agentId)!.draining).to.equal(true);
    // The first drain stays.
    expect((await drain(drained, "again")).agent!.drain!.reason).to.equal("new disk");
    await drain(other);
    const drainedOnes = async () =>
      (await gateway.context.presence.online(60_000)).filter((one) => one.drained === true);
    await until("presence shows both", async () => (await drainedOnes()).length === 2);
    gateway.sentMessages.length = 0;
    expect((await undrain(drained)).agent).to.include({ draining: false, drain: undefined });
    await offer();
    await until("the claim of the one that is not drained", () => claimants().length > 0);
    expect(new Set(claimants())).to.deep.equal(new Set([drained.agentId]));
  });

  it("stays drained over restarts of the agent and the gateway, also when it registers again", async () => {
    const agent = await newAgent();
    await drain(agent);
    const channel = await Channel.open(gateway, agent, { bootId: "boot-2" });
    await offer();
    await channel.beat({ bootId: "boot-2" });
    expect(await read(agent)).to.include({ draining: true, online: true });
    const { metadata } = await gateway.register(`drained-${agents}`);
    const second = await gateway.another();
    const stream = await Channel.open(second, { ...agent, metadata }, { bootId: "boot-3" });
    await stream.beat({ bootId: "boot-3" });
    const fetch = { bootId: "boot-3", requestId: "r", freeSlots: 1, waitMs: 100n };
    expect((await invoke(second.agents(), "fetchStepRun", fetch, metadata)).dispatches).to.deep.equal([]);
    expect(claimants()).to.deep.equal([]);
    expect((await read(agent)).drain!.reason).to.equal("new disk");
    // The open stream learns of the end.
    await undrain(agent);
    await until("the claim", () => claimants().length > 0);
    stream.cancel();
    await second.stop();
  });

  it("is drained by administrators, and not found under an unknown id", async () => {
    const agent = await newAgent();
    for (const method of ["drainAgent", "undrainAgent", "getAgent"] as const) {
      const refused = await refusal(invoke(gateway.agents(), method, { agentId: "agt_none", reason: "" }, admin));
      expect(refused.code).to.equal(status.NOT_FOUND);
      const asAgent = invoke(gateway.agents(), method, { agentId: agent.agentId, reason: "" }, agent.metadata);
      expect((await refusal(asAgent)).code).to.equal(status.PERMISSION_DENIED);
    }
    const wrong = invoke(gateway.agents(), "drainAgent", { agentId: agent.agentId, reason: "a\nb" }, admin);
    expect((await refusal(wrong)).code).to.equal(status.INVALID_ARGUMENT);
    expect((await read(agent)).draining).to.equal(false);
  });
});

describe("an agent that ends after a number of jobs", () => {
  let gateway: Gateway;
  before(async () => void (gateway = await Gateway.start()));
  after(async () => {
    await gateway.hangUp();
    await gateway.stop();
  });

  it("is claimed no job more than it takes", async () => {
    const agent = await gateway.register("brief", 2);
    const claims = () => gateway.messages("claimRequested").map(({ requestId }) => requestId as string);
    const channel = await Channel.open(gateway, agent, { slots: 2, jobsLeft: 1 });
    const run = await StoredRun.create(gateway.stores, [{}, {}, {}]);
    for (const job of [0, 1, 2]) await gateway.context.board.offer(run.offer(job, { queuedAt: job }));
    await until("a claim", () => claims().length === 1);
    await run.grant({ agentId: agent.agentId, bootId: "boot-1", requestId: claims()[0]!, token: 1 }, "queued", 0);
    await gateway.context.board.withdraw(run.jobId(0));
    await gateway.notify(agent, { type: "dispatch", order: run.grantedStep(0) });
    await channel.next("dispatch");
    const holdings = {
      held: [{ runId: run.runId, jobId: run.jobId(0), stepRunId: run.stepRunId(0), token: 1n }],
      heldJobIds: [run.jobId(0)],
      jobsLeft: 0,
    };
    await channel.beat(holdings);
    await run.change({ job: 0, state: { state: "success" } }, { job: 0, step: 0, state: { state: "success" } });
    await gateway.notify(agent, { type: "release", jobId: run.jobId(0) });
    await channel.next("release");
    await channel.beat({ jobsLeft: 0 });
    expect(claims()).to.have.length(1);
    await channel.beat({ jobsLeft: 1 });
    await until("another claim", () => claims().length === 2);
  });
});
