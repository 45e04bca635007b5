import { expect } from "chai";
import { CONTEXTS } from "../../src/definition/text/expression-places.ts";
import { parseTemplate } from "../../src/expressions/template.ts";
import { stepName } from "../../actors/job/step-name.ts";
import { plannedName } from "../../src/planner/step-name.ts";

describe("the name of a step", () => {
  const cell = [
    ["os", "linux"],
    ["v", 3],
  ] as const;

  it("reads the cell that the run has made", () => {
    expect(stepName({ name: "test ${{ matrix.os }} ${{ matrix.v }}${{ matrix.none }}" }, cell)).to.equal(
      "test linux 3",
    );
    expect(stepName({ name: "${{ matrix.v }}" }, cell)).to.equal("3");
  });

  it("stays as it is written before the cells are made, and when it has no value", () => {
    const name = "test ${{ fromJSON(matrix.os) }}";
    expect(stepName({ name }, [])).to.equal(name);
    expect(stepName({ name }, cell)).to.equal(name);
    expect(stepName({ name: "${{ matrix.none }}" }, cell)).to.equal("${{ matrix.none }}");
    expect(stepName(undefined, cell)).to.equal("");
  });

  it("holds nothing that a name cannot have, whatever the cell has", () => {
    expect(stepName({ name: "a ${{ matrix.os }}" }, [["os", `x${"y".repeat(300)}`]])).to.have.length(200);
  });

  it("never takes a value for an expression", () => {
    const written = parseTemplate("for ${{ variables.who }}", CONTEXTS);
    for (const value of ["for ${{ matrix.os }}", "for ${{ 'it''s' }}", "for me"]) {
      expect(stepName({ name: plannedName(value, written, true) }, cell)).to.equal(value);
      expect(plannedName(value, written, false), "of a cell of the plan").to.equal(value);
    }
  });
});
