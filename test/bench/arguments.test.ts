/** Tests of the benchmark's command line. */
import { expect } from "chai";
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { readArguments, WORKLOADS } from "../../bench/arguments.ts";
import { commandOf } from "../support/test-programs.ts";

const MAIN = fileURLToPath(new URL("../../bench/main.ts", import.meta.url));

describe("the command line of the benchmark", () => {
  it("without options measures every workload in five rounds, without peers", () => {
    expect(readArguments([])).to.deep.equal({
      only: new Set(WORKLOADS),
      rounds: 5,
      peers: false,
      agents: 2_000,
      workers: 32,
      node: process.execPath,
      json: null,
      markdown: null,
      record: false,
      reason: null,
    });
  });

  it("takes workloads, rounds, peers, files and what to record", () => {
    const words = ["--only", "W3,W1", "--rounds", "12", "--peers", "--json", "a.json", "--markdown", "b.md"];
    words.push("--record", "--reason", "a second witness");
    expect(readArguments(words)).to.deep.equal({
      only: new Set(["W1", "W3"]),
      rounds: 12,
      peers: true,
      agents: 2_000,
      workers: 32,
      node: process.execPath,
      json: "a.json",
      markdown: "b.md",
      record: true,
      reason: "a second witness",
    });
  });

  it("gives no settings for --help", () => {
    expect(readArguments(["--help"])).to.equal(null);
  });

  for (const [words, complaint] of [
    [["--only", "W0"], "there is no workload W0"],
    [["--only", "W1,"], "there is no workload without a name"],
    [["--rounds", "0"], "--rounds must be a whole number"],
    [["--rounds", "1.5"], "--rounds must be a whole number"],
    [["--round", "1"], "--round"],
    [["W1"], "W1"],
  ] as const) {
    it(`refuses ${words.join(" ")}`, () => {
      expect(() => readArguments(words)).to.throw(complaint);
    });
  }

  for (const [words, complaint] of [
    [["--only", "W0"], "there is no workload W0"],
    [["--markdown", MAIN], "<!-- table: latest -->"],
  ] as const) {
    it(`ends with status 2 and the usage for a wrong value of ${words[0]}`, () => {
      const { status, stderr } = spawnSync(process.execPath, [...commandOf(MAIN), ...words], { encoding: "utf8" });
      expect(status).to.equal(2);
      expect(stderr).to.include(complaint).and.to.include("npm run bench -- [options]");
    });
  }
});
