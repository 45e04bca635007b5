/** The history of a run's costs: how the benchmark writes it, and that no count has risen without a reason. */
import { expect } from "chai";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addEntry, entryOf, readHistory, refusalToRecord, risenCounts } from "../../bench/history.ts";
import { CALLS, type Report } from "../../bench/report.ts";
import { RUN_COSTS } from "../node/run-costs.ts";

const MACHINE = { cpu: "a CPU", cores: 2, memoryGb: 8, os: "Linux 6", node: "v20.20.2", loadAverage: 0.1 };
const OURS = { system: "millrace", store: "SQLite" };
const FLOOR = { system: "BullMQ", store: "Redis" };
const REPORT: Report = {
  commit: "abc1234",
  machine: MACHINE,
  rounds: 1,
  results: [
    { ...OURS, workload: "W1", metric: "throughput", unit: "runs/s", median: 200, min: 190, max: 210 },
    { ...FLOOR, workload: "W1", metric: "throughput", unit: "runs/s", median: 600, min: 590, max: 610 },
    { ...OURS, workload: "W1", metric: "SQLite run", unit: CALLS, median: 11, min: 11, max: 11 },
    { ...OURS, store: "MongoDB", workload: "W1", metric: "MongoDB find", unit: CALLS, median: 9, min: 9, max: 9 },
    { ...OURS, workload: "W7", metric: "memory of control plane", unit: "MB", median: 90, min: 90, max: 90 },
  ],
};
const DATE = new Date("2026-01-31T23:59:59Z");

describe("the history of a run's costs", () => {
  it("has no count that rises from one line to the next without a reason", () => {
    const history = readHistory();
    expect(history).to.not.be.empty;
    for (const [at, { commit, counts, reason }] of history.entries()) {
      if (reason === undefined) expect(risenCounts(history[at - 1]?.counts ?? {}, counts), commit).to.deep.equal([]);
    }
  });

  it("has no count in its last line that is below what a run costs now", () => {
    expect(risenCounts(readHistory().at(-1)!.counts, RUN_COSTS)).to.deep.equal([]);
  });

  it("takes the counts, the calls on SQLite, and the ratios to other systems of a report", () => {
    expect(entryOf(REPORT, { counts: { turns: 3 }, date: DATE, reason: null })).to.deep.equal({
      commit: "abc1234",
      date: "2026-01-31",
      node: "v20.20.2",
      load: 0.1,
      counts: { turns: 3 },
      calls: { "SQLite run": 11 },
      ratios: { "W1 throughput to BullMQ": 0.333 },
    });
  });

  it("keeps a line for each entry, with the reason", async () => {
    const folder = await mkdtemp(join(tmpdir(), "millrace-history-"));
    try {
      const file = join(folder, "commits.jsonl");
      await writeFile(file, "");
      const first = entryOf(REPORT, { counts: { turns: 3 }, date: DATE, reason: null });
      const second = entryOf(REPORT, { counts: { turns: 4 }, date: DATE, reason: "a second witness" });
      addEntry(first, file);
      addEntry(second, file);
      expect(readHistory(file)).to.deep.equal([first, second]);
      expect(second.reason).to.equal("a second witness");
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it("names the counts that rise, and neither those that fall nor new ones", () => {
    expect(risenCounts({ turns: 3, commits: 4, saves: 1 }, { turns: 4, commits: 3, saves: 1, reads: 9 })).to.deep.equal(
      ["turns 3 → 4"],
    );
  });

  it("refuses a checkout with changes, and a count that rises without a reason", () => {
    const history = [entryOf(REPORT, { counts: { turns: 3 }, date: DATE, reason: null })];
    const refusal = (commit: string, turns: number, reason: string | null) =>
      refusalToRecord({ commit, counts: { turns }, reason }, history);
    expect(refusal("abc1234+", 3, null)).to.include("without changes");
    expect(refusal("unknown", 3, null)).to.include("without changes");
    expect(refusal("abc1234", 4, null))
      .to.include("turns 3 → 4")
      .and.to.include("--reason");
    expect(refusal("abc1234", 4, "a second witness")).to.equal(null);
    expect(refusal("abc1234", 3, null)).to.equal(null);
    expect(refusalToRecord({ commit: "abc1234", counts: { turns: 3 }, reason: null }, [])).to.equal(null);
  });
});
