import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import { openLogSpill } from "../../../src/agent/logs/log-spill.ts";
import { StepLog } from "../../../src/agent/logs/step-log.ts";

const OWNER = { runId: "run_1", stepRunId: "step_1", token: 1n };
const ALL = Number.POSITIVE_INFINITY;

let folder: string;
before(() => (folder = mkdtempSync(join(tmpdir(), "millrace-spill-"))));
after(() => rmSync(folder, { recursive: true }));

function logOf(lines: number): StepLog {
  const log = new StepLog(OWNER, openLogSpill(folder));
  for (let line = 1; line <= lines; line++) log.add("LOG_STREAM_STDOUT", `line ${line}`, 0);
  return log;
}

const spans = (log: StepLog, count = ALL) =>
  log.take(count, ALL).map(({ line, lost }) => (lost === 0n ? `${line}` : `${line}+${lost}`));

describe("the log of a step run before it is stored", () => {
  it("sends each line once while no batch is missed", () => {
    const log = logOf(5);
    expect(spans(log, 2)).to.deep.equal(["1", "2"]);
    expect(spans(log)).to.deep.equal(["3", "4", "5"]);
    expect(spans(log)).to.deep.equal([]);
    expect([log.acknowledge(2n), log.acknowledge(5n)]).to.deep.equal(["stored", "stored"]);
    expect([log.isStored, log.bytes, log.inFlightBytes, log.unsentBytes]).to.deep.equal([true, 0, 0, 0]);
  });

  it("sends missed lines again once, although later batches were missed with them", () => {
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

  it("sends all lines that are not stored again after a disconnection", () => {
    const log = logOf(4);
    spans(log, 3);
    log.acknowledge(1n);
    log.disconnect();
    expect(spans(log)).to.deep.equal(["2", "3", "4"]);
  });

  it("replaces the oldest lines that were never sent by a gap record", () => {
    const log = logOf(10);
    spans(log, 2);
    log.dropOldest(3 * 134);
    expect(spans(log)).to.deep.equal(["3+3", "6", "7", "8", "9", "10"]);
    expect(log.lastLine).to.equal(10n);
  });

  it("makes one gap record of lines that are dropped one after the other", () => {
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

  it("drops no line that was sent before a disconnection, since it may be stored", () => {
    const log = logOf(6);
    spans(log, 3);
    log.disconnect();
    log.dropOldest(ALL);
    expect(spans(log)).to.deep.equal(["1", "2", "3", "4+3"]);
  });

  it("makes a gap record of lines that a gateway restored from a backup lacks", () => {
    const log = logOf(6);
    spans(log, 4);
    expect(log.acknowledge(4n)).to.equal("stored");
    spans(log);
    expect(log.acknowledge(1n)).to.equal("missed");
    expect(spans(log)).to.deep.equal(["2+3", "5", "6"]);
    expect(log.acknowledge(6n)).to.equal("stored");
    expect([log.isStored, log.bytes, log.inFlightBytes, log.unsentBytes]).to.deep.equal([true, 0, 0, 0]);
  });

  it("makes a gap record of a batch that the gateway cannot take, and then gives up", () => {
    const log = logOf(4);
    spans(log, 2);
    expect(log.discard()).to.equal(true);
    expect(spans(log, 1)).to.deep.equal(["1+2"]);
    expect(log.discard()).to.equal(false);
  });

  it("always knows how many bytes it holds", () => {
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

describe("the log of a step run on the disk", () => {
  /** Sends each segment in a batch of its own. */
  const allSpans = (log: StepLog) => {
    const found: string[] = [];
    while (log.hasUnsent) found.push(...spans(log));
    return found;
  };
  const add = (log: StepLog, lines: number) => {
    for (let each = 0; each < lines; each++) log.add("LOG_STREAM_STDOUT", `line ${log.lastLine + 1n}`, 0);
  };
  const filesOf = () => readdirSync(folder);

  it("is read in its order, and leaves no file on the disk", () => {
    const log = logOf(4);
    spans(log, 2);
    log.moveToDisk();
    expect([log.bytes, log.unsentBytes]).to.deep.equal([2 * 134, 0]);
    add(log, 2);
    log.moveToDisk();
    add(log, 2);
    expect([filesOf().length, log.spilledBytes > 0, log.hasUnsent]).to.deep.equal([2, true, true]);
    expect([spans(log, 2), spans(log, 4), spans(log)]).to.deep.equal([["3", "4"], ["5", "6", "7", "8"], []]);
    expect([filesOf(), log.spilledBytes]).to.deep.equal([[], 0]);
    log.acknowledge(8n);
    expect([log.isStored, log.bytes, log.unsentBytes]).to.deep.equal([true, 0, 0]);
  });

  it("is not stored before all of it is sent", () => {
    const log = logOf(2);
    log.moveToDisk();
    log.acknowledge(0n);
    expect([log.isStored, log.hasUnsent, log.bytes]).to.deep.equal([false, true, 0]);
    log.dispose();
    expect(filesOf()).to.deep.equal([]);
  });

  it("stays in memory as far as it was sent before a disconnection, since it may be stored", () => {
    const log = logOf(6);
    spans(log, 3);
    log.disconnect();
    log.moveToDisk();
    log.dropOldestSegment();
    expect(spans(log)).to.deep.equal(["1", "2", "3", "4+3"]);
  });

  it("has one gap record for segments that are dropped one after the other", () => {
    const log = logOf(2);
    log.moveToDisk();
    for (let round = 0; round < 2; round++) {
      add(log, 2);
      log.moveToDisk();
    }
    log.dropOldestSegment();
    log.dropOldestSegment();
    add(log, 1);
    expect(allSpans(log)).to.deep.equal(["1+4", "5", "6", "7"]);
    expect(filesOf()).to.deep.equal([]);
  });

  it("has a gap record for a segment that cannot be read", () => {
    const log = logOf(3);
    log.moveToDisk();
    add(log, 1);
    for (const file of filesOf()) writeFileSync(join(folder, file), "\xff\xff not what was written");
    expect(allSpans(log)).to.deep.equal(["1+3", "4"]);
    expect(filesOf()).to.deep.equal([]);
  });

  it("sends each line once or in a gap record, in any order of events", () => {
    const acts = fc.oneof(
      fc.record({ act: fc.constant("add" as const), count: fc.nat(5) }),
      fc.record({ act: fc.constant("send" as const), count: fc.integer({ min: 1, max: 5 }) }),
      fc.record({
        act: fc.constantFrom("store", "miss", "disconnect", "move", "dropSegment", "dropLines"),
        count: fc.constant(0),
      }),
    );
    fc.assert(
      fc.property(fc.array(acts, { maxLength: 60 }), (history) => {
        const log = logOf(0);
        let stored = 0n;
        const onTheWay: bigint[] = [];
        const store = (lines: readonly { line: bigint; lost: bigint }[]) => {
          for (const { line, lost } of lines) {
            expect(line <= stored + 1n, "no hole").to.equal(true);
            const last = lost > 0n ? line + lost - 1n : line;
            if (last > stored) stored = last;
          }
        };
        const send = (count: number) => {
          const lines = log.take(count, ALL);
          if (lines.length === 0) return;
          store(lines);
          onTheWay.push(stored);
        };
        for (const { act, count } of history) {
          if (act === "add") add(log, count);
          else if (act === "send") send(count);
          else if (act === "store" && onTheWay.length > 0) log.acknowledge(onTheWay.shift()!);
          else if (act === "miss" && onTheWay.length > 0) onTheWay.shift();
          else if (act === "disconnect") onTheWay.splice(0, onTheWay.length, ...(log.disconnect(), []));
          else if (act === "move") log.moveToDisk();
          else if (act === "dropSegment") log.dropOldestSegment();
          else if (act === "dropLines") log.dropOldest(200);
        }
        log.disconnect();
        while (log.hasUnsent) store(log.take(3, ALL));
        expect(stored).to.equal(log.lastLine);
        log.acknowledge(stored);
        log.acknowledge(stored);
        expect([log.isStored, log.bytes, log.unsentBytes, log.spilledBytes]).to.deep.equal([true, 0, 0, 0]);
        expect(filesOf()).to.deep.equal([]);
      }),
      { numRuns: 300 },
    );
  });
});
