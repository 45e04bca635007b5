/** Tests of traces: ids, spans of a stored run, and the exporter against a receiver that knows the published protocol. */
import { expect } from "chai";
import type { RunId, StepRunId } from "../../src/domain/ids.ts";
import { systemClock, systemTimers } from "../../src/domain/clock.ts";
import { parseTraceparent, spanIdOf, traceIdOf, traceparentOf } from "../../src/telemetry/trace-ids.ts";
import { OtlpExporter } from "../../src/telemetry/otlp-exporter.ts";
import type { Span } from "../../src/telemetry/spans.ts";
import { SILENT } from "../agent/test-agent.ts";
import { type OtlpReceiver, startOtlpReceiver } from "../support/otlp-receiver.ts";
import { until } from "../support/until.ts";

const RUN = "run_1" as RunId;

describe("ids of traces", () => {
  it("are the same for the same run and step, and make a traceparent", () => {
    const text = traceparentOf(RUN, "step_1" as StepRunId);
    expect(text).to.equal(traceparentOf(RUN, "step_1" as StepRunId));
    const context = { traceId: traceIdOf(RUN), spanId: spanIdOf("step_1" as StepRunId), flags: 1 };
    expect(parseTraceparent(text)).to.deep.equal(context);
    expect(spanIdOf("step_2" as StepRunId)).not.to.equal(context.spanId);
  });

  it("are read from a traceparent of this and of later versions, and from nothing else", () => {
    const [trace, span] = ["4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"];
    expect(parseTraceparent(`00-${trace}-${span}-00`)).to.deep.equal({ traceId: trace, spanId: span, flags: 0 });
    expect(parseTraceparent(`cc-${trace}-${span}-01-what-else`)).to.include({ traceId: trace });
    for (const text of [
      "",
      `00-${trace}-${span}-01-more`,
      `ff-${trace}-${span}-01`,
      `00-${trace.toUpperCase()}-${span}-01`,
      `00-${"0".repeat(32)}-${span}-01`,
      `00-${trace}-${"0".repeat(16)}-01`,
      `00-${trace}-${span}`,
      `00-${trace}-${span}-01\n`,
    ]) {
      expect(parseTraceparent(text), JSON.stringify(text)).to.equal(undefined);
    }
  });
});

describe("the exporter of spans", function () {
  this.timeout(30_000);
  let receiver: OtlpReceiver;
  let exporter: OtlpExporter;

  beforeEach(async () => {
    receiver = await startOtlpReceiver();
    exporter = exporterTo(`${receiver.url}/v1/traces`);
  });
  afterEach(async () => {
    await exporter.stop();
    await receiver.close();
  });

  const exporterTo = (url: string): OtlpExporter =>
    new OtlpExporter({
      url,
      headers: { "x-key": "k" },
      resource: { "service.name": "millrace" },
      version: "1",
      clock: systemClock,
      timers: systemTimers,
      log: SILENT,
    });
  const span = (nth: number): Span => ({
    traceId: traceIdOf(RUN),
    spanId: spanIdOf(`step_${nth}` as StepRunId),
    parentSpanId: nth === 0 ? null : spanIdOf(RUN),
    name: `step ${nth}`,
    kind: nth === 0 ? "server" : "internal",
    startMs: 1_700_000_000_000,
    endMs: 1_700_000_000_001 + nth,
    attributes: { text: "ä", whole: 7, part: 0.5, yes: true },
    links: nth === 0 ? [{ traceId: traceIdOf(RUN), spanId: spanIdOf(RUN), flags: 1 }] : [],
    error: nth === 0 ? "step_failed" : null,
  });

  it("sends what the protocol allows, with its headers and its resource, before it answers", async () => {
    await exporter.export([span(0), span(1)]);
    expect(receiver.faults).to.deep.equal([]);
    expect(receiver.headers).to.include({ "x-key": "k" });
    expect(receiver.resources).to.deep.equal([[{ key: "service.name", value: { stringValue: "millrace" } }]]);
    expect(receiver.spans).to.have.length(2);
    expect(receiver.spans[0]).to.deep.include({
      kind: 2,
      startTimeUnixNano: "1700000000000000000",
      status: { code: 2, message: "step_failed" },
    });
    expect(receiver.spans[1]!.attributes).to.deep.equal([
      { key: "text", value: { stringValue: "ä" } },
      { key: "whole", value: { intValue: "7" } },
      { key: "part", value: { doubleValue: 0.5 } },
      { key: "yes", value: { boolValue: true } },
    ]);
    expect(exporter.figures).to.deep.equal({ sent: 2, dropped: 0, refused: 0 });
  });

  it("keeps spans while the receiver is away, and sends each once when it is back", async () => {
    receiver.answerWith(503);
    await exporter.export([span(0)]);
    await exporter.export([span(1)]);
    expect(receiver.spans).to.deep.equal([]);
    receiver.answerWith(200);
    await until("both have come", () => receiver.spans.length === 2);
    expect(receiver.spans.map(({ name }) => name)).to.deep.equal(["step 0", "step 1"]);
  });

  it("drops the oldest when too many wait, and counts them", async () => {
    receiver.answerWith(503);
    for (let nth = 0; nth < 21; nth++) await exporter.export(Array.from({ length: 500 }, (_, at) => span(at)));
    expect(exporter.figures.dropped).to.be.within(500, 1_000);
  });

  it("counts spans that the receiver refuses for good, and does not repeat them", async () => {
    receiver.answerWith(400);
    await exporter.export([span(0)]);
    expect(exporter.figures).to.deep.equal({ sent: 0, dropped: 0, refused: 1 });
  });
});

describe("the receiver of the tests", () => {
  it("finds a field, an enum and an id that the protocol does not have", async () => {
    const receiver = await startOtlpReceiver();
    const post = (span: object) =>
      fetch(`${receiver.url}/v1/traces`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ resourceSpans: [{ resource: { attributes: [] }, scopeSpans: [{ spans: [span] }] }] }),
      });
    const right = { traceId: traceIdOf(RUN), spanId: spanIdOf(RUN), name: "n", kind: 1, attributes: [], links: [] };
    const timed = { ...right, startTimeUnixNano: "1", endTimeUnixNano: "2" };
    await post(timed);
    expect(receiver.faults).to.deep.equal([]);
    await post({ ...timed, colour: "red" });
    await post({ ...timed, kind: 77.5 });
    await post({ ...timed, traceId: "0".repeat(32) });
    await post({ ...timed, endTimeUnixNano: "0" });
    expect(receiver.faults.join("\n")).to.match(/colour[^]*77\.5[^]*traceId[^]*times/);
    await receiver.close();
  });
});
