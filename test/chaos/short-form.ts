/** The short form of a kill test, with a fixed seed; `npm run chaos` runs the long form. */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { check } from "./check/checker.ts";
import type { Evidence } from "./check/evidence.ts";
import { CORRUPTIONS } from "./corruptions.ts";
import { attacksNamed } from "./load/attackers.ts";
import { type Outcome, playScenario } from "./run-scenario.ts";
import type { Scenario } from "./scenarios.ts";
import { seeded } from "./world/random.ts";

const SEED = 20_261_121;
const RUNS = 40;

/** `attacks` names the attacks that are played beside the load, separated by commas; empty for none. */
export function shortKillTest(scenario: Scenario, attacks: string): void {
  let record: Evidence | undefined;

  it(`finds no broken promise: ${scenario.about}`, async () => {
    const output: string[] = [];
    const logFolder = join(tmpdir(), `millrace-chaos-${SEED}`);
    let outcome: Outcome;
    try {
      const say = (text: string) => void output.push(text);
      const played = attacks === "" ? [] : attacksNamed(attacks);
      outcome = await playScenario(scenario, { seed: SEED, runs: RUNS, logFolder, say, attacks: played });
    } catch (error) {
      throw new Error(`the scenario did not finish:\n${output.join("\n")}`, { cause: error });
    }
    expect(outcome.violations, output.join("\n")).to.deep.equal([]);
    expect(outcome.runs).to.be.at.least(RUNS);
    expect(outcome.kills).to.be.above(1);
    record = outcome.evidence;
  }).timeout(900_000);

  it("has a judge that accepts what was recorded, and finds every way in which it can be corrupted", () => {
    if (record === undefined) expect.fail("there is no record: the scenario did not finish");
    expect(check(record)).to.deep.equal([]);
    for (const { name, kind, corrupt } of CORRUPTIONS) {
      const found = check(corrupt(record, seeded(SEED).fork(name)));
      expect(
        found.map((violation) => violation.kind),
        `${name}: ${JSON.stringify(found.slice(0, 3))}`,
      ).to.include(kind);
    }
  }).timeout(900_000);
}
