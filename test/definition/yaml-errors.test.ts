import { expect } from "chai";
import { parseDefinition } from "../../src/definition/parse.ts";

function syntaxOf(text: string): readonly string[] {
  return parseDefinition(text, "yaml")
    .diagnostics.filter(({ code }) => code === "syntax")
    .map(({ line, column, message }) => `${line}:${column} ${message}`);
}

describe("a text that is not YAML", () => {
  const cases: readonly (readonly [what: string, text: string, message: string])[] = [
    [
      "a quote that is not closed",
      'a:\n  - b: "c\n    d: e\n',
      "2:8 this text begins with a quote and has no closing quote",
    ],
    [
      "a list that is not closed",
      "a: [b, c\nd: e\n",
      "2:1 YAML expects a `]` before this: a list in brackets is not closed, or not indented further than its key",
    ],
    [
      "a map that is not closed",
      "a: { b: c\nd: e\n",
      "2:1 YAML expects a `}` before this: a map in braces is not closed, or not indented further than its key",
    ],
    [
      "two colons on a line",
      "a: b: c\n",
      "1:4 YAML expects one `key: value` on a line; this value has a `: ` of its own",
    ],
    [
      "keys indented below a value",
      "a: b\n  c: d\n",
      "1:4 this value is on the line of its key, and indented keys follow below it; YAML expects only one of the two",
    ],
    ["a tab", "a:\n\tb: c\n", "2:1 a tab indents this line; YAML expects spaces as indentation"],
    [
      "an item at another indentation",
      "a:\n  - b\n - c\n",
      "3:1 YAML expects all `- ` items of a list at the same indentation; this item has another",
    ],
    [
      "a key at another indentation",
      "a:\n  b: c\n d: e\n",
      "3:1 YAML expects all keys of a map at the same indentation; this line has another",
    ],
    [
      "a key among items",
      "a:\n  - b: c\n   d: e\n",
      "3:1 YAML expects each item of a list to begin with `- `; this line of a list does not",
    ],
    [
      "a list on the line of its key",
      "a: - b\n",
      "1:4 YAML expects the first `- ` of a list on a line of its own, below the key",
    ],
    ["a line without a colon", "a: b\nc\n", "2:1 YAML expects `key: value` on this line, and there is no `: `"],
    [
      "items without a space after the dash",
      "-a\n-b: c\n",
      "1:1 YAML expects a key and its `:` on one line; this key goes over several lines",
    ],
    ["a map as a key", "a: {{ b }}\n", "1:5 a list or a map cannot be a key; YAML keys are texts here"],
    ["a character that begins no text", "a: @b\n", "1:4 YAML expects a text that begins with this character in quotes"],
    ["an unknown escape", 'a: "\\q"\n', "1:5 YAML knows no such escape in double quotes"],
    ["an unknown tag", "a: !b c\n", "1:4 this tag (`!name`) is not known; YAML values need no tag here"],
    ["an unknown anchor", "a: &x b\nc: [*x, *y]\n", "2:9 no anchor `&y` is defined before this use of it"],
    ["an anchor without a name", "a: & b\n", "1:4 YAML expects the name of an anchor after `&` and `*`"],
    ["an anchor before a colon", "a: &b: c\n", "1:6 YAML expects a space between the name of an anchor and a `:`"],
    ["two anchors", "a: &b &c d\n", "1:7 YAML expects at most one anchor (`&name`) before a value"],
    ["two tags", "a: !!str !!int b\n", "1:10 YAML expects at most one tag (`!name`) before a value"],
    [
      "an anchor before an alias",
      "a: &b c\nd: &e *b\n",
      "2:7 YAML expects no anchor (`&name`) and no tag (`!name`) before a use of an anchor (`*name`)",
    ],
    [
      "an anchor on the line of a list",
      "&a - b\n",
      "1:1 YAML expects a map or a list to begin on the line after its anchor (`&name`) or tag (`!name`)",
    ],
    ["a bracket too many", "a: [b]]\n", "1:7 this bracket closes nothing that is open"],
    ["a comma too many", "a: [b,,c]\n", "1:7 YAML expects an entry before each comma within brackets"],
    ["a missing comma", 'a: ["b" "c"]\n', "1:9 YAML expects a comma between the entries within brackets"],
    [
      "a missing comma between keys",
      "a: { b: c d: e }\n",
      "1:9 YAML expects a comma between the entries within brackets; this value has a `: ` of its own",
    ],
    ["a quote within quotes", "a: 'it's'\n", "1:8 the value before this is complete; YAML expects nothing after it"],
    ["a comment without a space", "a: 'b'#c\n", "1:7 YAML expects a space before the `#` of a comment"],
    [
      "a block of text on the line of its sign",
      "a: |b\n  c\n",
      "1:5 YAML expects the text of `|` and `>` to begin on the next line",
    ],
    [
      "a block of text after spaces",
      "a: |\n     \n  b\n",
      "3:3 YAML expects no spaces on the empty lines before the first line of a text",
    ],
    [
      "a block of text indented with a tab",
      "a: |\n\tb\n",
      "2:1 YAML expects the lines of a text of `|` and `>` indented at least as far as its first line, and further than its key",
    ],
    ["an unknown directive", "%A\n---\na: b\n", "1:1 YAML does not know this directive (a line that begins with `%`)"],
    [
      "a directive and no document",
      "%YAML 1.2\na: b\n",
      "2:1 YAML expects a line `---` after directives (lines that begin with `%`)",
    ],
    ["a map on the line of `---`", "--- a: b\n", "1:5 YAML expects a map or a list to begin on the line after `---`"],
    ["two documents", "a: b\n---\nc: d\n", "2:1 a definition is one YAML document; a second one begins here"],
    [
      "a key of more than 1,024 characters",
      `${"a".repeat(1_100)}: b\n`,
      "1:1 YAML expects the `:` of a key within 1,024 characters; this key is longer",
    ],
  ];
  for (const [what, text, message] of cases) {
    it(`gets one message about ${what}, at its place`, () => {
      expect(syntaxOf(text)).to.deep.equal([message]);
    });
  }

  it("gets a hint that says how to mend it", () => {
    const hintOf = (text: string) => parseDefinition(text, "yaml").diagnostics[0]!.hint;
    expect(hintOf("a: b: c\n")).to.equal(
      "put the value in quotes if it is a text, or write it on the next line, indented, if it is a map",
    );
    expect(hintOf("a: b\n  c: d\n")).to.equal(
      "indent the next line as this one, or remove this value if the keys below are the value",
    );
    expect(hintOf("a: [*.txt]\n")).to.equal(
      "define the anchor on a value above, or put this in quotes if it is a text that begins with `*`",
    );
  });

  it("gets a message for each line with a mistake", () => {
    expect(syntaxOf("a: b: c\nd: e: f\n").map((message) => message.slice(0, 3))).to.deep.equal(["1:4", "2:4"]);
  });

  it("gets the anchor that makes it grow in place of a count of aliases", () => {
    const laughs = [
      "a: &a [x, x, x]",
      "b: &b [*a, *a, *a]",
      "c: &c [*b, *b, *b]",
      "d: &d [*c, *c, *c]",
      "e: [*d, *d, *d]",
    ];
    const [first] = parseDefinition(laughs.join("\n"), "yaml").diagnostics;
    expect(first).to.include({
      code: "alias-limit",
      line: 3,
      column: 8,
      message: "anchors within anchors make the definition too large",
    });
  });
});
