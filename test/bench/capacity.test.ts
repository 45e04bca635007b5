/** The model of capacity: its fit, what it says of a load, and how near it is to measured runs that it was not fitted to. */
import { expect } from "chai";
import { CommandLineError, HELP, readCommandLine } from "../../bench/capacity/command-line.ts";
import { costOf, fitParts } from "../../bench/capacity/fit.ts";
import {
  errorsOf,
  inUnits,
  type MeasuredRow,
  modelOf,
  predicted,
  STORES,
  type StoreRecord,
  withAllNodes,
} from "../../bench/capacity/model.ts";
import { Messages } from "../../bench/capacity/mongo-commands.ts";
import { renewed } from "../../bench/capacity/page.ts";
import { amountsOfLoad, capacityFor, type Load } from "../../bench/capacity/plan.ts";
import { readRecord } from "../../bench/capacity/record.ts";
import { checkedOn, recordOf, reportOf } from "../../bench/capacity/report.ts";
import { readPage } from "../support/pages.ts";
import { amountsOf, jobsOf, PHRASE_BYTES, SHAPES, stepFiles, type Work, WORK } from "../../bench/capacity/shapes.ts";

/** How far the model may be from a measured run that it was not fitted to, as shares. docs/capacity.md states them too. */
const BOUNDS: Readonly<Record<string, number>> = {
  storeBytes: 0.1,
  storeCalls: 0.1,
  allNodesMs: 0.3,
  redisMs: 0.35,
};

const TRUE_PARTS: Readonly<Record<Work, number>> = {
  run: 6,
  job: 3,
  step: 2,
  alone: 1,
  lasting: 1,
  log: 1,
  piece: 0.5,
  line: 0.01,
  small: 0.1,
  kilobyte: 0.02,
  artifact: 4,
};
/** What Redis may take for a step on one node with SQLite: the measurement tells no less. */
const MOST_LONE_REDIS_MS = 0.1;
const UNIT_MS = 50;
const SESSION = { commit: "abc1234", date: "2026-01-31", loadAverage: 0.1 };

/** How a user would describe such runs. */
function loadOf({ jobs, steps, lines, phrases, pieces, artifacts }: MeasuredRow): Partial<Load> {
  const ofLine = { lines, lineBytes: phrases * PHRASE_BYTES, pieces };
  return { ...ofLine, jobs, steps: jobs * steps, artifacts: jobs * artifacts };
}

/** Rows whose costs are sums of the true parts; times were measured on a machine with this unit. */
function rowsOf(parts: Readonly<Record<Work, number>>, unitMs = UNIT_MS): readonly MeasuredRow[] {
  return SHAPES.map((shape) => {
    const each = costOf(parts, amountsOf(shape));
    const time = (each * unitMs) / UNIT_MS;
    const cost = {
      edgeMs: time,
      gatewayMs: time,
      workerMs: 2 * time,
      redisMs: time / 4,
      storeCalls: 3 * each,
      storeBytes: 1_000 * each,
    };
    return { ...shape, session: SESSION, runs: 10, unitMs, cost };
  });
}

const RATES = {
  idleSecond: { edgeMs: 1, gatewayMs: 1, workerMs: 5, redisMs: 2, storeCalls: 4 },
  agentSecond: { edgeMs: 0, gatewayMs: 0.1, workerMs: 0, redisMs: 0.01, storeCalls: 0, redisBytes: 500 },
  viewedLine: { edgeMs: 0.01, gatewayMs: 0, workerMs: 0, redisMs: 0, storeCalls: 0 },
  removedRun: { edgeMs: 0, gatewayMs: 0, workerMs: 1, redisMs: 0, storeCalls: 2 },
};
const RECORD: StoreRecord = {
  store: "mongodb",
  machine: { cpu: "a CPU", cores: 2, memoryGb: 8, os: "Linux 6", node: "v20.20.2" },
  rows: rowsOf(TRUE_PARTS),
  rates: { session: SESSION, unitMs: UNIT_MS, ...RATES },
};
const LOAD: Load = {
  runsPerDay: 864_000,
  jobs: 1,
  steps: 2,
  lines: 0,
  lineBytes: 80,
  pieces: 1,
  artifacts: 0,
  agents: 3_001,
  viewers: 100,
  viewedLines: 10,
  peak: 2,
  waiting: 1_000,
  keepRunsDays: 10,
  keepLogsDays: 20,
  mongoCommands: 10_000,
  unitMs: UNIT_MS,
};

