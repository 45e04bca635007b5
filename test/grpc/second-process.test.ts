/** A second process of an agent, or a thief of its token, greets while the first is alive, or is not. */
import { status } from "@grpc/grpc-js";
import { expect } from "chai";
import { listenToAgent } from "../../src/board/agent-notices.ts";
import { until } from "../support/until.ts";
import { type AgentsPort, Channel, Gateway, reasonOf, type TestAgent } from "./gateway.ts";

describe("a second process of an agent", () => {
  let gateway: Gateway;
  let agents = 0;
  const stopLater: (() => Promise<void>)[] = [];
  before(async () => (gateway = await Gateway.start()));
  beforeEach(() => gateway.redis.flushall());
  afterEach(async () => {
    await gateway.hangUp();
    for (const stop of stopLater.splice(0)) await stop();
  });
  after(() => gateway.stop());

  const newAgent = (): Promise<TestAgent> => gateway.register(`agent-${++agents}`);

  /** Opens a stream as often as it is refused because another process of the agent is alive. */
  const openOnceFree = (agent: TestAgent, at: AgentsPort = gateway, bootId = "boot-2") =>
    until("the hello is accepted", async () => {
      const channel = new Channel(at, agent);
      channel.hello({ bootId });
      await until("an answer", () => channel.kinds().length > 0 || channel.status !== undefined);
      if (channel.status === undefined) return channel;
      expect(reasonOf(channel.status)).to.equal("already_exists");
      return undefined;
    });

  it("refuses a second hello while the first stream is alive, whatever boot and labels it says", async () => {
    const agent = await newAgent();
    const first = await Channel.open(gateway, agent, { labels: { pool: "build" } });
    const other = await gateway.another();
    stopLater.push(() => other.stop());
    for (const at of [gateway, other]) {
      for (const bootId of ["boot-1", "boot-2"]) {
        const second = new Channel(at, agent);
        second.hello({ bootId, labels: { pool: "prod" }, slots: 9 });
        const end = await second.ended();
        expect([end.code, reasonOf(end)]).to.deep.equal([status.ALREADY_EXISTS, "already_exists"]);
        expect(second.kinds()).to.deep.equal([]);
      }
    }
    await first.beat();
    expect(first.status).to.equal(undefined);
    const stored = await gateway.stores.identity.findAgent(agent.agentId);
    expect(stored).to.deep.include({ bootId: "boot-1", labels: { pool: "build" }, slots: 2 });
  });

  it("takes the next hello at once when the first stream has ended, as after a kill of the agent", async () => {
    const agent = await newAgent();
    const other = await gateway.another();
    stopLater.push(() => other.stop());
    for (const [index, at] of [gateway, other, gateway].entries()) {
      const channel = new Channel(at, agent);
      channel.hello({ bootId: `boot-${index}` });
      await channel.next("welcome");
      await gateway.hangUp();
    }
  });

  it("takes the next hello when the first stream has been silent for two heartbeats, and ends that stream", async () => {
    const agent = await newAgent();
    // Its connection is open, and nothing comes any more: as after a power cut, or with a frozen process.
    const frozen = await Channel.open(gateway, agent);
    const other = await gateway.another();
    stopLater.push(() => other.stop());
    const begunAt = performance.now();
    const second = await openOnceFree(agent, other);
    expect(performance.now() - begunAt).to.be.within(1_000, 6_000);
    expect(reasonOf(await frozen.ended())).to.equal("conflict");
    const third = await openOnceFree(agent);
    expect(reasonOf(await second.ended())).to.equal("conflict");
    // A gateway of an older version would publish this.
    await gateway.notify(agent, { type: "superseded", by: "a stream elsewhere" });
    expect(reasonOf(await third.ended())).to.equal("conflict");
  }).timeout(30_000);

  it("takes the next hello at once when the gateway of the first stream is gone", async () => {
    const agent = await newAgent();
    const record = { agentId: agent.agentId, bootId: "boot-1", gatewayId: "gone", labels: {}, slots: 2, busy: 0 };
    await gateway.context.presence.beat(record);
    const begunAt = performance.now();
    await Channel.open(gateway, agent);
    expect(performance.now() - begunAt).to.be.below(3_000);
  });

  it("refuses a hello that another process has overtaken while it waited, and leaves that process its stream", async () => {
    const agent = await newAgent();
    const record = { agentId: agent.agentId, bootId: "boot-1", gatewayId: "gone", labels: {}, slots: 2, busy: 0 };
    await gateway.context.presence.beat(record);
    let isProbed = false;
    const stop = await listenToAgent(gateway.context, agent.agentId, ({ type }) => (isProbed ||= type === "probe"));
    const overtaken = new Channel(gateway, agent);
    overtaken.hello({ bootId: "boot-2" });
    await until("the hello waits for an answer of the gateway that is gone", () => isProbed);
    await stop();
    // Meanwhile the next process is greeted by a third gateway.
    await gateway.context.presence.beat({ ...record, bootId: "boot-3", gatewayId: "third" });
    expect(reasonOf(await overtaken.ended())).to.equal("already_exists");
    expect((await gateway.context.presence.read([agent.agentId])).get(agent.agentId)).to.include({ bootId: "boot-3" });
  });
});
