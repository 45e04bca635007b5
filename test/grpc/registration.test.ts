import { status } from "@grpc/grpc-js";
import { connect } from "node:net";
import { expect } from "chai";
import { issueToken } from "../../src/app/identity/tokens.ts";
import { until } from "../support/until.ts";
import { bearer, Channel, Gateway, invoke, reasonOf, refusal } from "./gateway.ts";
import { StoredRun } from "./stored-run.ts";

const FACTS = { labels: { os: "linux" }, slots: 3, version: "1.2" };

describe("registration of agents over gRPC", () => {
  let gateway: Gateway;
  before(async () => (gateway = await Gateway.start()));
  after(() => gateway.stop());

  it("registers an agent, and gives it a token for its own operations", async () => {
    const { agentId, metadata } = await gateway.register("fresh", 3, { os: "linux" });
    expect(agentId).to.match(/^agt_/);
    const stored = await gateway.stores.identity.findAgent(agentId);
    expect(stored).to.include({ name: "fresh", slots: 3 });
    expect(stored!.labels).to.deep.equal({ os: "linux" });
    const beat = { bootId: "b", sequence: 1n, held: [], heldJobIds: [], takesNoJobs: "" };
    expect(await invoke(gateway.agents(), "heartbeat", beat, metadata)).to.deep.include({
      sequence: 1n,
      missed: [],
      heartbeatIntervalMs: 1_000n,
      eventNamespace: "svc",
    });
  });

  it("keeps the id of a name that registers again, and revokes its old token", async () => {
    const first = await gateway.register("again", 1);
    const stream = await Channel.open(gateway, first);
    const second = await gateway.register("again", 5, { gpu: "yes" });
    expect(second.agentId).to.equal(first.agentId);
    expect(await gateway.stores.identity.findAgent(first.agentId)).to.include({ slots: 5 });
    const error = await refusal(invoke(gateway.agents(), "unregister", {}, first.metadata));
    expect(error.code).to.equal(status.UNAUTHENTICATED);
    expect((await stream.ended()).code, "the stream of the old token").to.equal(status.FAILED_PRECONDITION);
    await invoke(gateway.agents(), "unregister", {}, second.metadata);
  });

  it("names every problem of a registration at once", async () => {
    const request = { name: "no spaces please", labels: { "": "x" }, slots: 0, version: "1" };
    const error = await refusal(invoke(gateway.agents(), "register", request, await gateway.registrationToken()));
    expect(error.code).to.equal(status.INVALID_ARGUMENT);
    expect(reasonOf(error)).to.equal("malformed_request");
    const problems = JSON.parse(String(error.metadata.get("problems-bin")[0])) as { pointer: string }[];
    expect(problems.map(({ pointer }) => pointer)).to.include.members(["/name", "/slots"]);
  });

  it("refuses calls without a token, with an unknown one, and with one of another kind", async () => {
    const user = await issueToken(gateway.context, { kind: "personal", subject: "usr_none", name: "x" });
    const { metadata: agent } = await gateway.register("someone");
    const client = gateway.agents();
    const request = { ...FACTS, name: "intruder" };
    const codes = [];
    for (const metadata of [bearer(""), bearer("nonsense"), bearer(user), agent]) {
      codes.push((await refusal(invoke(client, "register", request, metadata))).code);
    }
    const { UNAUTHENTICATED, PERMISSION_DENIED } = status;
    expect(codes).to.deep.equal([UNAUTHENTICATED, UNAUTHENTICATED, UNAUTHENTICATED, PERMISSION_DENIED]);
    const registration = await gateway.registrationToken();
    expect((await refusal(invoke(client, "unregister", {}, registration))).code).to.equal(PERMISSION_DENIED);
    expect(await gateway.stores.identity.findAgentByName("intruder")).to.equal(undefined);
  });

  it("counts the live jobs of an agent that unregisters as lost, and forgets the agent", async () => {
    const agent = await gateway.register("leaving");
    const stream = await Channel.open(gateway, agent);
    const run = await StoredRun.create(gateway.stores);
    await run.grant({ agentId: agent.agentId, bootId: "boot-1", requestId: "r", token: 1 }, "running");
    await invoke(gateway.agents(), "unregister", {}, agent.metadata);
    expect(gateway.sentMessages.at(-1)).to.deep.equal({
      rootId: run.runId,
      to: { kind: "job", id: run.jobId() },
      message: { type: "agentLost", agentId: agent.agentId, bootId: "boot-1", reason: "agent_unregistered" },
    });
    expect(await gateway.stores.identity.findAgent(agent.agentId)).to.equal(undefined);
    expect(await gateway.context.presence.read([agent.agentId])).to.deep.equal(new Map());
    await stream.ended();
    const error = await refusal(invoke(gateway.agents(), "unregister", {}, agent.metadata));
    expect(error.code).to.equal(status.UNAUTHENTICATED);
  });

  it("still works after messages and connections that are not gRPC", async () => {
    const garbage = Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f, 0x13, 0x37]);
    expect(await raw("/agent.v1.Agent/Register", false, garbage)).to.not.equal(status.OK);
    expect(await raw("/agent.v1.Agent/Connect", true, garbage)).to.not.equal(status.OK);
    expect(await raw("/gateway.v1.Gateway/PushLogs", true, garbage)).to.not.equal(status.OK);
    const socket = connect(gateway.port, "127.0.0.1");
    socket.on("error", () => {});
    socket.write("GET / HTTP/1.1\r\n\r\n");
    await until("the server has hung up", () => socket.readableEnded || socket.destroyed || socket.read() !== null);
    socket.destroy();
    await gateway.register("still-here");
  });

  /** The status of a call whose message is these bytes. */
  async function raw(path: string, streams: boolean, bytes: Buffer): Promise<number> {
    const { metadata } = await gateway.register("raw");
    const client = gateway.agents();
    const same = (message: Buffer): Buffer => message;
    return new Promise((resolve) => {
      const answered = ({ code }: { code: number }): void => resolve(code);
      if (!streams) {
        client.makeUnaryRequest(path, same, same, bytes, metadata, () => {}).on("status", answered);
        return;
      }
      const call = client.makeBidiStreamRequest(path, same, same, metadata);
      call.on("error", () => {});
      call.on("data", () => {});
      call.on("status", answered);
      call.write(bytes);
      call.end();
    });
  }
});
