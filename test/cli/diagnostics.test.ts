import { expect } from "chai";
import { asDiagnostic, countProblems, renderDiagnostics } from "../../src/cli/diagnostics.ts";
import { parseDefinition } from "../../src/definition/parse.ts";

const plain = (_: string, text: string) => text;

function render(text: string): readonly string[] {
  return renderDiagnostics({ file: "pipe.yaml", text }, parseDefinition(text, "yaml").diagnostics, plain);
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
    expect(renderDiagnostics({ file: "f", text: "\tabcd" }, [diagnostic], plain).slice(1)).to.deep.equal([
      "    1 |   abcd",
      "      |    ^^",
    ]);
  });

  it("marks the rest of the line when the range continues below, and shows no blank line", () => {
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
    expect(renderDiagnostics({ file: "f", text: "abc\n" }, [diagnostic], plain)).to.deep.equal([
      "f:1:2: warning: no [syntax]",
      "    1 | abc",
      "      |  ^^",
      "      = do this",
    ]);
    expect(renderDiagnostics({ file: "f", text: "" }, [diagnostic], plain)).to.have.length(2);
  });

  it("shows of a very long line the part around the place", () => {
    const place = asDiagnostic({ code: "syntax", pointer: "", message: "no", line: 1, column: 501 });
    const long = `${"a".repeat(500)}X${"b".repeat(500)}`;
    const [, source, carets] = renderDiagnostics({ file: "f", text: long }, [place], plain);
    expect(source).to.have.length(8 + 162);
    expect(source!.slice(8)).to.match(/^…a+Xb+…$/);
    expect(carets!.indexOf("^")).to.equal(source!.indexOf("X"));
    expect(carets).to.match(/ \^$/);
    const atStart = renderDiagnostics({ file: "f", text: long }, [{ ...place, column: 1, endColumn: 900 }], plain);
    expect(atStart[1]!.slice(8)).to.match(/^a{160}…$/);
    expect(atStart[2]!.slice(8)).to.equal("^".repeat(160));
  });

  it("prints no control characters of definitions and names", () => {
    const place = { ...asDiagnostic({ code: "syntax", pointer: "", message: "a\u001b[2Jb" }), hint: "c\rd" };
    const lines = renderDiagnostics({ file: "f\u001b[1A", text: "x\u001b[31my" }, [place], plain);
    expect(lines).to.deep.equal(["f:1:1: error: ab [syntax]", "    1 | x·[31my", "      | ^", "      = cd"]);
  });

  it("is counted by its severity", () => {
    const error = asDiagnostic({ code: "syntax", pointer: "", message: "no" });
    const warning = { ...error, severity: "warning" } as const;
    expect(countProblems([])).to.equal("no problems");
    expect(countProblems([error, warning, warning])).to.equal("1 error, 2 warnings");
    expect(countProblems([warning])).to.equal("1 warning");
  });
});
