/** The short form of the kill tests, with a fixed seed; `npm run chaos` runs the long form. */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { check } from "./check/checker.ts";
import type { Evidence } from "./check/evidence.ts";
import { CORRUPTIONS } from "./corruptions.ts";
import { attacksNamed } from "./load/attackers.ts";
import { type Outcome, playScenario } from "./run-scenario.ts";
import { SHORT_SCENARIOS } from "./scenarios.ts";
import { seeded } from "./world/random.ts";

const SEED = 20_261_121;
const RUNS = 40;
/** Played beside the load of the embedded installation: without a token, as a viewer, and as an author of definitions. */
const ATTACKS = "unknown-keys,long-queries,delete-and-trigger";

describe("a short kill test", function () {
  this.timeout(240_000);
  const records: Evidence[] = [];

  for (const scenario of SHORT_SCENARIOS) {
    it(`finds no broken promise: ${scenario.about}`, async () => {
      const output: string[] = [];
      const attacks = scenario.shape.engine === "embedded" ? await attacksNamed(ATTACKS) : [];
      const logFolder = join(tmpdir(), `millrace-chaos-${SEED}`);
      let outcome: Outcome;
      try {
        const say = (text: string) => void output.push(text);
        outcome = await playScenario(scenario, { seed: SEED, runs: RUNS, logFolder, say, attacks });
      } catch (error) {
        throw new Error(`the scenario did not finish:\n${output.join("\n")}`, { cause: error });
      }
      expect(outcome.violations, output.join("\n")).to.deep.equal([]);
      expect(outcome.runs).to.be.at.least(RUNS);
      expect(outcome.kills).to.be.above(1);
      records.push(outcome.evidence);
    });
  }

  it("has a judge that accepts what was recorded, and finds every way in which it can be corrupted", () => {
    expect(records, "records of the scenarios before").to.have.length(SHORT_SCENARIOS.length);
    for (const record of records) {
      expect(check(record)).to.deep.equal([]);
      for (const { name, kind, corrupt } of CORRUPTIONS) {
        const found = check(corrupt(record, seeded(SEED).fork(name)));
        expect(
          found.map((violation) => violation.kind),
          `${name}: ${JSON.stringify(found.slice(0, 3))}`,
        ).to.include(kind);
      }
    }
  });
});
