import { expect } from "chai";
import { permissionLines } from "../../../src/cli/remote/permissions.ts";

describe("what whoami shows of the operations of a caller", () => {
  it("is grouped by verbs, with all other operations at the end", () => {
    const operations = ["readRuns", "triggerRun", "readOwnAccount", "writePipelines", "manageUsers", "decideApprovals"];
    expect(permissionLines(operations)).to.deep.equal([
      "reads    own account, runs",
      "writes   pipelines",
      "manages  users",
      "also     decide approvals, trigger run",
    ]);
  });

  it("is wrapped at the width of the terminal, and never beyond 100 columns", () => {
    const operations = Array.from({ length: 60 }, (_, at) => `readThing${String.fromCodePoint(65 + (at % 26))}x`);
    for (const columns of [20, 60, 100, 400]) {
      const lines = permissionLines(operations, columns);
      for (const line of lines) expect(line.length, line).to.be.at.most(Math.min(Math.max(columns, 40), 100));
      expect(lines.join(" ").match(/thing/g), "no operation is cut").to.have.length(60);
      expect(lines.slice(1).every((line) => line.startsWith(" ".repeat(9)))).to.equal(true);
    }
  });

  it("says that a caller may do nothing", () => {
    expect(permissionLines([])).to.deep.equal(["may      nothing"]);
  });
});
