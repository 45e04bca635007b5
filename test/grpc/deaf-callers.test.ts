import { once } from "node:events";
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from "node:http2";
import { expect } from "chai";
import {
  GetPipelineRunRequest,
  GetPipelineRunResponse,
  PipelineService,
} from "../../proto/generated/pipeline/v1/pipeline.ts";
import { StreamEventsRequest, StreamService } from "../../proto/generated/stream/v1/stream.ts";
import { newId, type PipelineId, type RunId } from "../../src/domain/ids.ts";
import { LargeReads } from "../../src/app/large-reads.ts";
import { createGrpcServer, type GrpcServer } from "../../src/grpc/server.ts";
import { planOf } from "../support/plans.ts";
import { storeWideRun } from "../support/stored-large-runs.ts";
import { saveTurn, stepEvent, storeRun } from "../support/stored-runs.ts";
import { until } from "../support/until.ts";
import { Gateway } from "./gateway.ts";
import { tokenOf } from "./user-calls.ts";

const LONG_MS = 600_000;
/** An answer of more bytes than a caller takes who never updates the window of its call, which is 64 kB. */
const JOBS = 1_500;

/** Resolves also for a stream that ends with an error. */
const closed = (stream: ClientHttp2Stream) => new Promise((resolve) => stream.once("close", resolve));

describe("a caller who reads nothing of a gRPC response", () => {
  let gateway: Gateway;
  let runId: RunId;
  let token: string;
  const open: { readonly server: GrpcServer; readonly session: ClientHttp2Session }[] = [];
  before(async () => {
    gateway = await Gateway.start();
    runId = await storeWideRun(gateway.stores, JOBS, newId("pl") as PipelineId);
    token = await tokenOf(gateway.context, "viewer");
  });
  afterEach(async () => {
    for (const { server, session } of open.splice(0)) {
      session.destroy();
      await server.stop(0);
    }
  });
  after(() => gateway.stop());

  /** Another listener with these bounds, and a caller on one connection to it. */
  async function start(options: Pick<Parameters<typeof createGrpcServer>[1], "deaf" | "stallMs">) {
    const context = { ...gateway.context, largeReads: new LargeReads() };
    const server = createGrpcServer(context, {
      readiness: () => Promise.resolve({ ready: true, checks: {} }) as never,
      ...options,
    });
    const port = await server.start("127.0.0.1:0");
    const session = connect(`http://127.0.0.1:${port}`);
    open.push({ server, session });
    const ask = (path: string, message: Uint8Array): ClientHttp2Stream => {
      const stream = session.request({
        ":method": "POST",
        ":path": path,
        "content-type": "application/grpc",
        te: "trailers",
        authorization: `Bearer ${token}`,
      });
      stream.on("error", () => {});
      const head = Buffer.alloc(5);
      head.writeUInt32BE(message.length, 1);
      stream.end(Buffer.concat([head, message]));
      return stream;
    };
    const run = (jobs = "") =>
      ask(
        PipelineService.getPipelineRun.path,
        GetPipelineRunRequest.encode({ pipelineId: "", runId, allAttempts: false, jobs }).finish(),
      );
    return { ask, run, largeReads: context.largeReads };
  }

  it("is cut off after a time, and its answer takes no room any more", async () => {
    const { run, largeReads } = await start({ deaf: { answerMs: 300 } });
    const deaf = run();
    await once(deaf, "response");
    expect(largeReads.count).to.equal(1);
    await closed(deaf);
    expect(deaf.rstCode).to.equal(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    await until("the room is free", () => largeReads.count === 0);
  });

  it("is cut off sooner when all responses take too much memory, and no caller who reads", async () => {
    const { run } = await start({ deaf: { answerMs: LONG_MS, bytes: 1, deafMs: 100 } });
    const deaf = run();
    await closed(deaf);
    expect(deaf.rstCode).to.equal(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    const reading = run();
    const pieces: Buffer[] = [];
    reading.on("data", (piece: Buffer) => pieces.push(piece));
    const [trailers] = (await once(reading, "trailers")) as [Record<string, string>];
    expect(trailers["grpc-status"]).to.equal("0");
    const { run: read } = GetPipelineRunResponse.decode(Buffer.concat(pieces).subarray(5));
    expect(read!.jobs).to.have.length(JOBS);
  });

  it("loses a stream that was ended and whose status it does not read either", async () => {
    const run = await storeRun(gateway.context, planOf([[{}]]));
    for (let turn = 0; turn < 4; turn++) {
      const events = Array.from({ length: 300 }, () => stepEvent(run, "started", "running"));
      await saveTurn(gateway.context, run, { events, published: false });
    }
    const { ask } = await start({ stallMs: 200, deaf: { answerMs: 300 } });
    const request = StreamEventsRequest.encode({ runId: run.runId, after: 0n, objects: [], log: "" }).finish();
    const deaf = ask(StreamService.streamEvents.path, request);
    const from = performance.now();
    await closed(deaf);
    expect(performance.now() - from, "the status comes first").to.be.above(500);
    expect(deaf.rstCode).to.equal(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  });
});
