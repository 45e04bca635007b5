/** Tests of the report and of the command line of the kill tests. */
import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { commandOf } from "../support/test-programs.ts";
import { readReport, reportOf, tableOf, writeReport } from "./report.ts";
import type { Outcome } from "./run-scenario.ts";

const outcome: Omit<Outcome, "evidence"> = {
  name: "kill-worker",
  runs: 40,
  kills: 3,
  counts: { lost: 1, doubled: 2, reordered: 1, stuck: 0, wrong: 0, leaked: 1 },
  violations: ["lost: a", "doubled: b", "doubled: c", "reordered: d", "leaked: e"],
  recoveries: [
    { what: "takeover", tookMs: 3_000.4 },
    { what: "takeover", tookMs: 1_000 },
    { what: "spread", tookMs: 200 },
  ],
  figures: ["100 runs/s"],
  examined: { transitions: 100, steps: 30, lines: 20, secrets: 8 },
};

describe("the report of the kill tests", () => {
  let folder: string;
  before(async () => void (folder = await mkdtemp(join(tmpdir(), "millrace-report-"))));
  after(() => rm(folder, { recursive: true, force: true }));

  it("counts what was lost, doubled, stuck and leaked, and says how long recovery took", () => {
    expect(reportOf(outcome)).to.deep.include({
      name: "kill-worker",
      runs: 40,
      kills: 3,
      lost: 1,
      doubled: 2,
      stuck: 0,
      leaked: 1,
      recoveryMs: { p50: 1_000, max: 3_000 },
      recoveries: { takeover: { p50: 1_000, max: 3_000 }, spread: { p50: 200, max: 200 } },
    });
  });

  it("has one line for each scenario, each kind of recovery and each figure", () => {
    const lines = tableOf({ seed: 7, scenarios: [reportOf(outcome)] }).split("\n");
    expect(lines[0]).to.equal("seed 7");
    expect(lines[2]!.trim().split(/\s+/)).to.deep.equal("kill-worker 40 100 30 20 8 3 1 2 0 1 1 1000 3000".split(" "));
    expect(lines[3]!.trim().split(/\s+/)).to.deep.equal(["takeover", "1000", "3000"]);
    expect(lines.slice(5)).to.deep.equal(["kill-worker: 100 runs/s"]);
  });

  it("is read by a later command with the same seed, and ignored by one with another seed", async () => {
    const file = join(folder, "results.json");
    const scenarios = [reportOf(outcome)];
    await writeReport(file, { seed: 7, scenarios });
    expect(await readReport(file, 7)).to.deep.equal(scenarios);
    expect(await readReport(file, 8)).to.deep.equal([]);
    expect(await readReport(join(folder, "missing.json"), 7)).to.deep.equal([]);
    await writeFile(file, "{}");
    expect(await readReport(file, 7)).to.deep.equal([]);
  });
});

describe("the command of the kill tests", function () {
  this.timeout(60_000);
  const run = (...args: readonly string[]) =>
    spawnSync(process.execPath, [...commandOf(fileURLToPath(new URL("main.ts", import.meta.url))), ...args], {
      encoding: "utf8",
    });

  it("refuses a wrong command line and prints its usage", () => {
    for (const [args, words] of [
      [["--scenario", "earthquake"], "there is no scenario earthquake"],
      [["--scenario", "redis", "--from", "store"], "--from store is not one of the chosen scenarios"],
      [["--runs", "many"], "--runs must be a whole number from 1"],
      [["--sead", "1"], "--sead"],
    ] as const) {
      const { status, stderr } = run(...args);
      expect(stderr).to.include(words).and.to.include("kill-worker");
      expect(status).to.equal(2);
    }
  });
});
