import { expect } from "chai";
import { renderDiagnostic } from "../../src/cli/diagnostics.ts";
import { parseDefinition } from "../../src/definition/parse.ts";

const plain = (_: string, text: string) => text;

function render(text: string): readonly string[] {
  return parseDefinition(text, "yaml").diagnostics.flatMap((each) => renderDiagnostic("pipe.yaml", text, each, plain));
}

describe("a diagnostic at the command line", () => {
  it("names the place and points at it with a caret", () => {
    const lines = render("jobs:\n  - name: a\n    stepz:\n      - uses: shell\n");
    const at = lines.findIndex((line) => line.startsWith("pipe.yaml:3:5: error: "));
    expect(at).to.be.greaterThan(-1);
    expect(lines[at]).to.match(/stepz.*\[unknown-key\]$/);
    expect(lines[at + 1]).to.equal("    3 |     stepz:");
    expect(lines[at + 2]).to.match(/^ {6}\| {5}\^{5,}$/);
  });

  it("keeps the caret under the text after a tab", () => {
    const diagnostic = {
      code: "syntax",
      severity: "error",
      message: "no",
      pointer: "",
      line: 1,
      column: 3,
      endLine: 1,
      endColumn: 5,
    } as const;
    expect(renderDiagnostic("f", "\tabcd", diagnostic, plain).slice(1)).to.deep.equal([
      "    1 |   abcd",
      "      |    ^^",
    ]);
  });

  it("marks the rest of the line when the place goes on below it, and leaves blank lines out", () => {
    const diagnostic = {
      code: "syntax",
      severity: "warning",
      message: "no",
      pointer: "",
      line: 1,
      column: 2,
      endLine: 2,
      endColumn: 1,
      hint: "do this",
    } as const;
    expect(renderDiagnostic("f", "abc\n", diagnostic, plain)).to.deep.equal([
      "f:1:2: warning: no [syntax]",
      "    1 | abc",
      "      |  ^^",
      "      = do this",
    ]);
    expect(renderDiagnostic("f", "", diagnostic, plain)).to.have.length(2);
  });
});
