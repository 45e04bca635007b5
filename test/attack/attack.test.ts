import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { TSX } from "../support/test-programs.ts";
import { ATTACKS } from "./attacks.ts";
import type { Outcome } from "./play.ts";
import { lineOf, missesOf } from "./report.ts";

const MAIN = join(import.meta.dirname, "main.ts");

const GOOD: Outcome = {
  attacks: ["odd-paths"],
  health: { calls: 100, failures: 0, p50: 1, p99: 5, worst: 9 },
  triggers: { calls: 20, failures: 0, p50: 4, p99: 20, worst: 40 },
  memory: { before: 150e6, peak: 250e6, after: 160e6 },
  lostLeases: 0,
  survived: true,
  answers: { "404 not_found": 7 },
};

describe("the attacks", () => {
  it("have the names of their files", async () => {
    const files = (await readdir(join(import.meta.dirname, "attacks"))).map((file) => file.replace(/\.ts$/, ""));
    expect(ATTACKS.map(({ name }) => name)).to.have.members(files);
  });

  it("are told with what others noticed and what the attackers were answered", () => {
    expect(lineOf(GOOD).split(/ {2,}/)).to.deep.equal([
      "odd-paths",
      "1/5/9",
      "4/20/40",
      "0",
      "150/250/160",
      "0",
      "404 not_found: 7\n",
    ]);
    expect(lineOf({ ...GOOD, survived: false })).to.include("THE CONTROL PLANE HAS ENDED");
  });

  it("miss each bound with a sentence of its own", () => {
    expect(missesOf(GOOD)).to.deep.equal([]);
    const bad: Outcome = {
      ...GOOD,
      health: { ...GOOD.health, p99: 100, failures: 2 },
      triggers: { ...GOOD.triggers, p99: Number.NaN, failures: 1 },
      memory: { ...GOOD.memory, peak: 400e6 },
      lostLeases: 3,
    };
    expect(missesOf(bad)).to.deep.equal([
      "p99 of health: 100 ms, the bound is 100 ms",
      "p99 of the triggers of others: NaN ms, the bound is 500 ms",
      "memory of the control plane: 400 MB, the bound is 400 MB",
      "leases of shards lost: 3",
      "probes of health that failed: 2",
      "triggers of others that failed: 1",
    ]);
  });

  it("are played by the command against an installation of its own", async () => {
    const options = ["--only", "unknown-keys", "--seconds", "1", "--rest", "0"];
    const { stdout } = await promisify(execFile)(process.execPath, ["--import", TSX, MAIN, ...options]);
    expect(stdout).to.match(/^\(none\) +/m);
    expect(stdout).to.match(/^unknown-keys +.*4\d\d \w+: \d+/m);
    expect(stdout).to.include("the control plane survived");
  }).timeout(120_000);

  it("refuse a command line that is wrong", async () => {
    const refused = (...args: readonly string[]) =>
      promisify(execFile)(process.execPath, ["--import", TSX, MAIN, ...args]).then(
        () => expect.fail("it was taken"),
        (error: { readonly code: number; readonly stderr: string }) => error,
      );
    const unknown = await refused("--only", "sweet-talk");
    expect(unknown.code).to.equal(2);
    expect(unknown.stderr).to.include('--only: there is no attack "sweet-talk"');
  });
});
