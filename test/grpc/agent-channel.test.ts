import { credentials, status as codes } from "@grpc/grpc-js";
import { expect } from "chai";
import type { ConnectRequest, ConnectResponse } from "../../proto/generated/agent/v1/agent.ts";
import {
  type AgentChannelRequest,
  type AgentChannelResponse,
  StreamClient,
} from "../../proto/generated/stream/v1/stream.ts";
import { until } from "../support/until.ts";
import { Channel, Gateway, invoke, reasonOf, Stream, type TestAgent } from "./gateway.ts";
import { StoredRun } from "./stored-run.ts";
import { StreamCaller } from "./streaming.ts";

const HELLO = { bootId: "boot-1", labels: {}, slots: 2, version: "1", held: [], heldJobIds: [], takesNoJobs: "" };

describe("the agents' channel of stream.v1", () => {
  let gateway: Gateway;
  let client: StreamClient;
  let agent: TestAgent;
  let run: StoredRun;
  let agents = 0;

  before(async () => {
    gateway = await Gateway.start();
    client = new StreamClient(`127.0.0.1:${gateway.port}`, credentials.createInsecure());
  });
  after(async () => {
    client.close();
    await gateway.stop();
  });
  beforeEach(async () => {
    gateway.sentMessages.length = 0;
    agent = await gateway.register(`channel-${++agents}`);
    run = await StoredRun.create(gateway.stores, [{ steps: 2 }, {}]);
  });
  afterEach(() => gateway.hangUp());

  class Wrapped extends Stream<AgentChannelRequest, AgentChannelResponse> {
    constructor(metadata = agent.metadata) {
      super(client.agentChannel(metadata));
      gateway.opened(this);
    }

    static begin(hello: Partial<typeof HELLO> = {}): Wrapped {
      const channel = new Wrapped();
      channel.tell({ $case: "hello", value: { ...HELLO, ...hello } });
      return channel;
    }

    static async open(hello: Partial<typeof HELLO> = {}): Promise<Wrapped> {
      const channel = Wrapped.begin(hello);
      await channel.next("welcome");
      return channel;
    }

    tell(message: NonNullable<ConnectRequest["message"]>): void {
      this.send({ request: { message } });
    }

    async next(kind: NonNullable<ConnectResponse["message"]>["$case"]): Promise<ConnectResponse["message"]> {
      const all = () => this.received.map(({ response }) => response?.message);
      return until(kind, () => all().find((message) => message?.$case === kind));
    }
  }

  const grantOf = (requestId: string) => ({ agentId: agent.agentId, bootId: "boot-1", requestId, token: 1 });
  const fetch = (requestId: string) =>
    invoke(gateway.agents(), "fetchStepRun", { bootId: "boot-1", requestId, freeSlots: 1, waitMs: 0n }, agent.metadata);
  const claims = () => gateway.messages("claimRequested");

  it("welcomes the agent, acknowledges heartbeats and takes its goodbye", async () => {
    const channel = await Wrapped.open();
    channel.tell({
      $case: "heartbeat",
      value: { bootId: "boot-1", sequence: 5n, held: [], heldJobIds: [], takesNoJobs: "" },
    });
    expect(await channel.next("heartbeatAck")).to.deep.include({ value: { sequence: 5n } });
    const online = async () => (await gateway.context.presence.read([agent.agentId])).has(agent.agentId);
    expect(await online()).to.equal(true);
    channel.end();
    expect((await channel.ended()).code).to.equal(codes.OK);
    expect(await online()).to.equal(false);
  });

  it("claims as Connect does, and one grant answers all three ways to take a job", async () => {
    const channel = await Wrapped.open();
    await gateway.context.board.offer(run.offer());
    await until("the claim", () => claims().length === 1);
    const { requestId } = claims()[0] as { readonly requestId: string };
    await run.grant(grantOf(requestId));
    await gateway.notify(agent, { type: "dispatch", order: run.grantedStep() });
    const dispatch = await channel.next("dispatch");
    expect(dispatch).to.deep.nested.include({ "value.stepRunId": run.stepRunId(), "value.token": 1n });
    const same = dispatch!.value;

    expect((await fetch(requestId)).dispatches, "by pulling under the same request id").to.deep.equal([same]);
    await gateway.hangUp();
    const direct = await Channel.open(gateway, agent);
    expect(await direct.next("dispatch"), "over Connect").to.deep.equal(same);
    expect(claims(), "nothing else is claimed").to.have.length(1);
  });

  it("is refused while a Connect stream of the same agent is alive, and the other way round", async () => {
    const direct = await Channel.open(gateway, agent);
    expect(reasonOf(await Wrapped.begin().ended())).to.equal("already_exists");
    await gateway.hangUp();
    await Wrapped.open();
    const again = new Channel(gateway, agent);
    again.hello();
    expect(reasonOf(await again.ended())).to.equal("already_exists");
    expect(direct.status!.code).to.equal(codes.CANCELLED);
  });

  it("passes reports on, and acknowledges processed ones", async () => {
    await run.grant(grantOf("req-1"), "running");
    const { runId } = run;
    const [jobId, stepRunId] = [run.jobId(), run.stepRunId()];
    const channel = await Wrapped.open({ held: [{ stepRunId, token: 1n }] as never, heldJobIds: [jobId] as never });
    const report = { runId, jobId, stepRunId, token: 1n, phase: "STEP_PHASE_SUCCEEDED", exitCode: 0 } as const;
    const rest = {
      reason: "",
      lastLine: 0n,
      outputs: {},
      usage: undefined,
      notes: undefined,
      startedAtMs: 0n,
      endedAtMs: 0n,
    };
    channel.tell({ $case: "report", value: { ...report, ...rest } });
    await until("the report", () => gateway.messages("reported").length === 1);
    await gateway.notify(agent, { type: "acknowledge", stepRunId, token: 1 });
    expect(await channel.next("acknowledge")).to.deep.include({ value: { stepRunId, token: 1n } });
  });

  it("ignores a message without a request, and ends a stream that begins without hello", async () => {
    const channel = await Wrapped.open();
    channel.send({ request: undefined });
    channel.tell({
      $case: "heartbeat",
      value: { bootId: "boot-1", sequence: 1n, held: [], heldJobIds: [], takesNoJobs: "" },
    });
    await channel.next("heartbeatAck");
    const empty = new Wrapped();
    empty.send({ request: undefined });
    expect((await empty.ended()).code).to.equal(codes.INVALID_ARGUMENT);
  });

  it("is for agents only", async () => {
    const viewer = await StreamCaller.withRole(gateway.context, gateway.port, "admin");
    const channel = new Wrapped(viewer.metadata);
    channel.tell({ $case: "hello", value: HELLO });
    expect((await channel.ended()).code).to.equal(codes.PERMISSION_DENIED);
    viewer.close();
  });
});
