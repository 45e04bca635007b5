/**
 * Mocha's reporter `spec`, which also writes the file that its option `report` names: how many tests passed, and which
 * tests failed in which files, with the first line of each error.
 */
import { writeFileSync } from "node:fs";
import Mocha from "mocha";
import { inSources } from "./compiled-places.mjs";

const { EVENT_TEST_FAIL, EVENT_RUN_END } = Mocha.Runner.constants;

// oxlint-disable-next-line import/no-default-export -- Mocha takes a reporter from the default export.
export default class ReportingSpec extends Mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const { report } = options.reporterOptions;
    const failures = [];
    // A failed hook is reported in the place of its test, and names the test.
    runner.on(EVENT_TEST_FAIL, (test, error) => {
      for (let one = error; typeof one?.stack === "string"; one = one.cause) one.stack = inSources(one.stack);
      const [reason] = String(error?.message ?? error).split("\n");
      failures.push({ file: test.file, title: test.fullTitle(), reason });
    });
    runner.once(EVENT_RUN_END, () => writeFileSync(report, JSON.stringify({ passes: this.stats.passes, failures })));
  }
}
