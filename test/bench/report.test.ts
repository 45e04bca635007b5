/** Tests of the benchmark's results and report. */
import { expect } from "chai";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CALLS, type Report, tableOf, withTable, writeReport } from "../../bench/report.ts";
import { Samples } from "../../bench/results.ts";

const MACHINE = { cpu: "a CPU", cores: 2, memoryGb: 8, os: "Linux 6", node: "v20.20.2", loadAverage: 0.1 };
const MILLRACE = { system: "millrace", store: "SQLite" };
const FLOOR = { system: "BullMQ", store: "Redis" };

function figures(value: number) {
  return [
    { metric: "p50", unit: "ms", value },
    { metric: "p99", unit: "ms", value: value * 2 },
  ];
}

function sampleReport(): Report {
  const samples = new Samples();
  for (const value of [5, 3.000_04, 4]) samples.add("W2", MILLRACE, figures(value));
  samples.add("W2", FLOOR, figures(1));
  samples.add("W1", MILLRACE, [
    { metric: "Redis publish", unit: CALLS, value: 2 },
    { metric: "Redis evalsha", unit: CALLS, value: 6 },
  ]);
  return { commit: "abc1234", machine: MACHINE, rounds: 3, results: samples.results() };
}

describe("the report of the benchmark", () => {
  it("has the median, minimum and maximum for each workload, system and store", () => {
    const { results } = sampleReport();
    expect(results.map(({ workload, system, metric }) => [workload, system, metric])).to.deep.equal([
      ["W1", "millrace", "Redis publish"],
      ["W1", "millrace", "Redis evalsha"],
      ["W2", "millrace", "p50"],
      ["W2", "millrace", "p99"],
      ["W2", "BullMQ", "p50"],
      ["W2", "BullMQ", "p99"],
    ]);
    expect(results[2]).to.deep.equal({
      workload: "W2",
      ...MILLRACE,
      metric: "p50",
      unit: "ms",
      median: 4,
      min: 3,
      max: 5,
    });
  });

  it("is written in one step, with exactly the promised fields", async () => {
    const folder = await mkdtemp(join(tmpdir(), "millrace-report-"));
    try {
      const file = join(folder, "results.json");
      await writeReport(file, sampleReport());
      const written = JSON.parse(await readFile(file, "utf8")) as Report;
      expect(written).to.deep.equal(sampleReport());
      expect(written).to.have.all.keys("commit", "machine", "rounds", "results");
      const fields = ["workload", "system", "store", "metric", "unit", "median", "min", "max"];
      for (const result of written.results) expect(result).to.have.all.keys(fields);
      expect(await readdir(folder)).to.deep.equal(["results.json"]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it("has a column of figures for each system, and counts by kind, most frequent first", () => {
    expect(tableOf(sampleReport()).split("\n")).to.deep.equal([
      "Commit abc1234, 3 rounds: median (least to most).",
      "Machine: 2 cores of a CPU, 8 GB, Linux 6, Node v20.20.2; load average before: 0.1.",
      "",
      "|     | figure | unit | millrace (SQLite) | BullMQ (Redis) |",
      "| --- | ------ | ---- | ----------------- | -------------- |",
      "| W2  | p50    | ms   | 4 (3 to 5)        | 1              |",
      "| W2  | p99    | ms   | 8 (6 to 10)       | 2              |",
      "",
      "| calls of a one-step run | by kind                          |",
      "| ----------------------- | -------------------------------- |",
      "| millrace (SQLite)       | Redis evalsha 6, Redis publish 2 |",
    ]);
  });

  it("replaces only the text between the markers of a page", () => {
    const page = "# Page\n\n<!-- table: latest -->\n\nold\n\n<!-- end -->\n\ntail\n";
    const replaced = withTable(page, "new");
    expect(replaced).to.equal("# Page\n\n<!-- table: latest -->\n\nnew\n\n<!-- end -->\n\ntail\n");
    expect(withTable(replaced, "new")).to.equal(replaced);
    expect(() => withTable("# Page\n", "new")).to.throw("<!-- table: latest -->");
  });
});
