import { status as codes } from "@grpc/grpc-js";
import { expect } from "chai";
import type { StreamAgentStatusResponse } from "../../proto/generated/stream/v1/stream.ts";
import { readinessReader } from "../../src/app/readiness.ts";
import { createGrpcServer } from "../../src/grpc/server.ts";
import { until } from "../support/until.ts";
import { Channel, Gateway, invoke, type TestAgent } from "./gateway.ts";
import { type Reader, StreamCaller } from "./streaming.ts";

describe("the stream of agents", () => {
  let gateway: Gateway;
  let caller: StreamCaller;
  let readers: Reader<StreamAgentStatusResponse>[];
  beforeEach(async () => {
    gateway = await Gateway.start();
    caller = await StreamCaller.withRole(gateway.context, gateway.port, "viewer");
    readers = [];
  });
  afterEach(async () => {
    for (const reader of readers) reader.cancel();
    caller.close();
    await gateway.stop();
  });

  const follow = (revision = "", agentIds: string[] = [], by = caller) => {
    const reader = by.read("streamAgentStatus", { agentIds, revision });
    readers.push(reader);
    return reader;
  };
  const caughtUp = (reader: Reader<StreamAgentStatusResponse>) =>
    until("all that is known", () => reader.received.some((message) => message.caughtUp));
  /** A message as `reset`, `caughtUp`, or the agent's name and its presence. */
  const wordsOf = ({ received }: Reader<StreamAgentStatusResponse>) => received.map(wordOf);
  const wordOf = ({ name, presence, busy, slots, reset, caughtUp: isAll }: StreamAgentStatusResponse) =>
    reset ? "reset" : isAll ? "caughtUp" : `${name} ${presence.slice("AGENT_PRESENCE_".length)} ${busy}/${slots}`;
  const tells = (reader: Reader<StreamAgentStatusResponse>, word: string) =>
    until(word, () => wordsOf(reader).at(-1) === word);
  const lastRevision = ({ received }: Reader<StreamAgentStatusResponse>) => received.at(-1)!.revision;

  it("sends the known agents, and then each change of them", async () => {
    const one = await gateway.register("one", 2, { os: "linux" });
    const two = await gateway.register("two");
    const channel = await Channel.open(gateway, one, { labels: { os: "linux" } });
    const reader = follow();
    await caughtUp(reader);
    expect(wordsOf(reader)).to.have.members(["reset", "one ONLINE 0/2", "two OFFLINE 0/2", "caughtUp"]);
    expect([wordsOf(reader)[0], wordsOf(reader)[3]]).to.deep.equal(["reset", "caughtUp"]);
    const first = reader.received.find(({ agentId }) => agentId === one.agentId)!;
    expect(first.labels).to.deep.equal({ os: "linux" });
    expect(Number(first.timeMs)).to.be.closeTo(Date.now(), 10_000);

    await channel.beat({ heldJobIds: ["job_1"] });
    await tells(reader, "one ONLINE 1/2");
    channel.send({ message: { $case: "drain", value: { goodbye: false } } });
    await tells(reader, "one DRAINING 1/2");
    await channel.beat({ heldJobIds: [] });
    await tells(reader, "one DRAINING 0/2");
    channel.end();
    await tells(reader, "one OFFLINE 0/2");
    await Channel.open(gateway, two, { labels: { gpu: "yes" }, slots: 4 });
    await tells(reader, "two ONLINE 0/4");
    expect(reader.received.at(-1)!.labels).to.deep.equal({ gpu: "yes" });
    const three = await gateway.register("three");
    await tells(reader, "three OFFLINE 0/2");
    await invoke(gateway.agents(), "unregister", {}, three.metadata);
    await tells(reader, "three REMOVED 0/2");
  }).timeout(60_000);

  it("shows an agent as lost until it sends a heartbeat", async () => {
    const agent = await gateway.register("one");
    const channel = await Channel.open(gateway, agent);
    const reader = follow();
    await caughtUp(reader);
    await gateway.context.presence.declareLost(agent.agentId, "boot-1");
    await tells(reader, "one LOST 0/2");
    await channel.beat();
    await tells(reader, "one ONLINE 0/2");
  });

  it("resumes with the changes since a known revision, and with all agents otherwise", async () => {
    await gateway.register("one");
    const two = await gateway.register("two");
    const reader = follow();
    await caughtUp(reader);
    reader.cancel();
    const revision = lastRevision(reader);
    const idle = follow(revision);
    await caughtUp(idle);
    expect(wordsOf(idle)).to.deep.equal(["caughtUp"]);

    await Channel.open(gateway, two);
    await tells(idle, "two ONLINE 0/2");
    const resumed = follow(revision);
    await caughtUp(resumed);
    expect(wordsOf(resumed)).to.deep.equal(["two ONLINE 0/2", "caughtUp"]);

    // The stream is interrupted after the first of two messages.
    const [reset, first] = reader.received;
    const rest = follow(first!.revision);
    await caughtUp(rest);
    expect(wordsOf(rest)).to.not.include("reset").and.to.not.include(wordOf(first!));
    const whole = follow(reset!.revision);
    await caughtUp(whole);
    expect(wordsOf(whole)).to.have.members(["one OFFLINE 0/2", "two ONLINE 0/2", "caughtUp"]);

    const elsewhere = createGrpcServer(gateway.context, { readiness: readinessReader(gateway.context, {}) });
    const other = await StreamCaller.withRole(gateway.context, await elsewhere.start("127.0.0.1:0"), "viewer");
    for (const restarted of [follow(revision, [], other), follow("nonsense"), follow(`${revision}9`)]) {
      await caughtUp(restarted);
      expect(wordsOf(restarted)).to.have.members(["reset", "one OFFLINE 0/2", "two ONLINE 0/2", "caughtUp"]);
    }
    other.close();
    await elsewhere.stop(1_000);
  }).timeout(30_000);

  it("sends only the requested agents, and refuses unknown ones", async () => {
    const agents: TestAgent[] = [];
    for (const name of ["one", "two"]) agents.push(await gateway.register(name));
    const reader = follow("", [agents[1]!.agentId]);
    await caughtUp(reader);
    await Channel.open(gateway, agents[0]!);
    await Channel.open(gateway, agents[1]!);
    await tells(reader, "two ONLINE 0/2");
    expect(wordsOf(reader)).to.deep.equal(["reset", "two OFFLINE 0/2", "caughtUp", "two ONLINE 0/2"]);
    expect((await follow("", ["agt_NONE"]).ended()).code).to.equal(codes.NOT_FOUND);
    expect((await follow("", ["run_1"]).ended()).code).to.equal(codes.INVALID_ARGUMENT);
  }).timeout(30_000);

  it("shows no change of the agents during an outage of Redis", async () => {
    const agent = await gateway.register("one");
    const channel = await Channel.open(gateway, agent);
    const reader = follow();
    await caughtUp(reader);
    await gateway.testRedis.kill();
    await until("presence cannot be read", async () => {
      const { code } = await follow().ended();
      return code === codes.UNAVAILABLE;
    });
    const { presence } = gateway.context;
    const online = presence.online.bind(presence);
    const seen: number[] = [];
    presence.online = async (maxAgeMs) => {
      const records = await online(maxAgeMs);
      seen.push(records.length);
      return records;
    };
    // Redis comes back empty: it knows no agent before the next heartbeat.
    await gateway.testRedis.restart();
    await until("two reads without an agent", () => seen.length >= 2);
    expect(seen).to.include.members([0]);
    await channel.beat({ heldJobIds: ["job_1"] });
    await tells(reader, "one ONLINE 1/2");
    expect(wordsOf(reader)).to.deep.equal(["reset", "one ONLINE 0/2", "caughtUp", "one ONLINE 1/2"]);
  }).timeout(40_000);

  it("reads presence once a second for all callers, and not at all without a caller", async () => {
    const { presence } = gateway.context;
    const online = presence.online.bind(presence);
    let looks = 0;
    presence.online = (maxAgeMs) => {
      looks++;
      return online(maxAgeMs);
    };
    const all = Array.from({ length: 50 }, () => follow());
    await Promise.all(all.map(caughtUp));
    const opened = looks;
    await until("three looks", () => looks >= opened + 3);
    expect(opened).to.be.at.most(51);
    for (const reader of all) reader.cancel();
    const before = performance.now();
    const counted = looks;
    await until("two more seconds", () => performance.now() - before > 2_000);
    expect(looks - counted).to.be.at.most(1);
  });
});
