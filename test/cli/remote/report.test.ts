import { expect } from "chai";
import { Report } from "../../../src/cli/remote/report.ts";
import { visible, visibleJson } from "../../../src/cli/remote/visible.ts";

function output(terminal: { readonly isTTY?: boolean; readonly columns?: number } = {}) {
  const texts: string[] = [];
  return { ...terminal, texts, write: (text: string) => texts.push(text) };
}

const COLUMNS = [
  { title: "name", text: ({ name }: { name: string }) => name },
  { title: "state", text: () => "on", colour: () => "green" as const },
];

describe("what commands print about objects of a server", () => {
  it("is a table whose columns stand below each other, with control characters as escapes", () => {
    const to = output();
    new Report({}, to).list([{ name: "a\nb" }, { name: "long name" }], COLUMNS, "none");
    expect(to.texts.join("")).to.equal("NAME       STATE\na\\nb       on\nlong name  on\n");
  });

  it("has colours and no line wider than the terminal on a terminal only", () => {
    const [plain, terminal] = [output(), output({ isTTY: true, columns: 25 })];
    for (const to of [plain, terminal]) new Report({}, to).list([{ name: "a name of many words" }], COLUMNS, "none");
    expect(plain.texts.join("")).not.to.contain("\u001b");
    const shown = terminal.texts.join("");
    if (!process.env["NO_COLOR"] && process.env["TERM"] !== "dumb") expect(shown).to.contain("\u001b[32m");
    // oxlint-disable-next-line no-control-regex
    for (const line of shown.replaceAll(/\u001b\[\d+m/g, "").split("\n")) expect(line.length).to.be.at.most(25);
  });

  it("is JSON alone with --json: an array for a list, also for an empty one", () => {
    const to = output({ isTTY: true });
    new Report({ json: true }, to).list([], COLUMNS, "none");
    new Report({ json: true }, to).list([{ name: "a" }], COLUMNS, "none");
    new Report({ json: true }, to).object({ a: 1 }, "a line");
    expect(to.texts.map((text) => JSON.parse(text) as unknown)).to.deep.equal([[], [{ name: "a" }], { a: 1 }]);
    const empty = output();
    new Report({}, empty).list([], COLUMNS, "none");
    expect(empty.texts).to.deep.equal(["none\n"]);
  });

  it("shows every character that could change a terminal or the order of a text as an escape", () => {
    const hidden = [
      "\u0000",
      "\u001b",
      "\u007f",
      "\u009b",
      "\u200f",
      "\u202e",
      "\u2028",
      "\u2066",
      "\ufeff",
      "\t",
      "\r",
    ];
    for (const char of hidden) {
      expect(visible(`a${char}b`), JSON.stringify(char)).to.match(/^a\\(u[0-9a-f]{4}|t)b$/);
      expect(JSON.parse(visibleJson({ [char]: char })), "JSON keeps the value").to.deep.equal({ [char]: char });
      expect(visibleJson(char)).not.to.contain(char);
    }
    expect(visible("Grüße, 你好 👋")).to.equal("Grüße, 你好 👋");
  });
});
