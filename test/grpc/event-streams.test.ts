import { status as codes } from "@grpc/grpc-js";
import { expect } from "chai";
import type { EventDraft } from "../../src/domain/events.ts";
import { runChannel } from "../../src/feed/feed.ts";
import { readinessReader } from "../../src/app/readiness.ts";
import { createGrpcServer, type GrpcServer } from "../../src/grpc/server.ts";
import { planOf } from "../support/plans.ts";
import { saveTurn, stepEvent, type StoredRun, storeRun } from "../support/stored-runs.ts";
import { DEFAULT_TENANT } from "../../src/domain/ids.ts";
import type { SystemEventDraft, SystemObject } from "../../src/domain/system-events.ts";
import { until } from "../support/until.ts";
import { Gateway, reasonOf } from "./gateway.ts";
import { StreamCaller } from "./streaming.ts";

const IMPATIENT_MS = 300;
const EVENTS = 6_000;

describe("streams of events", () => {
  let gateway: Gateway;
  /** A second gateway of the same installation, which ends the streams of slow callers sooner. */
  let impatient: GrpcServer;
  let impatientPort: number;
  let caller: StreamCaller;
  let run: StoredRun;
  before(async () => {
    gateway = await Gateway.start();
    impatient = createGrpcServer(gateway.context, {
      readiness: readinessReader(gateway.context, {}),
      stallMs: IMPATIENT_MS,
    });
    impatientPort = await impatient.start("127.0.0.1:0");
    caller = await StreamCaller.withRole(gateway.context, gateway.port, "viewer");
  });
  after(async () => {
    caller.close();
    await impatient.stop(1_000);
    await gateway.stop();
  });
  beforeEach(async () => {
    run = await storeRun(gateway.context, planOf([[{ steps: 2 }]]));
  });

  const request = (after = 0n, objects: string[] = []) => ({ runId: run.runId, after, objects, log: "" });
  const event = (object: EventDraft["object"], status: string, data: EventDraft["data"] = {}): EventDraft => ({
    object,
    lifecycle: "started",
    jobId: object === "pipeline" ? null : run.jobIds[0]!,
    stepRunId: null,
    status,
    data,
  });
  const tell = (events: readonly EventDraft[], published = true) =>
    saveTurn(gateway.context, run, { events, published });
  const end = () =>
    saveTurn(gateway.context, run, {
      run: { state: "success", endedAt: 9 },
      events: [{ ...event("pipeline", "success"), lifecycle: "completed" }],
    });
  const numbers = (received: readonly { readonly number: bigint }[]) => received.map(({ number }) => Number(number));
  const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, at) => first + at);

  it("send CloudEvents in order, from any number on, and end with the run", async () => {
    await tell([event("pipeline", "running", { reason: "", cause: "trigger", by: "" }), event("job", "queued")]);
    const reader = caller.read("streamEvents", request());
    const [first] = await reader.count(2);
    const { timeMs, dataJson, ...rest } = first!;
    expect(rest).to.deep.equal({
      id: `${run.runId}:1`,
      source: `/api/v1/pipelines/runs/${run.runId}`,
      type: "svc.pipeline.started",
      subject: `pipeline:${run.pipelineId}`,
      number: 1n,
    });
    expect(JSON.parse(dataJson)).to.deep.equal({
      runId: run.runId,
      number: 1,
      status: "running",
      time: new Date(Number(timeMs)).toISOString(),
      reason: "",
      cause: "trigger",
      by: "",
    });
    await tell([stepEvent(run, "started", "running")]);
    await end();
    expect((await reader.ended()).code).to.equal(codes.OK);
    expect(numbers(reader.received)).to.deep.equal([1, 2, 3, 4]);
    expect(reader.received.map(({ subject }) => subject.split(":").length)).to.deep.equal([2, 4, 6, 2]);
    expect(numbers(await caller.all("streamEvents", request(2n)))).to.deep.equal([3, 4]);
    expect(await caller.all("streamEvents", request(4n))).to.deep.equal([]);
  });

  it("send only events of the requested objects", async () => {
    await tell([event("pipeline", "running"), event("approval", "pending"), event("job", "queued")]);
    await end();
    expect(numbers(await caller.all("streamEvents", request(0n, ["approval", "job"])))).to.deep.equal([2, 3]);
    expect(numbers(await caller.all("streamEvents", request(2n, ["pipeline"])))).to.deep.equal([4]);
    const status = await caller.read("streamEvents", request(0n, ["job", "agent"])).ended();
    expect([status.code, status.details]).to.deep.equal([
      codes.INVALID_ARGUMENT,
      "the request has problems: /objects/1 must be one of pipeline, job, step, approval",
    ]);
  });

  it("send system events without a run, from any number on, until the caller has enough", async () => {
    const { rights, systemEvents } = gateway.stores;
    await rights.createTenant({ tenantId: DEFAULT_TENANT, name: "default", createdAt: 1, archivedAt: null });
    const draft = (eventId: string, object: SystemObject): SystemEventDraft => {
      const data = { id: "one", name: "One" };
      return { log: DEFAULT_TENANT, eventId, object, lifecycle: "updated", timeMs: 1_000, data };
    };
    const [first] = await systemEvents.append([draft("a", "project"), draft("b", "token"), draft("c", "agent")]);
    const asked = { runId: "", after: BigInt(first!.number - 1), objects: [], log: "" };
    const reader = caller.read("streamEvents", asked);
    const [told] = await reader.count(2);
    expect(told).to.deep.include({
      id: `default:${first!.number}`,
      source: "/api/v1/system-events?log=default",
      type: "svc.project.updated",
      subject: "project:one",
      number: BigInt(first!.number),
      timeMs: 1_000n,
    });
    expect(JSON.parse(told!.dataJson)).to.include({ id: "one", number: first!.number, log: "default" });
    expect(reader.received[1]!.subject, "a viewer does not see tokens").to.equal("agent:one");
    const chosen = caller.read("streamEvents", { ...asked, objects: ["agent"], log: "default" });
    await systemEvents.append([draft("d", "agent")]);
    await chosen.count(2, 8_000);
    for (const stream of [reader, chosen]) stream.cancel();
    const refusalOf = async (fields: object) => {
      const status = await caller.read("streamEvents", { ...asked, ...fields }).ended();
      return [status.code, reasonOf(status)];
    };
    expect(await refusalOf({ log: "tnt_none" })).to.deep.equal([codes.NOT_FOUND, "not_found"]);
    expect(await refusalOf({ log: "installation" })).to.deep.equal([codes.PERMISSION_DENIED, "forbidden"]);
    expect(await refusalOf({ after: 10_000n })).to.deep.equal([codes.INVALID_ARGUMENT, "malformed_request"]);
    expect(await refusalOf({ objects: ["job"] })).to.deep.equal([codes.INVALID_ARGUMENT, "malformed_request"]);
    expect(await refusalOf({ runId: run.runId, log: "default" })).to.deep.equal([
      codes.INVALID_ARGUMENT,
      "malformed_request",
    ]);
  });

  it("wait for owed events of the run before they end", async () => {
    await end();
    const { aggregates } = gateway.stores;
    const { head } = (await aggregates.load(run.runId))!;
    const unsettled = { ...head, version: head.version + 1, settled: false };
    await aggregates.save({ expectedVersion: head.version, head: unsettled, changed: [], events: [] });
    const loadHead = aggregates.loadHead.bind(aggregates);
    let looks = 0;
    aggregates.loadHead = (runId) => {
      looks++;
      return loadHead(runId);
    };
    const reader = caller.read("streamEvents", request());
    await reader.count(1);
    await until("some looks at the run", () => looks >= 4);
    aggregates.loadHead = loadHead;
    expect(reader.status).to.equal(undefined);
    const settled = { ...head, version: head.version + 2 };
    await aggregates.save({ expectedVersion: unsettled.version, head: settled, changed: [], events: [] });
    expect((await reader.ended()).code).to.equal(codes.OK);
    expect(numbers(reader.received)).to.deep.equal([1]);
  });

  it("are refused for unknown runs, other ids and numbers of other runs", async () => {
    const statusOf = async (runId: string, after = 0n) => {
      const status = await caller.read("streamEvents", { runId, after, objects: [], log: "" }).ended();
      return [status.code, reasonOf(status)];
    };
    expect(await statusOf("run_NONE")).to.deep.equal([codes.NOT_FOUND, "not_found"]);
    expect(await statusOf(run.jobIds[0]!)).to.deep.equal([codes.INVALID_ARGUMENT, "malformed_request"]);
    expect(await statusOf(run.runId, 1n)).to.deep.equal([codes.INVALID_ARGUMENT, "malformed_request"]);
    expect(await statusOf(run.runId, -1n)).to.deep.equal([codes.INVALID_ARGUMENT, "malformed_request"]);
  });

  it("are refused below the stored numbers, and end at once after the last number", async () => {
    await tell([event("pipeline", "running"), event("job", "queued")]);
    await end();
    const { stores } = gateway;
    await stores.retention.dropEvents(run.runId);
    for (const after of [0n, 2n]) {
      const status = await caller.read("streamEvents", request(after)).ended();
      expect([status.code, reasonOf(status)]).to.deep.equal([codes.NOT_FOUND, "not_found"]);
      expect(status.details).to.include("were removed: read the run as it ended instead");
    }
    expect(await caller.all("streamEvents", request(3n)), "a caller with the last number misses nothing").to.deep.equal(
      [],
    );
    const shown = await caller.all("streamPipelineStatus", { runId: run.runId, afterEvent: undefined });
    expect(shown, "the end can still be read").to.have.length(1);
    const resumed = await caller.read("streamPipelineStatus", { runId: run.runId, afterEvent: 1n }).ended();
    expect(resumed.code).to.equal(codes.NOT_FOUND);
  });

  it("end with an error when the run is removed before all events were sent", async () => {
    await tell(Array.from({ length: 300 }, () => event("job", "queued")));
    await end();
    const { events, removeRun } = gateway.stores;
    const read = events.read.bind(events);
    // The reader is slower than the removal.
    events.read = async (runId, after, limit) => {
      const found = await read(runId, after, limit);
      if (after === 0) await removeRun({ runId, jobIds: [], stepRunIds: [], approvalIds: [] });
      return found;
    };
    try {
      const reader = caller.read("streamEvents", request());
      expect((await reader.ended()).code).to.equal(codes.NOT_FOUND);
      expect(numbers(reader.received)).to.deep.equal(upTo(100));
    } finally {
      events.read = read;
    }
  });

  it("send thousands of events once and in order, to early and late callers", async () => {
    const early = Array.from({ length: 5 }, () => caller.read("streamEvents", request()));
    for (let sent = 0; sent < EVENTS; sent += 200) {
      // Sometimes the feed loses a message, or sends it twice.
      const events = await tell(
        Array.from({ length: 200 }, () => event("job", "running")),
        sent % 600 !== 0,
      );
      if (sent % 1_000 === 0) await gateway.context.feed.publish(runChannel(run.runId), events[7]);
    }
    const late = caller.read("streamEvents", request(1_234n));
    await end();
    for (const reader of [...early, late]) expect((await reader.ended()).code).to.equal(codes.OK);
    for (const reader of early) expect(numbers(reader.received)).to.deep.equal(upTo(EVENTS + 1));
    expect(numbers(late.received)).to.deep.equal(upTo(EVENTS + 1, 1_235));
  });

  it("end for a caller that does not read, and say where to resume", async () => {
    const slow = await StreamCaller.withRole(gateway.context, impatientPort, "viewer");
    const text = "x".repeat(1_000);
    const readers = Array.from({ length: 50 }, () => {
      const reader = slow.read("streamEvents", request());
      reader.pause();
      return reader;
    });
    const used = () => {
      global.gc?.();
      return process.memoryUsage().rss;
    };
    const before = used();
    for (let sent = 0; sent < EVENTS; sent += 200) {
      await tell(Array.from({ length: 200 }, () => event("job", "running", { text })));
    }
    // The events for each caller are 7 MB.
    expect((used() - before) / 2 ** 20, "MiB for 50 callers that read nothing").to.be.below(100);
    for (const reader of readers) reader.resume();
    for (const reader of readers) {
      const { code, details } = await reader.ended();
      expect(code).to.equal(codes.RESOURCE_EXHAUSTED);
      const last = reader.received.length;
      expect(numbers(reader.received)).to.deep.equal(upTo(last));
      expect(last).to.be.within(1, EVENTS / 2);
      const [, sent] = /^nothing of this stream was read for 0.3 s: read faster, and resume with after (\d+)$/.exec(
        details,
      )!;
      // The client library drops messages that it has not handed over when the error arrives.
      expect(Number(sent)).to.be.within(last, EVENTS / 2);
    }
    const { length } = readers[0]!.received;
    const resumed = slow.read("streamEvents", request(BigInt(length)));
    await resumed.count(EVENTS - length);
    expect(numbers(resumed.received)).to.deep.equal(upTo(EVENTS, length + 1));
    slow.close();
  });

  it("cost little while nothing happens, also in large numbers", async () => {
    await tell([event("pipeline", "running")]);
    const callers = await Promise.all(
      Array.from({ length: 4 }, () => StreamCaller.withRole(gateway.context, gateway.port, "viewer")),
    );
    const readers = callers.flatMap((each) => Array.from({ length: 500 }, () => each.read("streamEvents", request())));
    await Promise.all(readers.map((reader) => reader.count(1, 20_000)));
    const { events } = gateway.stores;
    const { read } = events;
    let reads = 0;
    events.read = (...range) => {
      reads++;
      return read(...range);
    };
    const cpu = process.cpuUsage();
    const began = performance.now();
    await until("two looks at the run", () => reads >= 2, 20_000);
    events.read = read;
    const { user, system } = process.cpuUsage(cpu);
    expect((user + system) / 1_000 / (performance.now() - began), "share of a core").to.be.below(0.2);
    expect(reads).to.equal(2);
    await end();
    for (const reader of readers) expect((await reader.ended(20_000)).code).to.equal(codes.OK);
    for (const reader of readers) expect(numbers(reader.received)).to.deep.equal([1, 2]);
    for (const each of callers) each.close();
  }).timeout(60_000);

  it("end with UNAVAILABLE when the gateway stops", async () => {
    const server = createGrpcServer(gateway.context, { readiness: readinessReader(gateway.context, {}) });
    const port = await server.start("127.0.0.1:0");
    const other = await StreamCaller.withRole(gateway.context, port, "viewer");
    await tell([event("pipeline", "running")]);
    const readers = [
      other.read("streamEvents", request()),
      other.read("streamPipelineStatus", { runId: run.runId }),
      other.read("streamAgentStatus", { agentIds: [], revision: "" }),
    ];
    await Promise.all(readers.map((reader) => reader.count(1)));
    await server.stop(5_000);
    for (const reader of readers) {
      const { code, details } = await reader.ended();
      expect(code).to.equal(codes.UNAVAILABLE);
      expect(details).to.equal("this gateway is shutting down: connect again, and resume");
    }
    other.close();
  });
});
