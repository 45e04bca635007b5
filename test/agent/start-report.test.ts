import { expect } from "chai";
import { startReportDelayMs } from "../../src/agent/start-report.ts";

describe("the report of a step's start", () => {
  it("comes the later, the more steps run, within a bound that people hardly notice", () => {
    expect([1, 2, 50, 91, 1_000].map(startReportDelayMs)).to.deep.equal([20, 22, 118, 200, 200]);
  });
});