describe("the model of capacity", () => {
  it("finds the parts that measured runs consist of", () => {
    const observations = SHAPES.map((shape) => ({
      amounts: amountsOf(shape),
      cost: costOf(TRUE_PARTS, amountsOf(shape)),
    }));
    const parts = fitParts(observations);
    for (const work of WORK) expect(parts[work], work).to.be.closeTo(TRUE_PARTS[work], 0.02 * TRUE_PARTS[work]);
  });

  it("takes no part as negative, whatever noise a measurement had", () => {
    const noisy = SHAPES.map((shape) => ({
      amounts: amountsOf(shape),
      cost: shape.steps === 12 ? 1 : costOf(TRUE_PARTS, amountsOf(shape)),
    }));
    expect(Math.min(...Object.values(fitParts(noisy)))).to.be.at.least(0);
  });

  it("is fitted to no run that it is checked against", () => {
    const checks = RECORD.rows.filter(({ use }) => use === "check");
    expect(checks).to.have.length(2);
    const wrong = RECORD.rows.map((row) =>
      row.use === "check" ? { ...row, cost: { ...row.cost, edgeMs: 1e6 } } : row,
    );
    expect(modelOf(wrong)).to.deep.equal(modelOf(RECORD.rows));
  });

  it("does not depend on how fast the machine was", () => {
    const slow = modelOf(rowsOf(TRUE_PARTS, 3 * UNIT_MS));
    expect(slow["edgeMs"]!.step).to.be.closeTo(modelOf(RECORD.rows)["edgeMs"]!.step, 1e-6);
  });

  it("counts the pieces that the peak needs, and names the limits in their order", () => {
    const capacity = capacityFor(LOAD, modelOf(RECORD.rows), RECORD);
    // 20 runs/s of 6 + 2 + 3 x 1 + 2 x 1 = 13 ms, 1,000 lines/s to viewers, 300 ms/s for the agents, 10 removals/s.
    expect(capacity.runsPerSecond).to.equal(20);
    const parts = Object.fromEntries(
      capacity.parts.map(({ name, processors, needed }) => [name, [rounded(processors), needed]]),
    );
    expect(parts).to.deep.equal({ edges: [0.27, 1], gateways: [0.56, 3], workers: [0.53, 1] });
    expect(rounded(capacity.commandsPerSecond)).to.equal(800);
    expect(rounded(capacity.redisProcessors)).to.equal(0.095);
    expect(capacity.redisBytes).to.equal(50e6 + 1_000 * 1_400 + 3_001 * 500);
    expect(rounded(capacity.runBytes / 1e9)).to.equal(rounded((864_000 * 10 * 13_000) / 1e9));
    expect(capacity.logBytes).to.equal(0);
    expect(capacity.shards).to.equal(64);
    // (600 - 30) / 3.25 runs/s of Redis; (10,000 - 20) / 39 of MongoDB; 128 workers.
    expect(capacity.limits.map(({ name }) => name)).to.deep.equal([
      "one Redis server",
      "one replica set of MongoDB",
      "128 workers, for 1024 shards",
    ]);
    expect([capacity.redisServers, capacity.replicaSets]).to.deep.equal([1, 1]);
    expect(capacity.limits[0]!.runsPerDay).to.be.closeTo(((600 - 30.01) / 3.25 / 2) * 86_400, 100);
    expect(capacityFor({ ...LOAD, runsPerDay: 86_400_000 }, modelOf(RECORD.rows), RECORD).shards).to.equal(1_024);
  });

  it("tells from how many agents on a part is used up without a run", () => {
    const model = modelOf(RECORD.rows);
    const limitsWith = (load: Partial<Load>, record = RECORD) =>
      capacityFor({ ...LOAD, ...load }, model, record).limits;
    const [redis, ...others] = limitsWith({ agents: 70_000 });
    expect(redis).to.include({ name: "one Redis server", runsPerDay: 0 });
    expect(redis!.agents).to.be.closeTo(60_000, 1);
    // Those of this record take nothing of it.
    expect(others.map(({ agents }) => agents)).to.deep.equal([null, null]);
    expect(limitsWith({ agents: Math.floor(redis!.agents! - 10) })[0]!.runsPerDay).to.be.above(0);
    // The reads of the agents of a gateway are shared: 100 a second, and one of each agent in 30 s.
    const asking = { ...RECORD, rates: { ...RECORD.rates, agentSecond: { ...RATES.agentSecond, storeCalls: 1 } } };
    const mongo = limitsWith({ viewers: 0 }, asking).find(({ name }) => name === "one replica set of MongoDB");
    expect(mongo!.agents).to.be.within(98_000, 102_000);
    expect(limitsWith({ viewers: 1e6 }).find(({ name }) => name === mongo!.name)!.agents).to.equal(null);
  });

  it("needs more of slower machines, and keeps logs no longer than their runs", () => {
    const model = modelOf(RECORD.rows);
    const load = { ...LOAD, lines: 100, pieces: 3 };
    const [usual, slow] = [UNIT_MS, 2 * UNIT_MS].map((unitMs) => capacityFor({ ...load, unitMs }, model, RECORD));
    expect(slow!.parts[0]!.processors).to.be.closeTo(2 * usual!.parts[0]!.processors, 1e-6);
    expect(slow!.commandsPerSecond).to.equal(usual!.commandsPerSecond);
    expect(usual!.logBytes).to.be.closeTo(864_000 * 10 * usual!.logBytesOfRun, 1);
  });

  for (const store of STORES) {
    for (const { name } of SHAPES.filter(({ use }) => use === "check")) {
      it(`is within its bounds of what a run of ${name} cost on ${store}`, () => {
        const rows = recordOf(readRecord(), store).rows.map(withAllNodes);
        const errors = errorsOf(
          modelOf(rows),
          rows.find((row) => row.name === name)!,
        );
        for (const figure of Object.keys(checkedOn(store))) {
          expect(errors[figure], figure).to.be.within(-BOUNDS[figure]!, BOUNDS[figure]!);
        }
      });

      it(`plans no less than a run of ${name} cost on ${store}, as reports of a load come alone`, () => {
        const rows = recordOf(readRecord(), store).rows.map(withAllNodes);
        const row = rows.find((each) => each.name === name)!;
        const planned = predicted(modelOf(rows), amountsOfLoad({ ...LOAD, ...loadOf(row) }));
        for (const figure of ["allNodesMs", "storeCalls", "storeBytes"])
          expect(planned[figure], figure).to.be.above((1 - BOUNDS[figure]!) * inUnits(row)[figure]!);
      });
    }
  }

  it("says of one node with SQLite that a step is next to nothing for Redis, as it was measured", () => {
    const { rows } = recordOf(readRecord(), "sqlite");
    const model = modelOf(rows);
    for (const row of rows.filter(({ use }) => use === "check")) {
      const most = MOST_LONE_REDIS_MS * row.jobs * row.steps;
      expect(row.cost["redisMs"], row.name).to.be.within(-most, most);
      expect(costOf(model["redisMs"]!, amountsOf(row)) * row.unitMs, row.name).to.be.below(most);
    }
  });

  it("counts the lines and bytes that the steps write", () => {
    const files = stepFiles();
    for (const shape of SHAPES) {
      const { args } = (jobsOf(shape, "/f")[0]!.steps[0] as { readonly args: { readonly args?: readonly string[] } })
        .args;
      const name = (args ?? []).find((arg) => arg.endsWith(".txt"))?.slice("/f/".length);
      const text = name === undefined ? "" : files.get(name)!;
      const steps = shape.jobs * shape.steps;
      const { line, kilobyte } = amountsOf(shape);
      expect(text.split("\n").length - 1, shape.name).to.equal(line / steps / shape.pieces);
      expect(text.length, shape.name).to.be.closeTo((kilobyte * 1_000) / steps / shape.pieces, 1e-6);
    }
  });

  it("was measured with the shapes that the program has", () => {
    for (const { rows } of readRecord()) {
      expect(rows.map(({ session: _s, runs: _r, unitMs: _u, cost: _c, ...shape }) => shape)).to.deep.equal(SHAPES);
    }
  });
});

