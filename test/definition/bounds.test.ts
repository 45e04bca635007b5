/** Texts that are made to cost too much: the validator has to refuse each of them quickly, with its reason. */
import { expect } from "chai";
import { parseDefinition } from "../../src/definition/parse.ts";

const STEP = "{ uses: shell, args: { script: x } }";

function codes(text: string, format: "yaml" | "json" = "yaml"): readonly string[] {
  const { definition, diagnostics } = parseDefinition(text, format);
  expect(definition).to.equal(undefined);
  return [...new Set(diagnostics.filter(({ severity }) => severity === "error").map(({ code }) => code))].toSorted();
}

function list(count: number, item: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => item(index)).join(", ");
}

describe("a definition that costs too much", () => {
  const cases: readonly [string, string, readonly string[]][] = [
    ["a megabyte of open brackets", "[".repeat(1_000_000), ["depth-limit"]],
    ["maps that are nested by indents", list(40, (i) => `\n${" ".repeat(i)}a:`).replaceAll(", ", ""), ["depth-limit"]],
    ["lists that are nested on one line", "- ".repeat(300_000), ["depth-limit"]],
    ["an anchor within itself", "jobs: &a [*a]", ["depth-limit"]],
    [
      "nesting by anchors",
      `a: &a ${"[".repeat(20)}1${"]".repeat(20)}\njobs: ${"[".repeat(20)}*a${"]".repeat(20)}`,
      ["depth-limit"],
    ],
    ["too many uses of anchors", `a: &a 1\njobs: [${list(200, () => "*a")}]`, ["alias-limit"]],
    [
      "uses of a large anchor",
      `jobs: [{name: a, steps: [{uses: shell, args: {script: x, a: &a [${list(20_000, String)}], b: [*a, *a, *a, *a, *a, *a]}}]}]`,
      ["size-limit"],
    ],
    ["a hundred thousand keys", list(100_000, (i) => `k${i}`).replace(/.*/s, "{$&}"), ["size-limit"]],
    ["a text of nothing but errors", `[${"}\n".repeat(250_000)}`, ["diagnostic-limit", "syntax"]],
    [
      "needs between large matrices",
      `jobs: [{name: a, matrix: {axes: {n: [${list(1_000, String)}]}}, steps: [${STEP}]}, {name: b, needs: a, matrix: {axes: {n: [${list(1_000, String)}]}}, steps: [${STEP}]}]`,
      ["needs-limit"],
    ],
    [
      "a matrix of many fields",
      `jobs: [{name: a, matrix: {include: [{${list(17, (i) => `k${i}: 1`)}}]}, steps: [${STEP}]}]`,
      ["matrix-limit"],
    ],
    [
      "a product that could not be built",
      `jobs: [{name: a, matrix: {axes: {${list(9, (i) => `k${i}: [${list(100, String)}]`)}}}, steps: [${STEP}]}]`,
      ["matrix-limit"],
    ],
  ];
  for (const [what, text, expected] of cases) {
    it(`by ${what} is refused with its reason`, () => {
      expect(codes(text)).to.deep.equal(expected);
    });
  }

  it("is refused in JSON as in YAML", () => {
    expect(codes("[".repeat(500_000), "json")).to.deep.equal(["depth-limit"]);
  });

  it("gets the place at which it becomes too deep", () => {
    const [found] = parseDefinition(`jobs: ${"[".repeat(40)}`, "yaml").diagnostics;
    expect([found!.line, found!.column]).to.deep.equal([1, 38]);
  });

  it("gets a bounded number of problems, and the last one says that there are more", () => {
    const { diagnostics } = parseDefinition(`{${list(500, (i) => `k${i}: 1`)}}`, "yaml");
    expect(diagnostics).to.have.length(201);
    expect(diagnostics.at(-1)!.code).to.equal("diagnostic-limit");
  });

  it("does not stop the validator when tens of thousands of values are wrong", () => {
    expect(codes(`jobs: [{name: a, steps: [${list(60_000, String)}]}]`)).to.include("invalid-type");
    expect(codes(`jobs: [${list(90_000, () => "{}")}]`)).to.include("diagnostic-limit");
  });

  it("gets short messages about long names", () => {
    const long = "k".repeat(10_000);
    for (const { message } of parseDefinition(`${long}: 1\njobs: [{name: a, needs: ${long}, steps: []}]`, "yaml")
      .diagnostics) {
      expect(message.length).to.be.lessThan(300);
    }
  });
});

describe("a long chain of needs", () => {
  it("is followed to its end, where it closes a cycle", () => {
    const jobs = list(3_000, (i) => `{name: j${i}, needs: [j${(i + 1) % 3_000}], steps: [${STEP}]}`);
    expect(codes(`jobs: [${jobs}]`)).to.deep.equal(["cyclic-needs"]);
  });
});
