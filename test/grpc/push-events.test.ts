import { status } from "@grpc/grpc-js";
import type { Kernel } from "../../actors/kernel/kernel.ts";
import { expect } from "chai";
import type { AgentEvent, PushEventsRequest, PushEventsResponse } from "../../proto/generated/gateway/v1/gateway.ts";
import type { Caller } from "../../src/app/identity/access.ts";
import { asId, newId, type RunId, type UserId } from "../../src/domain/ids.ts";
import { systemCloudEvent } from "../../src/app/events/cloud-event.ts";
import { AGENT_REPORT, systemPayloadOf } from "../../src/domain/event-table/system-events.ts";
import { until } from "../support/until.ts";
import { Gateway, refusal, Stream, type TestAgent } from "./gateway.ts";
import { StoredRun } from "./stored-run.ts";
import { cloudEvent } from "../../src/app/events/cloud-event.ts";
import { readTimeline } from "../../src/app/runs/timeline.ts";
import { eventProblem } from "../support/event-check.ts";
import { listAgentEvents } from "../../src/app/agents/agent-events.ts";

const VIEWER: Caller = { kind: "user", userId: asId<UserId>("usr_1"), name: "v", role: "viewer", scopes: [] };
const PAGE = { page: 1, pageSize: 100, descending: false };