const page = readPage("docs/capacity.md");

describe("the page about capacity", () => {
  /** Without what the formatter may change. */
  const bare = (text: string) => text.replaceAll(/[\s:-]+/g, "");

  it("shows what was measured, and what the command prints", () => {
    expect(bare(renewed(page, readRecord()))).to.equal(bare(page));
  });

  it("is renewed in its output and in each of its tables", () => {
    const other = readRecord().map((record) => ({
      ...record,
      rows: record.rows.map((row) => ({ ...row, unitMs: 2 * row.unitMs, cost: { ...row.cost, storeBytes: 77_777 } })),
    }));
    const changed = renewed(page, other);
    const places = [/```text\n(Asked for[^]*?)```/, ...["mongodb", "sqlite", "checks"].map(tablePlace)];
    for (const place of places) expect(place.exec(changed)![1]).not.to.equal(place.exec(page)![1]);
    expect(bare(renewed(changed, readRecord()))).to.equal(bare(page));
    expect(() => renewed(page.replace("<!-- table: sqlite -->", ""), readRecord())).to.throw("no place");
  });

  it("states the bounds that the model is held to", () => {
    for (const bound of Object.values(BOUNDS)) expect(page).to.include(`${bound * 100} %`);
  });
});

describe("npm run capacity", () => {
  const reportFor = (...args: readonly string[]): string => reportOf(readRecord(), readCommandLine(args)!.load);
  const ISSUE = ["--runs-per-day", "10M", "--steps", "12", "--agents", "20000"];

  it("prints what the load of the issue needs, and which limit comes first", () => {
    const report = reportFor(...ISSUE);
    expect(report).to.include("10,000,000 runs a day, each of 1 job, 12 steps and 600 log lines");
    for (const part of ["edges ", "gateways ", "workers ", "Redis servers ", "MongoDB replica sets ", "MAILBOX_SHARDS"])
      expect(report).to.include(part);
    expect(
      report.match(/the one that comes first on top:\n.*used up by 20,000 agents without a single run/g),
    ).to.have.length(2);
    expect(report).to.match(/one Redis server +used up by .*; it is used up from [\d,]+ agents on/);
    expect(report).not.to.match(/NaN|undefined|Infinity|\b0 (ms|runs|log|artifacts|people)/);
  });

  it("tells of a small load that each part is enough, and names nothing that is not asked for", () => {
    const report = reportFor("--runs-per-day", "1k", "--agents", "0", "--lines", "0");
    expect(report).to.match(/one Redis server +used up by [\d,]+ runs a day: enough/);
    expect(report).not.to.match(/fewer than asked for|without a (single )?run|log lines?\b|0 B of logs/);
  });

  it("refuses what it cannot read, and says which option is wrong", () => {
    for (const [args, message] of [
      [["--steps", "many"], "--steps must be a number"],
      [["--peak", "0.5"], "--peak must be a number from 1 on"],
      [["--jobs", "4", "--steps", "3"], "--steps counts the steps of all jobs"],
      [["--speed", "1"], "--speed"],
    ] as const) {
      expect(() => readCommandLine(args), args.join(" ")).to.throw(CommandLineError, message);
    }
    expect(readCommandLine(["--help"])).to.equal(null);
    expect(HELP).to.include("--runs-per-day");
  });
});

describe("the counter of MongoDB's commands", () => {
  it("counts each message once, wherever the stream is cut", () => {
    const message = (bytes: number): Buffer => {
      const buffer = Buffer.alloc(bytes);
      buffer.writeInt32LE(bytes);
      return buffer;
    };
    const stream = Buffer.concat([message(16), message(300), message(21)]);
    for (let size = 1; size <= stream.length; size++) {
      const messages = new Messages();
      let count = 0;
      for (let at = 0; at < stream.length; at += size) count += messages.begunIn(stream.subarray(at, at + size));
      expect(count, `pieces of ${size} bytes`).to.equal(3);
    }
  });
});

function tablePlace(name: string): RegExp {
  return new RegExp(`<!-- table: ${name} -->([^]*?)<!-- end -->`);
}

function rounded(value: number): number {
  return Number(value.toPrecision(2));
}
