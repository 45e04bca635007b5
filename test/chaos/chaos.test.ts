/** The short form of the kill tests, with fixed seeds; `npm run chaos` is the long one. */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { type Outcome, playScenario } from "./run-scenario.ts";
import { SHORT_SCENARIOS } from "./scenarios.ts";

const SEED = 20_261_121;
const RUNS = 60;

describe("the kill tests in short", function () {
  this.timeout(300_000);

  for (const scenario of SHORT_SCENARIOS) {
    it(`keeps every promise although ${scenario.about}`, async () => {
      const told: string[] = [];
      const logFolder = join(tmpdir(), `millrace-chaos-${SEED}`);
      let outcome: Outcome;
      try {
        outcome = await playScenario(scenario, { seed: SEED, runs: RUNS, logFolder, say: (text) => told.push(text) });
      } catch (error) {
        throw new Error(`it could not be played to its end:\n${told.join("\n")}`, { cause: error });
      }
      expect(outcome.violations, told.join("\n")).to.deep.equal([]);
      expect(outcome.runs).to.be.at.least(RUNS);
      expect(outcome.kills).to.be.above(1);
    });
  }
});
