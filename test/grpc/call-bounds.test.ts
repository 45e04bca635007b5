import { Client, credentials, type ServiceError, status, type StatusObject } from "@grpc/grpc-js";
import { expect } from "chai";
import { AgentService } from "../../proto/generated/agent/v1/agent.ts";
import { GatewayService } from "../../proto/generated/gateway/v1/gateway.ts";
import { PipelineService } from "../../proto/generated/pipeline/v1/pipeline.ts";
import { until } from "../support/until.ts";
import { Gateway, invoke, reasonOf, refusal, Stream, type TestAgent } from "./gateway.ts";

const UNARY_MS = 400;
const RUBBISH = Buffer.from([0xff, 0xff, 0xff, 0x07, 0x01]);
const asIs = (bytes: Buffer): Buffer => bytes;

describe("every call", () => {
  let gateway: Gateway;
  let agent: TestAgent;
  let client: Client;
  before(async () => {
    gateway = await Gateway.start({ unaryMs: UNARY_MS });
    agent = await gateway.register("caller");
    client = new Client(`127.0.0.1:${gateway.port}`, credentials.createInsecure());
  });
  after(async () => {
    client.close();
    await gateway.stop();
  });

  /** The error of a call with these bytes; undefined when the call succeeds. */
  function send(
    path: string,
    bytes: Buffer,
    deadline?: number,
    metadata = agent.metadata,
  ): Promise<ServiceError | null> {
    const options = deadline === undefined ? {} : { deadline };
    return new Promise((resolve) => {
      client.makeUnaryRequest(path, asIs, asIs, bytes, metadata, options, (error) => resolve(error));
    });
  }

  it("of an unknown method is unimplemented", async () => {
    for (const path of ["/agent.v1.Agent/Reboot", "/agent.v2.Agent/Heartbeat", "/nothing"]) {
      const error = await send(path, Buffer.of());
      expect([error?.code, error?.details], path).to.deep.equal([
        status.UNIMPLEMENTED,
        `The server does not implement the method ${path}`,
      ]);
    }
  });

  it("whose bytes are no message is INVALID_ARGUMENT, in a stream too", async () => {
    const error = (await send(AgentService.heartbeat.path, RUBBISH))!;
    expect([error.code, reasonOf(error)]).to.deep.equal([status.INVALID_ARGUMENT, "malformed_request"]);
    expect(error.details).to.include(AgentService.heartbeat.path);

    const stream = client.makeBidiStreamRequest(GatewayService.pushLogs.path, asIs, asIs, agent.metadata);
    stream.on("error", () => {});
    const ended = new Promise<StatusObject>((resolve) => stream.on("status", resolve));
    stream.resume();
    stream.write(RUBBISH);
    const received = await ended;
    expect([received.code, reasonOf(received)]).to.deep.equal([status.INVALID_ARGUMENT, "malformed_request"]);
  });

  it("that has a map with the key __proto__ is INVALID_ARGUMENT, instead of losing the entry", async () => {
    const labels = (key: string) => Object.fromEntries([[key, "x"]]);
    const update = (key: string) => AgentService.updateLabels.requestSerialize({ labels: labels(key), replace: true });
    const error = (await send(AgentService.updateLabels.path, update("__proto__")))!;
    expect([error.code, reasonOf(error)]).to.deep.equal([status.INVALID_ARGUMENT, "malformed_request"]);
    expect(error.details).to.include("has a map with the key __proto__");
    // A client of this library loses the key itself, so the bytes are changed behind it.
    const spec = {
      pipelineId: "pl_x",
      spec: { jobs: [{ env: { _PROTO___: "x" } }] },
      format: "SPEC_FORMAT_YAML",
    } as const;
    const text = PipelineService.validateSpec.requestSerialize(spec).toString("latin1");
    const bytes = Buffer.from(text.replace("_PROTO___", "__proto__"), "latin1");
    expect((await send(PipelineService.validateSpec.path, bytes))?.code).to.equal(status.INVALID_ARGUMENT);
    for (const key of ["__proto__x", "constructor", "prototype", "toString"]) {
      expect(await send(AgentService.updateLabels.path, update(key)), key).to.equal(null);
      const { labels: stored } = await invoke(
        gateway.agents(),
        "updateLabels",
        { labels: {}, replace: false },
        agent.metadata,
      );
      expect(stored).to.deep.equal(labels(key));
    }
    const asText = AgentService.updateLabels.requestSerialize({ labels: { a: "__proto__" }, replace: true });
    expect(await send(AgentService.updateLabels.path, asText), "as a text").to.equal(null);
  });

  it("may carry messages of 4 MiB, and the refusal of a larger one names the bound", async () => {
    const most = 4 << 20;
    const filled = (bytes: number) =>
      AgentService.heartbeat.requestSerialize({
        bootId: "x".repeat(bytes - 5),
        sequence: 0n,
        held: [],
        heldJobIds: [],
        takesNoJobs: "",
      });
    expect(filled(most)).to.have.length(most);
    expect((await send(AgentService.heartbeat.path, filled(most)))?.code).to.equal(status.INVALID_ARGUMENT);
    const error = (await send(AgentService.heartbeat.path, filled(most + 1)))!;
    expect(error.code).to.equal(status.RESOURCE_EXHAUSTED);
    expect(error.details).to.include(String(most));
  });

  it("that decompresses beyond the bound is refused, and not kept in memory", async () => {
    const options = { deadline: Date.now() + 10_000 };
    const zeros = Buffer.alloc(64 << 20);
    const stream = new Client(`127.0.0.1:${gateway.port}`, credentials.createInsecure(), {
      "grpc.default_compression_algorithm": 2,
    });
    try {
      const error = await new Promise<ServiceError | null>((resolve) => {
        stream.makeUnaryRequest(AgentService.heartbeat.path, asIs, asIs, zeros, agent.metadata, options, (received) =>
          resolve(received),
        );
      });
      expect(error?.code).to.equal(status.RESOURCE_EXHAUSTED);
      expect(error?.details).to.include(String(4 << 20));
    } finally {
      stream.close();
    }
  });

  it("with too many headers is refused, and the server still works", async () => {
    const many = agent.metadata.clone();
    for (let n = 0; n < 200; n++) many.set(`header-${n}`, "x");
    const large = agent.metadata.clone();
    large.set("header", "x".repeat(100_000));
    for (const metadata of [many, large]) {
      const error = await send(AgentService.heartbeat.path, Buffer.of(), Date.now() + 5_000, metadata);
      expect(error?.code).to.be.oneOf([status.RESOURCE_EXHAUSTED, status.UNAVAILABLE, status.INTERNAL]);
    }
    expect((await send(AgentService.heartbeat.path, Buffer.of()))?.code).to.equal(status.INVALID_ARGUMENT);
  });

  it("that waits gets its answer before its deadline", async () => {
    const startedAt = performance.now();
    const options = { deadlineMs: 700 };
    const answer = await invoke(gateway.agents(), "fetchStepRun", fetchOf("patient"), agent.metadata, options);
    expect(answer.dispatches).to.deep.equal([]);
    expect(performance.now() - startedAt).to.be.within(400, 700);
    await nothingListens();
  });

  it("ends at its deadline, and so does its handler", async () => {
    const stream = new Stream(gateway.agents().connect(agent.metadata, { deadline: Date.now() + 500 }));
    stream.send({
      message: {
        $case: "hello",
        value: { bootId: "boot-1", labels: {}, slots: 1, version: "1", held: [], heldJobIds: [], takesNoJobs: "" },
      },
    });
    await until("the gateway listens for the agent", async () => (await listeners()).length > 0);
    expect((await stream.ended()).code).to.equal(status.DEADLINE_EXCEEDED);
    await nothingListens();
  });

  it("ends when the caller disconnects, and so does its handler", async () => {
    const hangUp = new AbortController();
    const waiting = refusal(
      invoke(gateway.agents(), "fetchStepRun", fetchOf("cancelled"), agent.metadata, { hangUp: hangUp.signal }),
    );
    await until("the gateway listens for the agent", async () => (await listeners()).length > 0);
    hangUp.abort();
    expect((await waiting).code).to.equal(status.CANCELLED);
    await nothingListens();
  });

  it("without a deadline has the server's bound, which ends its handler", async () => {
    const bytes = AgentService.fetchStepRun.requestSerialize(fetchOf("forever"));
    const startedAt = performance.now();
    const error = (await send(AgentService.fetchStepRun.path, bytes))!;
    expect([error.code, reasonOf(error)]).to.deep.equal([status.DEADLINE_EXCEEDED, "deadline_exceeded"]);
    expect(error.details).to.include("0.4 s");
    expect(performance.now() - startedAt).to.be.within(UNARY_MS - 10, UNARY_MS + 2_000);
    await nothingListens();
  });

  it("with a deadline has no other bound, and a stream has none", async () => {
    const bytes = AgentService.fetchStepRun.requestSerialize({ ...fetchOf("longer"), waitMs: BigInt(3 * UNARY_MS) });
    expect(await send(AgentService.fetchStepRun.path, bytes, Date.now() + 10_000)).to.equal(null);

    const stream = client.makeBidiStreamRequest(GatewayService.pushLogs.path, asIs, asIs, agent.metadata);
    let ended: StatusObject | undefined;
    stream.on("error", () => {});
    stream.on("status", (received: StatusObject) => (ended = received));
    stream.resume();
    const slower = AgentService.fetchStepRun.requestSerialize({ ...fetchOf("slower"), waitMs: BigInt(2 * UNARY_MS) });
    await send(AgentService.fetchStepRun.path, slower, Date.now() + 10_000);
    expect(ended, "after twice the bound of unary calls").to.equal(undefined);
    stream.end();
    await until("the stream has ended well", () => ended?.code === status.OK);
  });

  const fetchOf = (requestId: string) => ({ bootId: "boot-1", requestId, freeSlots: 1, waitMs: 30_000n });
  const listeners = () => gateway.redis.pubsub("CHANNELS", "feed:agent:*");
  const nothingListens = () => until("nothing waits any more", async () => (await listeners()).length === 0);
});
