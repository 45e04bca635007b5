import { expect } from "chai";
import type { StepState } from "../../actors/step/state.ts";
import { until } from "../support/until.ts";
import { Channel, Gateway, type TestAgent } from "./gateway.ts";
import { StoredRun } from "./stored-run.ts";

const ENDED_BY_REPORT = { lastLine: 3, endedAt: 1 } as const;

describe("what an agent holds and what the store says", () => {
  let gateway: Gateway;
  let agent: TestAgent;
  let run: StoredRun;
  let agents = 0;

  before(async () => (gateway = await Gateway.start()));
  beforeEach(async () => {
    gateway.letters.length = 0;
    agent = await gateway.register(`agent-${++agents}`, 4);
    run = await StoredRun.create(gateway.stores, [{ steps: 2, cancelGraceMs: 4_000 }, {}]);
  });
  afterEach(() => gateway.hangUp());
  after(() => gateway.stop());

  const grant = (state: StepState["state"], overrides = {}) =>
    run.grant({ agentId: agent.agentId, bootId: "boot-1", requestId: "req", token: 5, ...overrides }, state);
  const held = (token = 5n) => ({ runId: run.runId, jobId: run.jobId(), stepRunId: run.stepRunId(), token });

  /** What an agent with these holdings is told at its hello, in order, and then the same at a heartbeat. */
  async function told(holdings: Parameters<Channel["beat"]>[0] = {}): Promise<string[]> {
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

  it("has nothing to say when both agree", async () => {
    await grant("running");
    expect(await told({ held: [held()], heldJobIds: [run.jobId()] })).to.deep.equal([]);
  });

  for (const state of ["queued", "running"] as const) {
    it(`dispatches a step again that is ${state} and that the agent does not hold`, async () => {
      await grant(state);
      expect(await told()).to.deep.equal(["dispatch"]);
    });
  }

  it("dispatches a step that is to end and that the agent does not hold, and has it end at once", async () => {
    await grant("cancelling");
    expect(await told()).to.deep.equal(["dispatch", "revoke"]);
  });

  it("revokes a step again that is to end and that the agent still holds, with the job's grace", async () => {
    await grant("cancelling");
    expect(await told({ held: [held()], heldJobIds: [run.jobId()] })).to.deep.equal(["revoke"]);
    const channel = await Channel.open(gateway, agent, { held: [held()] });
    expect((await channel.next("revoke")).graceMs).to.equal(4_000n);
  });

  it("acknowledges a step that the agent's report has ended", async () => {
    await grant("running");
    await run.change({ job: 0, step: 0, state: { state: "success", ...ENDED_BY_REPORT } });
    expect(await told({ held: [held()], heldJobIds: [run.jobId()] })).to.deep.equal(["acknowledge"]);
  });

  it("refuses a step that the plane has ended without a report: it may still run there", async () => {
    await grant("running");
    await run.change({ job: 0, step: 0, state: { state: "failed", reason: "agent_lost", endedAt: 1 } });
    expect(await told({ held: [held()], heldJobIds: [run.jobId()] })).to.deep.equal(["refuse"]);
  });

  it("refuses a step that is another agent's", async () => {
    const other = await gateway.register("other", 1);
    await grant("running", { agentId: other.agentId });
    expect(await told({ held: [held()] })).to.deep.equal(["refuse"]);
  });

  it("refuses a step of an earlier token, and of a step that nobody knows", async () => {
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

  it("releases a job that is over, one that is another agent's and one that nobody knows", async () => {
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
    expect(await told({ heldJobIds: [run.jobId()] })).to.deep.equal([]);
  });

  it("declares lost what an earlier boot held, and dispatches none of it", async () => {
    await grant("running", { bootId: "boot-0" });
    const channel = await Channel.open(gateway, agent, { bootId: "boot-1" });
    await until("the letter", () => gateway.letters.length > 0);
    await channel.beat();
    expect(gateway.letters[0]).to.deep.equal({
      rootId: run.runId,
      to: { kind: "job", id: run.jobId() },
      message: { type: "agentLost", agentId: agent.agentId, bootId: "boot-0", reason: "agent_restarted" },
    });
    expect(channel.all("dispatch")).to.deep.equal([]);
  });

  it("counts the jobs that the agent has from before against its slots", async () => {
    await grant("running");
    await Channel.open(gateway, agent, { slots: 1, held: [held()], heldJobIds: [run.jobId()] });
    await gateway.context.board.offer(run.offer(1));
    const full = await Channel.open(gateway, agent, { slots: 1, held: [held()], heldJobIds: [run.jobId()] });
    await full.beat({ held: [held()], heldJobIds: [run.jobId()] });
    expect(gateway.messages("claimRequested")).to.deep.equal([]);
    await Channel.open(gateway, agent, { slots: 2, held: [held()], heldJobIds: [run.jobId()] });
    await until("a claim for the second slot", () => gateway.messages("claimRequested").length === 1);
    await gateway.context.board.withdraw(run.jobId(1));
  });
});
