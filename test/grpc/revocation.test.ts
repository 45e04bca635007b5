/** What ends calls and streams over gRPC that are open when rights are taken away and no notice of that arrives. */
import { credentials, status } from "@grpc/grpc-js";
import { expect } from "chai";
import { StreamClient } from "../../proto/generated/stream/v1/stream.ts";
import { endStreams } from "../../src/app/agents/agent-removal.ts";
import { issueToken, tokenIdOf } from "../../src/app/identity/tokens.ts";
import { newId, type TokenId } from "../../src/domain/ids.ts";
import type { Role } from "../../src/domain/roles.ts";
import { planOf } from "../support/plans.ts";
import { changeStoredUser } from "../support/stored-users.ts";
import { storeRun } from "../support/stored-runs.ts";
import { until } from "../support/until.ts";
import { Channel, Gateway, invoke, reasonOf, refusal, Stream, type TestAgent } from "./gateway.ts";
import { StoredRun } from "./stored-run.ts";
import { Reader, StreamCaller } from "./streaming.ts";

describe("rights that are taken away while a stream is open", () => {
  let gateway: Gateway;
  before(async () => (gateway = await Gateway.start({ sessionCheckMs: 40 })));
  afterEach(() => gateway.hangUp());
  after(() => gateway.stop());

  /** Deletes the agent's token, and tells no gateway. */
  const revokeSilently = async ({ agentId }: TestAgent): Promise<TokenId> => {
    const [token] = await gateway.stores.identity.listTokens("agent", agentId);
    await gateway.stores.identity.deleteToken(token!.tokenId);
    return token!.tokenId;
  };

  it("end every kind of stream of an agent with UNAUTHENTICATED", async () => {
    const agent = await gateway.register("silent");
    const streams = new StreamClient(`127.0.0.1:${gateway.port}`, credentials.createInsecure());
    const client = gateway.logs();
    const open = [
      new Stream(client.pushLogs(agent.metadata)),
      new Stream(client.pushEvents(agent.metadata)),
      new Stream(client.pushArtifact(agent.metadata)),
      new Stream(client.pullArtifact(agent.metadata)),
      new Stream(client.pushCache(agent.metadata)),
      new Stream(client.pullCache(agent.metadata)),
    ];
    const channel = await Channel.open(gateway, agent);
    const wrapped = await gateway.register("wrapped");
    const agentChannel = new Stream(streams.agentChannel(wrapped.metadata));
    const hello = { bootId: "boot-1", labels: {}, slots: 1, version: "1", held: [], heldJobIds: [], takesNoJobs: "" };
    agentChannel.send({ request: { message: { $case: "hello", value: hello } } });
    await until("the agent is welcome", () => agentChannel.received.length > 0);
    const all = [...open, channel, agentChannel];
    expect(all.map((stream) => stream.status)).to.deep.equal(all.map(() => undefined));

    await revokeSilently(agent);
    await revokeSilently(wrapped);
    for (const stream of all) {
      const ended = await stream.ended();
      expect([ended.code, reasonOf(ended)]).to.deep.equal([status.UNAUTHENTICATED, "unauthenticated"]);
    }
    streams.close();
  });

  it("end the streams of a user", async () => {
    const run = await storeRun(gateway.context, planOf([[{}]]));
    const requests = [
      ["streamEvents", { runId: run.runId, log: "", after: 0n, objects: [] }],
      ["streamPipelineStatus", { runId: run.runId, afterEvent: undefined }],
      ["streamJobStatus", { jobId: run.jobIds[0]!, afterEvent: undefined }],
      ["streamStepRunStatus", { stepRunId: run.stepIds[0]![0]!, afterEvent: undefined }],
      ["streamAgentStatus", { agentIds: [], revision: "" }],
    ] as const;
    const open = async (role: Role) => {
      const userId = newId("usr");
      const user = { userId, name: userId, role, passwordHash: "", createdAt: 0, disabled: false };
      await gateway.stores.identity.createUser(user);
      const token = await issueToken(gateway.context, { kind: "personal", subject: userId, name: "t" });
      const caller = new StreamCaller(gateway.port, token);
      const readers = requests.map(([operation, request]) => caller.read(operation, request as never));
      await until("snapshots", () => readers.filter(({ received }) => received.length > 0).length >= 4);
      expect(readers.map((reader) => reader.status)).to.deep.equal(readers.map(() => undefined));
      return { name: user.name, token, caller, readers: readers as readonly Reader<unknown>[] };
    };
    const [disabled, revoked, lowered] = [await open("viewer"), await open("viewer"), await open("operator")];
    changeStoredUser(gateway.storePath, disabled.name, { disabled: true });
    await gateway.stores.identity.deleteToken(tokenIdOf(revoked.token));
    changeStoredUser(gateway.storePath, lowered.name, { role: "viewer" });
    for (const [{ readers, caller }, code] of [
      [disabled, status.UNAUTHENTICATED],
      [revoked, status.UNAUTHENTICATED],
      [lowered, status.PERMISSION_DENIED],
    ] as const) {
      const ends = await Promise.all(readers.map((reader) => reader.ended()));
      expect(ends.map((end) => end.code)).to.deep.equal(readers.map(() => code));
      caller.close();
    }
  });

  it("end a fetch that waits at once, and hand out no step that it was granted", async () => {
    const request = { bootId: "boot-1", requestId: "r", freeSlots: 1, waitMs: 30_000n };
    const agent = await gateway.register("puller");
    const fetch = invoke(gateway.agents(), "fetchStepRun", request, agent.metadata, { deadlineMs: 40_000 });
    const refused = refusal(fetch);
    await until("it waits", async () => (await gateway.redis.pubsub("CHANNELS", "feed:agent:*")).length === 1);
    await endStreams(gateway.context, agent.agentId);
    expect(reasonOf(await refused)).to.equal("unauthenticated");

    const other = await gateway.register("late-puller");
    const run = await StoredRun.create(gateway.stores);
    const waiting = refusal(invoke(gateway.agents(), "fetchStepRun", request, other.metadata, { deadlineMs: 40_000 }));
    await until("it waits", async () => (await gateway.redis.pubsub("CHANNELS", "feed:agent:*")).length === 1);
    await revokeSilently(other);
    await run.grant({ agentId: other.agentId, bootId: "boot-1", requestId: "r", token: 1 });
    await gateway.notify(other, { type: "dispatch", order: run.grantedStep() });
    expect(reasonOf(await waiting)).to.equal("unauthenticated");
  });
});
