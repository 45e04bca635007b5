import { expect } from "chai";
import { StepLog } from "../../src/agent/step-log.ts";

const OWNER = { runId: "run_1", stepRunId: "step_1", token: 1n };
const ALL = Number.POSITIVE_INFINITY;

function logOf(lines: number): StepLog {
  const log = new StepLog(OWNER);
  for (let line = 1; line <= lines; line++) log.add("LOG_STREAM_STDOUT", `line ${line}`, 0);
  return log;
}

const spans = (log: StepLog, count = ALL) =>
  log.take(count, ALL).map(({ line, lost }) => (lost === 0n ? `${line}` : `${line}+${lost}`));

describe("the log of a step run before it is stored", () => {
  it("gives each line once while nothing is missed", () => {
    const log = logOf(5);
    expect(spans(log, 2)).to.deep.equal(["1", "2"]);
    expect(spans(log)).to.deep.equal(["3", "4", "5"]);
    expect(spans(log)).to.deep.equal([]);
    expect([log.acknowledge(2n), log.acknowledge(5n)]).to.deep.equal(["stored", "stored"]);
    expect([log.isStored, log.bytes, log.inFlightBytes, log.unsentBytes]).to.deep.equal([true, 0, 0, 0]);
  });

  it("gives lines again that were missed, once, although later batches were missed with them", () => {
    const log = logOf(6);
    spans(log, 2);
    spans(log, 2);
    spans(log, 2);
    expect([log.acknowledge(2n), log.acknowledge(2n), log.acknowledge(2n)]).to.deep.equal([
      "stored",
      "missed",
      "stored",
    ]);
    expect(spans(log)).to.deep.equal(["3", "4", "5", "6"]);
    expect(spans(log)).to.deep.equal([]);
  });

  it("gives all that is not stored again after a disconnection", () => {
    const log = logOf(4);
    spans(log, 3);
    log.acknowledge(1n);
    log.disconnect();
    expect(spans(log)).to.deep.equal(["2", "3", "4"]);
  });

  it("drops the oldest lines that were never sent, and says which", () => {
    const log = logOf(10);
    spans(log, 2);
    log.dropOldest(3 * 134);
    expect(spans(log)).to.deep.equal(["3+3", "6", "7", "8", "9", "10"]);
    expect(log.lastLine).to.equal(10n);
  });

  it("makes one gap of lines that are dropped one after the other", () => {
    const log = logOf(10);
    for (let round = 0; round < 3; round++) log.dropOldest(2 * 134);
    expect(spans(log)).to.deep.equal(["1+6", "7", "8", "9", "10"]);
  });

  it("keeps a gap record until all of it is stored", () => {
    const log = logOf(6);
    log.dropOldest(4 * 134);
    spans(log);
    log.acknowledge(3n);
    expect(spans(log)).to.deep.equal(["1+4", "5", "6"]);
    log.acknowledge(6n);
    expect(log.isStored).to.equal(true);
  });

  it("drops nothing that was sent before a disconnection: it may be stored", () => {
    const log = logOf(6);
    spans(log, 3);
    log.disconnect();
    log.dropOldest(ALL);
    expect(spans(log)).to.deep.equal(["1", "2", "3", "4+3"]);
  });

  it("makes a gap of lines that a plane no longer has which came back from a backup", () => {
    const log = logOf(6);
    spans(log, 4);
    expect(log.acknowledge(4n)).to.equal("stored");
    spans(log);
    expect(log.acknowledge(1n)).to.equal("missed");
    expect(spans(log)).to.deep.equal(["2+3", "5", "6"]);
    expect(log.acknowledge(6n)).to.equal("stored");
    expect([log.isStored, log.bytes, log.inFlightBytes, log.unsentBytes]).to.deep.equal([true, 0, 0, 0]);
  });

  it("makes a gap of a batch that the plane cannot take, and gives up when it cannot take that", () => {
    const log = logOf(4);
    spans(log, 2);
    expect(log.discard()).to.equal(true);
    expect(spans(log, 1)).to.deep.equal(["1+2"]);
    expect(log.discard()).to.equal(false);
  });

  it("knows at all times what it holds", () => {
    const log = logOf(100);
    const one = log.bytes / 100;
    spans(log, 40);
    log.acknowledge(20n);
    expect(log.unsentBytes).to.equal(log.bytes);
    spans(log, 10);
    log.dropOldest(one * 30);
    log.acknowledge(30n);
    expect(log.inFlightBytes).to.equal(0);
    spans(log);
    expect(log.unsentBytes).to.equal(0);
    expect(log.inFlightBytes).to.equal(log.bytes);
    log.acknowledge(100n);
    expect(log.bytes).to.equal(0);
  });
});