describe("events of agents", () => {
  let gateway: Gateway;
  let worker: Kernel;
  let agent: TestAgent;
  let run: StoredRun;
  let stream: Stream<PushEventsRequest, PushEventsResponse>;
  let agents = 0;

  before(async () => {
    gateway = await Gateway.start();
    worker = await gateway.startWorker();
  });
  beforeEach(async () => {
    agent = await gateway.register(`agent-${++agents}`);
    run = await StoredRun.create(gateway.stores);
    await run.begin();
    await run.grant({ agentId: agent.agentId, bootId: "boot-1", requestId: "r", token: 5 }, "running");
    stream = open(agent);
  });
  afterEach(() => stream.cancel());
  after(async () => {
    await worker.stop();
    await gateway.stop();
  });

  const open = ({ metadata }: TestAgent): Stream<PushEventsRequest, PushEventsResponse> =>
    new Stream(gateway.logs().pushEvents(metadata));

  const event = (id: string, fields: Partial<AgentEvent> = {}): AgentEvent => ({
    id,
    type: "svc.step.progress",
    subject: "test:login",
    timeMs: 1_000n,
    dataJson: '{"done":3}',
    stepRunId: run.stepRunId(),
    token: 5n,
    ...fields,
  });
  const ofAgent = (id: string, fields: Partial<AgentEvent> = {}): AgentEvent =>
    event(id, { type: "svc.agent.disk", stepRunId: "", token: 0n, ...fields });

  async function push(...events: AgentEvent[]): Promise<string[]> {
    return (await results(events)).map(({ verdict }) => verdict.replace("EVENT_VERDICT_", "").toLowerCase());
  }

  async function results(events: AgentEvent[]): Promise<PushEventsResponse["results"]> {
    const count = stream.received.length + 1;
    stream.send({ events });
    await until("the answer", () => stream.received.length >= count);
    const { results } = stream.received[count - 1]!;
    expect(results.map(({ id }) => id)).to.deep.equal(events.map(({ id }) => id));
    return results;
  }

  it("are stored with their run and step, once for each id", async () => {
    const before = Date.now();
    expect(await push(event("a"), ofAgent("b"))).to.deep.equal(["accepted", "accepted"]);
    expect(await push(event("a", { dataJson: '{"done":4}' }), ofAgent("b"))).to.deep.equal(["duplicate", "duplicate"]);
    const { list, total } = await gateway.stores.agentEvents.list(run.runId, PAGE);
    expect(total).to.equal(1);
    const { receivedAt, ...stored } = list[0]!;
    expect(receivedAt).to.be.within(before, Date.now());
    expect(stored).to.deep.equal({
      agentId: agent.agentId,
      eventId: "a",
      runId: run.runId,
      stepRunId: run.stepRunId(),
      type: "svc.step.progress",
      subject: "test:login",
      time: 1_000,
      data: '{"done":3}',
      sequence: 1,
    });
    const own = await gateway.stores.agentEvents.list(agent.agentId, PAGE);
    expect(own.list.map(({ eventId, runId }) => [eventId, runId])).to.deep.equal([["b", null]]);
  });

  it("are duplicates also within one batch, over another stream, and after the end of the step", async () => {
    expect(await push(event("a"), event("a"))).to.deep.equal(["accepted", "duplicate"]);
    stream.cancel();
    stream = open(agent);
    await run.change({ job: 0, step: 0, state: { state: "success", lastLine: 0 } });
    expect(await push(event("a"))).to.deep.equal(["duplicate"]);
  });

  it("are stale for another token, another agent's step, an unknown step and an ended one", async () => {
    expect(await push(event("a", { token: 4n }), event("b", { stepRunId: "step_unknown" }))).to.deep.equal([
      "stale",
      "stale",
    ]);
    await run.change({ job: 0, step: 0, state: { state: "success", lastLine: 0 } });
    expect(await push(event("c"))).to.deep.equal(["stale"]);
    stream.cancel();
    stream = open(await gateway.register("eavesdropper"));
    expect(await push(event("d"))).to.deep.equal(["stale"]);
    expect(await gateway.stores.agentEvents.count(run.runId)).to.equal(0);
  });

  it("get a verdict each, with a reason, also within one batch", async () => {
    const answers = await results([
      event("good"),
      event("odd", { type: "svc.job.progress" }),
      event("old", { token: 1n }),
      event("good"),
      ofAgent("fine", { dataJson: "" }),
    ]);
    expect(answers.map(({ verdict }) => verdict.replace("EVENT_VERDICT_", "").toLowerCase())).to.deep.equal([
      "accepted",
      "invalid",
      "stale",
      "duplicate",
      "accepted",
    ]);
    expect(answers.map(({ reason }) => reason !== "")).to.deep.equal([false, true, true, true, false]);
    expect(answers[1]!.reason).to.include("svc.step.");
  });

  for (const [why, fields] of [
    ["has no id", { id: "" }],
    ["has an id of more than 128 characters", { id: "x".repeat(129) }],
    ["is of another namespace", { type: "other.step.progress" }],
    ["has an object of another kind", { type: "svc.pipeline.progress" }],
    ["is of the agent and names a step", { type: "svc.agent.disk" }],
    ["has a word of the control plane", { type: "svc.step.completed" }],
    ["has a malformed word", { type: "svc.step.Was There" }],
    ["has a long subject", { subject: "x".repeat(257) }],
    ["has a negative time", { timeMs: -1n }],
    ["has a time after the year 9999", { timeMs: 253_402_300_800_000n }],
    ["has data that is nested too deep", { dataJson: '{"a":'.repeat(101) + "1" + "}".repeat(101) }],
    ["has data that is not JSON", { dataJson: "{" }],
    ["has data that is not an object", { dataJson: "[1]" }],
    ["has more than 64 kB of data", { dataJson: JSON.stringify({ x: "y".repeat(65_536) }) }],
  ] as [string, Partial<AgentEvent>][]) {
    it(`are stored except one that ${why}, which is invalid`, async () => {
      expect(await push(event("bad", fields), event("good"))).to.deep.equal(["invalid", "accepted"]);
      expect(await gateway.stores.agentEvents.count(run.runId)).to.equal(1);
    });
  }

  it("are all refused when they are more than 1,000 in a batch", async () => {
    const many = (count: number) => Array.from({ length: count }, (_, at) => event(`e${at}`));
    expect(new Set(await push(...many(1_001)))).to.deep.equal(new Set(["invalid"]));
    expect(await gateway.stores.agentEvents.count(run.runId)).to.equal(0);
    expect(new Set(await push(...many(1_000)))).to.deep.equal(new Set(["accepted"]));
    expect(await gateway.stores.agentEvents.count(run.runId)).to.equal(1_000);
  });

  it("are at most 10,000 for one run", async () => {
    for (let batch = 0; batch < 10; batch++) {
      const events = Array.from({ length: 999 + (batch < 9 ? 1 : 0) }, (_, at) => event(`${batch}/${at}`));
      expect(new Set(await push(...events))).to.deep.equal(new Set(["accepted"]));
    }
    expect(await push(event("last"), event("beyond"), ofAgent("own"))).to.deep.equal([
      "accepted",
      "invalid",
      "accepted",
    ]);
    expect(await push(event("last"))).to.deep.equal(["duplicate"]);
  });

  const log = () => gateway.stores.events.read(run.runId, 0, 100);

  it("enter the log of their run in their order, with their content, once each", async () => {
    expect(await push(event("a"), event("b", { type: "svc.step.note", dataJson: "" }), ofAgent("c"))).to.deep.equal([
      "accepted",
      "accepted",
      "accepted",
    ]);
    expect(await push(event("d"), event("a"))).to.deep.equal(["accepted", "duplicate"]);
    const events = await log();
    expect(events.map(({ number, pushed }) => [number, pushed?.eventId, pushed?.type])).to.deep.equal([
      [1, "a", "svc.step.progress"],
      [2, "b", "svc.step.note"],
      [3, "d", "svc.step.progress"],
    ]);
    expect(events.map(eventProblem)).to.deep.equal([undefined, undefined, undefined]);
    const { type, subject, data } = cloudEvent(events[0]!, "svc");
    expect({ type, subject }).to.deep.equal({
      type: "svc.step.progress",
      subject: `pipeline:${events[0]!.pipelineId}:job:${run.jobId()}:step:${run.stepRunId()}`,
    });
    expect(data).to.include({ subject: "test:login", eventId: "a", status: "running", cause: "eventsPushed" });
    expect(data).to.deep.include({ payload: { done: 3 }, reportedAt: "1970-01-01T00:00:01.000Z", by: agent.agentId });
    const { list } = await readTimeline(gateway.context, VIEWER, { runId: run.runId, after: 1, limit: 1 });
    expect(list[0]).to.deep.include({ number: 2, lifecycle: "pushed", type: "svc.step.note", payload: {} });
  });

  it("that a gateway has stored before it died are taken when they are sent again", async () => {
    const stored = { agentId: agent.agentId, runId: run.runId, stepRunId: run.stepRunId(), receivedAt: 1 };
    const content = { type: "svc.step.progress", subject: "", time: 1, data: "{}" };
    await gateway.stores.agentEvents.appendToStep(["x", "y"].map((eventId) => ({ ...stored, ...content, eventId })));
    expect(await push(event("y"), event("z"), event("x"))).to.deep.equal(["accepted", "accepted", "accepted"]);
    expect((await log()).map(({ pushed }) => pushed?.eventId)).to.deep.equal(["x", "y", "z"]);
  });

  it("of a step that has ended before its run took them are stale, and are kept nowhere", async () => {
    await push(event("a"));
    const stored = { agentId: agent.agentId, runId: run.runId, stepRunId: run.stepRunId(), receivedAt: 1 };
    const late = { ...stored, eventId: "late", type: "svc.step.progress", subject: "", time: 1, data: "{}" };
    await gateway.stores.agentEvents.appendToStep([late]);
    // The gateway has read the step before its end, and the run decides after it.
    const { findStep } = gateway.stores.aggregates;
    const before = await findStep.call(gateway.stores.aggregates, run.stepRunId());
    await run.change({ job: 0, step: 0, state: { state: "success", lastLine: 0 } });
    let reads = 0;
    gateway.stores.aggregates.findStep = (id) =>
      ++reads === 1 ? Promise.resolve(before) : findStep.call(gateway.stores.aggregates, id);
    try {
      expect(await push(event("late"))).to.deep.equal(["stale"]);
    } finally {
      gateway.stores.aggregates.findStep = findStep;
    }
    expect((await log()).map(({ pushed }) => pushed?.eventId)).to.deep.equal(["a"]);
    expect(await gateway.stores.agentEvents.count(run.runId)).to.equal(1);
  });

  it("are shown to readers of the run, oldest first", async () => {
    await push(event("a"), event("b", { type: "svc.step.note", dataJson: "" }), ofAgent("c"));
    const query = { runId: run.runId, page: 1, pageSize: 20, sort: "receivedAt" } as const;
    const { list, total } = await listAgentEvents(gateway.context, VIEWER, query);
    expect(total).to.equal(2);
    expect(list.map(({ eventId, data }) => [eventId, data])).to.have.deep.members([
      ["a", { done: 3 }],
      ["b", {}],
    ]);
    expect(list[0]).to.include({
      agentId: agent.agentId,
      stepRunId: run.stepRunId(),
      time: "1970-01-01T00:00:01.000Z",
    });
    const unknown = { ...query, runId: asId<RunId>("run_unknown") };
    expect(await refusal(listAgentEvents(gateway.context, VIEWER, unknown))).to.include({ reason: "not_found" });
  });

  it("are in the log of system events of the agent's tenant when they are about the agent, once for each id", async () => {
    const { identity, systemEvents } = gateway.stores;
    const log = newId("tnt");
    await identity.changeAgent(agent.agentId, { reach: { tenantId: log, projectIds: null } });
    const dataJson = '{"free":{"$gt":3}}';
    const words = ["updated", "online", "registered"].map((word) => ofAgent(word, { type: `svc.agent.${word}` }));
    expect(await push(ofAgent("a", { dataJson }), event("s"), ...words, ofAgent("b"))).to.deep.equal([
      "accepted",
      "accepted",
      ...words.map(() => "invalid"),
      "accepted",
    ]);
    await push(ofAgent("a", { dataJson: '{"free":2}' }));
    const events = await systemEvents.read(log, 0, 10);
    expect(events.map(({ number, eventId }) => [number, eventId])).to.deep.equal([
      [1, `report/${agent.agentId}/a`],
      [2, `report/${agent.agentId}/b`],
    ]);
    const { type, subject, data } = systemCloudEvent(events[0]!, "svc");
    expect([type, subject]).to.deep.equal(["svc.agent.disk", `agent:${agent.agentId}`]);
    expect(data).to.deep.include({ eventId: "a", subject: "test:login", report: { free: { $gt: 3 } } });
    expect(systemPayloadOf(AGENT_REPORT).strict().safeParse(data).error).to.equal(undefined);
  });

  it("end when the agent ends the stream", async () => {
    await push(event("a"));
    stream.end();
    expect(await stream.ended()).to.include({ code: status.OK });
  });
});
