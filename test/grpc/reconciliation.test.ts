import { expect } from "chai";
import type { StepState } from "../../actors/step/state.ts";
import { until } from "../support/until.ts";
import { Channel, Gateway, type TestAgent } from "./gateway.ts";
import { StoredRun } from "./stored-run.ts";

const ENDED_BY_REPORT = { lastLine: 3, endedAt: 1 } as const;

describe("reconciliation of an agent's holdings", () => {
  let gateway: Gateway;
  let agent: TestAgent;
  let run: StoredRun;
  let agents = 0;

  before(async () => (gateway = await Gateway.start()));
  beforeEach(async () => {
    gateway.sentMessages.length = 0;
    agent = await gateway.register(`agent-${++agents}`, 4);
    run = await StoredRun.create(gateway.stores, [{ steps: 2, cancelGraceMs: 4_000 }, {}]);
  });
  afterEach(() => gateway.hangUp());
  after(() => gateway.stop());

  const grant = (state: StepState["state"], overrides = {}) =>
    run.grant({ agentId: agent.agentId, bootId: "boot-1", requestId: "req", token: 5, ...overrides }, state);
  const held = (token = 5n) => ({ runId: run.runId, jobId: run.jobId(), stepRunId: run.stepRunId(), token });

  /** The kinds of messages that an agent with these holdings gets after hello, in order. A heartbeat gets the same. */
  async function answersTo(holdings: Parameters<Channel["beat"]>[0] = {}): Promise<string[]> {
    const channel = await Channel.open(gateway, agent, holdings);
    await channel.beat(holdings);
    const kinds = channel.kinds().filter((kind) => kind !== "welcome" && kind !== "heartbeatAck");
    const once = kinds.slice(0, kinds.length / 2);
    expect(kinds, "a heartbeat finds what a hello finds").to.deep.equal([...once, ...once]);
    const first = channel.received.find(({ message }) => message?.$case === once[0]);
    if (first !== undefined) expect(first.message!.value).to.deep.include(expectedOf(once[0]!));
    return once;
  }

  function expectedOf(kind: string): object {
    return kind === "release" ? { jobId: run.jobId() } : { stepRunId: run.stepRunId(), token: 5n };
  }

  it("sends nothing when agent and store agree", async () => {
    await grant("running");
    expect(await answersTo({ held: [held()], heldJobIds: [run.jobId()] })).to.deep.equal([]);
  });

  for (const state of ["queued", "running"] as const) {
    it(`dispatches a ${state} step again that the agent does not hold`, async () => {
      await grant(state);
      expect(await answersTo()).to.deep.equal(["dispatch"]);
    });
  }

  it("dispatches a step again that was dispatched before the last heartbeat, and no later one", async () => {
    const channel = await Channel.open(gateway, agent);
    await grant("queued");
    await gateway.notify(agent, { type: "dispatch", order: run.grantedStep() });
    await channel.next("dispatch");
    // This heartbeat may have left the agent before the dispatch came.
    await channel.beat();
    expect(channel.all("dispatch")).to.have.length(1);
    await channel.beat();
    expect(channel.all("dispatch")).to.have.length(2);
  });

  it("dispatches a step again at the next heartbeat when its dispatch could not be built", async () => {
    const channel = await Channel.open(gateway, agent);
    await grant("queued");
    const { plans } = gateway.stores;
    const { loadJob } = plans;
    let failures = 0;
    plans.loadJob = () => Promise.reject(new Error(`the store cannot be reached: ${++failures}`));
    await gateway.notify(agent, { type: "dispatch", order: run.grantedStep() });
    await until("the job was asked for", () => failures > 0).finally(() => (plans.loadJob = loadJob));
    await channel.beat();
    await channel.next("dispatch");
  });

  it("dispatches and revokes a cancelled step that the agent does not hold", async () => {
    await grant("cancelling");
    expect(await answersTo()).to.deep.equal(["dispatch", "revoke"]);
  });

  it("revokes a cancelled step again that the agent still holds, with the job's grace", async () => {
    await grant("cancelling");
    expect(await answersTo({ held: [held()], heldJobIds: [run.jobId()] })).to.deep.equal(["revoke"]);
    await gateway.hangUp();
    const channel = await Channel.open(gateway, agent, { held: [held()] });
    expect((await channel.next("revoke")).graceMs).to.equal(4_000n);
  });

  it("acknowledges a step that the agent's report has ended", async () => {
    await grant("running");
    await run.change({ job: 0, step: 0, state: { state: "success", ...ENDED_BY_REPORT } });
    expect(await answersTo({ held: [held()], heldJobIds: [run.jobId()] })).to.deep.equal(["acknowledge"]);
  });

  it("refuses a step that was ended without a report, since it may still run", async () => {
    await grant("running");
    await run.change({ job: 0, step: 0, state: { state: "failed", reason: "agent_lost", endedAt: 1 } });
    expect(await answersTo({ held: [held()], heldJobIds: [run.jobId()] })).to.deep.equal(["refuse"]);
  });

  it("refuses a step that is another agent's", async () => {
    const other = await gateway.register("other", 1);
    await grant("running", { agentId: other.agentId });
    expect(await answersTo({ held: [held()] })).to.deep.equal(["refuse"]);
  });

  it("refuses a step with an earlier token, and an unknown step", async () => {
    await grant("running", { token: 6 });
    const unknown = { ...held(), stepRunId: "step_unknown" };
    const channel = await Channel.open(gateway, agent, { held: [held(5n), unknown], heldJobIds: [run.jobId()] });
    await channel.next("refuse", 2);
    const refused = channel.all("refuse").map(({ stepRunId, token }) => [stepRunId, token]);
    expect(refused).to.deep.equal([
      [run.stepRunId(), 5n],
      ["step_unknown", 5n],
    ]);
    expect((await channel.next("dispatch")).token, "the grant that it has missed").to.equal(6n);
  });

  it("releases a job that is over, one of another agent, and an unknown one", async () => {
    await grant("running");
    await run.change(
      { job: 0, state: { state: "success" } },
      { job: 0, step: 0, state: { state: "success", lastLine: 0 } },
    );
    const other = await gateway.register("owner", 1);
    await run.grant({ agentId: other.agentId, bootId: "b", requestId: "r", token: 1 }, "running", 1);
    const heldJobIds = [run.jobId(0), run.jobId(1), "job_unknown"];
    const channel = await Channel.open(gateway, agent, { heldJobIds });
    await channel.next("release", 3);
    expect(channel.all("release").map(({ jobId }) => jobId)).to.deep.equal(heldJobIds);
    expect(channel.all("release").map(({ succeeded }) => succeeded)).to.deep.equal([true, false, false]);
  });

  it("keeps a job between two of its steps", async () => {
    await grant("running");
    await run.change(
      { job: 0, state: { stepIndex: 1, stepActive: false, paused: true } },
      { job: 0, step: 0, state: { state: "success", lastLine: 0 } },
    );
    expect(await answersTo({ heldJobIds: [run.jobId()] })).to.deep.equal([]);
  });

  it("declares the steps of an earlier boot lost, and dispatches none of them", async () => {
    await grant("running", { bootId: "boot-0" });
    const channel = await Channel.open(gateway, agent, { bootId: "boot-1" });
    await until("the message to the run is sent", () => gateway.sentMessages.length > 0);
    await channel.beat();
    expect(gateway.sentMessages[0]).to.deep.equal({
      rootId: run.runId,
      to: { kind: "job", id: run.jobId() },
      message: { type: "agentLost", agentId: agent.agentId, bootId: "boot-0", reason: "agent_restarted" },
    });
    expect(channel.all("dispatch")).to.deep.equal([]);
  });

  it("counts jobs that the agent already holds against its slots", async () => {
    await grant("running");
    await Channel.open(gateway, agent, { slots: 1, held: [held()], heldJobIds: [run.jobId()] });
    await gateway.context.board.offer(run.offer(1));
    await gateway.hangUp();
    const full = await Channel.open(gateway, agent, { slots: 1, held: [held()], heldJobIds: [run.jobId()] });
    await full.beat({ held: [held()], heldJobIds: [run.jobId()] });
    expect(gateway.messages("claimRequested")).to.deep.equal([]);
    await gateway.hangUp();
    await Channel.open(gateway, agent, { slots: 2, held: [held()], heldJobIds: [run.jobId()] });
    await until("a claim for the second slot", () => gateway.messages("claimRequested").length === 1);
    await gateway.context.board.withdraw(run.jobId(1));
  });
});
