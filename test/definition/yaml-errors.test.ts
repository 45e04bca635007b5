import { expect } from "chai";
import { parseDefinition } from "../../src/definition/parse.ts";

function syntaxOf(text: string): readonly string[] {
  return parseDefinition(text, "yaml")
    .diagnostics.filter(({ code }) => code === "syntax")
    .map(({ line, column, message }) => `${line}:${column} ${message}`);
}

describe("a text that is no YAML", () => {
  const cases: readonly (readonly [what: string, text: string, told: string])[] = [
    ["a quote that is not closed", 'a:\n  - b: "c\n    d: e\n', "2:8 this text has no closing quote"],
    [
      "a list that is not closed",
      "a: [b, c\nd: e\n",
      "2:1 a list before this has no `]`, or is indented less than its key",
    ],
    [
      "a map that is not closed",
      "a: { b: c\nd: e\n",
      "2:1 a map before this has no `}`, or is indented less than its key",
    ],
    ["two colons on a line", "a: b: c\n", "1:4 a value on the line of its key has no `: ` in it"],
    ["a tab", "a:\n\tb: c\n", "2:1 tabs cannot indent: use spaces"],
    ["an item at another indent", "a:\n  - b\n - c\n", "3:1 this item is not indented as the others of its list"],
    ["a key among items", "a:\n  - b: c\n   d: e\n", "3:1 this stands in a list and has no `-`"],
    ["a line without a colon", "a: b\nc\n", "2:1 this stands where a key is expected, and has no `:`"],
    ["a character that begins no text", "a: @b\n", "1:4 a text that begins with this character stands in quotes"],
    ["an escape that there is not", 'a: "\\q"\n', "1:5 there is no such escape in double quotes"],
    ["an anchor that there is not", "a: &x b\nc: [*x, *y]\n", "2:9 there is no anchor `&y` before this"],
    ["a bracket too many", "a: [b]]\n", "1:7 this is not expected here"],
    ["two anchors", "a: &b &c d\n", "1:7 a node can have at most one anchor"],
  ];
  for (const [what, text, told] of cases) {
    it(`because of ${what} is told so, once and at its place`, () => {
      expect(syntaxOf(text)).to.deep.equal([told]);
    });
  }

  it("is told its slips on all lines", () => {
    expect(syntaxOf("a: b: c\nd: e: f\n").map((told) => told.slice(0, 3))).to.deep.equal(["1:4", "2:4"]);
  });

  it("is told which anchor makes it grow, not how the library counts", () => {
    const laughs = [
      "a: &a [x, x, x]",
      "b: &b [*a, *a, *a]",
      "c: &c [*b, *b, *b]",
      "d: &d [*c, *c, *c]",
      "e: [*d, *d, *d]",
    ];
    const [told] = parseDefinition(laughs.join("\n"), "yaml").diagnostics;
    expect(told).to.include({
      code: "alias-limit",
      line: 3,
      column: 8,
      message: "anchors that use anchors grow too large",
    });
  });
});
