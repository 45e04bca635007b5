import { EventEmitter } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Metadata } from "@grpc/grpc-js";
import { expect } from "chai";
import type { PushLogsRequest, PushLogsResponse } from "../../../proto/generated/gateway/v1/gateway.ts";
import { LogShipper } from "../../../src/agent/logs/log-shipper.ts";
import { silentLog } from "../../support/kernel-ports.ts";

const STEPS = 100;

describe("the sending of the lines of many steps", () => {
  it("makes fewer batches the more steps write at once", async () => {
    const sentAt = new Map<string, number[]>();
    const stream = new EventEmitter();
    const write = ({ stepRunId, token, lines }: PushLogsRequest): void => {
      sentAt.set(stepRunId, [...(sentAt.get(stepRunId) ?? []), performance.now()]);
      const verdict = "PUSH_LOGS_VERDICT_STORED";
      const answer: PushLogsResponse = { stepRunId, token, verdict, storedThrough: lines.at(-1)!.line };
      setImmediate(() => stream.emit("data", answer));
    };
    const shipper = new LogShipper({
      client: { pushLogs: () => Object.assign(stream, { write, cancel() {} }) } as never,
      metadata: () => new Metadata(),
      spill: {} as never,
      diskBytes: 0,
      log: silentLog,
    });
    const logs = Array.from({ length: STEPS }, (_, at) =>
      shipper.open({ runId: "run_1", stepRunId: `step_${at}`, token: 1n }),
    );
    const hasSentAll = () => sentAt.size === STEPS && [...sentAt.values()].every(({ length }) => length >= 6);
    for (const end = performance.now() + 20_000; performance.now() < end && !hasSentAll(); await sleep(2)) {
      for (const log of logs) shipper.add(log, "LOG_STREAM_STDOUT", "a line", Date.now());
    }
    for (const log of logs) shipper.finish(log);
    await shipper.whenStored();
    shipper.close();
    // The first flush does not know how many steps write, and the end of a step sends the rest at once.
    const gaps = [...sentAt.values()].flatMap((times) => times.slice(2, -1).map((time, at) => time - times[at + 1]!));
    expect(gaps).to.not.be.empty;
    expect(Math.min(...gaps), "ms between two batches of a step").to.be.at.least(STEPS * 0.4 - 2);
  });

  it("gives a stream up that does not answer, and sends its lines again over another one", async () => {
    const sent: string[] = [];
    let streams = 0;
    const pushLogs = (): object => {
      const number = ++streams;
      const stream = new EventEmitter();
      const write = ({ stepRunId, token, lines }: PushLogsRequest): void => {
        sent.push(`${number}: ${lines.map(({ content }) => content).join(", ")}`);
        const verdict = "PUSH_LOGS_VERDICT_STORED";
        const answer: PushLogsResponse = { stepRunId, token, verdict, storedThrough: lines.at(-1)!.line };
        if (number > 1) setImmediate(() => stream.emit("data", answer));
      };
      const cancel = () => setImmediate(() => stream.emit("error", Object.assign(new Error("cancelled"), { code: 1 })));
      return Object.assign(stream, { write, cancel });
    };
    const shipper = new LogShipper({
      client: { pushLogs } as never,
      metadata: () => new Metadata(),
      spill: {} as never,
      diskBytes: 0,
      log: silentLog,
      answerWithinMs: 50,
    });
    const log = shipper.open({ runId: "run_1", stepRunId: "step_1", token: 1n });
    shipper.add(log, "LOG_STREAM_STDOUT", "a line", Date.now());
    shipper.finish(log);
    await shipper.whenStored();
    shipper.close();
    expect(sent).to.deep.equal(["1: a line", "2: a line"]);
  });

  it("goes on with other logs when an abandoned log has filled the window", async () => {
    const sent: string[] = [];
    const write = ({ stepRunId }: PushLogsRequest): void => void sent.push(stepRunId);
    const shipper = new LogShipper({
      client: { pushLogs: () => Object.assign(new EventEmitter(), { write, cancel() {} }) } as never,
      metadata: () => new Metadata(),
      spill: {} as never,
      diskBytes: 0,
      log: silentLog,
    });
    const [large, small] = ["large", "small"].map((stepRunId) =>
      shipper.open({ runId: "run_1", stepRunId, token: 1n }),
    );
    shipper.add(large!, "LOG_STREAM_STDOUT", "x".repeat(2 << 20), Date.now());
    shipper.add(small!, "LOG_STREAM_STDOUT", "a line", Date.now());
    shipper.finish(small!);
    expect(sent, "the window is full").to.deep.equal(["large"]);
    shipper.abandon(large!.owner);
    expect(sent).to.deep.equal(["large", "small"]);
    shipper.close();
  });
});
