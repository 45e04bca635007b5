import { expect } from "chai";
import { parseDefinition } from "../../src/definition/parse.ts";

const STEP = "{ uses: shell, args: { script: x } }";
const job = (rest: string): string => `jobs:\n  - name: a\n    steps: [${STEP}]\n${rest}`;
const step = (rest: string): string =>
  `jobs:\n  - name: a\n    steps:\n      - uses: shell\n        args: { script: x }\n${rest}`;

/** `severity code line:column-line:column` of every diagnostic, in order; an error has no severity in the text. */
function found(text: string, format: "yaml" | "json" = "yaml"): readonly string[] {
  return parseDefinition(text, format).diagnostics.map(
    ({ severity, code, line, column, endLine, endColumn }) =>
      `${severity === "warning" ? "warning " : ""}${code} ${line}:${column}-${endLine}:${endColumn}`,
  );
}

describe("the rules of a definition", () => {
  const cases: readonly [string, string, readonly string[]][] = [
    [
      "refuse an expression where none is evaluated: variables",
      `variables: { a: "\${{ trigger.ref }}" }\n${job("")}`,
      ["expression-misplaced 1:18-1:21"],
    ],
    [
      "refuse an expression where none is evaluated: labels",
      job('    agentSelector: { matchLabels: { os: "${{ matrix.os }}" } }\n'),
      ["expression-misplaced 4:42-4:45"],
    ],
    [
      "refuse an expression where none is evaluated: names of jobs",
      `jobs:\n  - name: "a \${{ run.id }}"\n    steps: [${STEP}]\n`,
      ["expression-misplaced 2:14-2:17"],
    ],
    [
      "refuse an expression where none is evaluated: workingDirectory",
      step('        workingDirectory: "${{ run.id }}"\n'),
      ["expression-misplaced 6:28-6:31"],
    ],
    [
      "let names of steps read what is known when a run is planned",
      step('        name: "s ${{ secrets.key }}"\n'),
      ["expression-misplaced 6:22-6:33"],
    ],
    [
      "find an expression in a text of several lines",
      "jobs:\n  - name: a\n    steps:\n      - uses: shell\n        args:\n          script: |\n            echo\n            echo ${{ foo.bar }} ${{ trigger.ref }}\n",
      ["unknown-context 8:22-8:25", "warning script-injection 8:37-8:48"],
    ],
    [
      "point to a whole text where its escapes hide the expression",
      job('env: { A: "\\u0024{{ foo }}" }\n'),
      ["unknown-context 4:11-4:28"],
    ],
    [
      "let only conditions call status functions",
      job("env: { A: '${{ always() }}' }\n"),
      ["expression-misplaced 4:16-4:22"],
    ],
    [
      "warn of a number that is written in other characters",
      `env: { V: 3.10, W: "3.10", X: 0x10 }\n${job("")}`,
      ["warning inexact-number 1:11-1:15", "warning inexact-number 1:31-1:35"],
    ],
    [
      "refuse a number that loses digits in the place of a text",
      `version: 1.10\n${job("")}`,
      ["invalid-type 1:10-1:14", "warning inexact-number 1:10-1:14"],
    ],
    ["refuse NaN", `env: { A: .nan }\n${job("")}`, ["invalid-type 1:11-1:15", "warning inexact-number 1:11-1:15"]],
    ["read dates as texts", `env: { A: 2001-01-01 }\n${job("")}`, []],
    ["refuse tags", `env: { A: !!binary aGk= }\n${job("")}`, ["syntax 1:11-1:19"]],
    ["refuse several documents", `${job("")}---\n${job("")}`, ["syntax 4:1-4:1"]],
    ["refuse keys that are not texts", "? [a]\n: b\n", ["syntax 1:3-1:4"]],
    ["refuse an alias of nothing", "jobs: *x\n", ["syntax 1:7-1:9"]],
    [
      "do not merge maps",
      `%YAML 1.1\n---\nenv: { <<: { A: b } }\n${job("")}`,
      ["invalid-value 3:8-3:10", "invalid-type 3:12-3:20"],
    ],
    ["use the last value of an anchor that is defined twice", `env: { A: &x a, B: &x b, C: *x }\n${job("")}`, []],
    ["refuse an empty key", "env:\njobs: []\n", ["invalid-type 1:5-1:5", "invalid-value 2:7-2:9"]],
    [
      "refuse control characters in names",
      `jobs:\n  - { name: "a\\e[31m", steps: [${STEP}] }\n`,
      ["invalid-value 2:13-2:22"],
    ],
    ["refuse a blank name", `jobs:\n  - { name: " ", steps: [${STEP}] }\n`, ["invalid-value 2:13-2:16"]],
    ["refuse a NUL character in the environment of a step", job('env: { A: "a\\0" }\n'), ["invalid-value 4:11-4:16"]],
    ["refuse a timeout of 0 seconds", job("    timeout: 0s\n"), ["invalid-duration 4:14-4:16"]],
    ["allow a cancel grace of 0 seconds", job("    cancelGrace: 0s\n"), []],
    ["refuse a duration that is a number", job("    timeout: 90\n"), ["invalid-type 4:14-4:16"]],
    [
      "refuse a value twice on an axis, whatever its type",
      job('    matrix: { axes: { n: [1, "1"] } }\n'),
      ["invalid-matrix 4:30-4:33"],
    ],
    [
      "refuse to exclude by an unknown axis",
      job("    matrix: { axes: { node: [1] }, exclude: [{ noode: 1 }] }\n"),
      ["invalid-matrix 4:48-4:53"],
    ],
    [
      "refuse to exclude every cell",
      job("    matrix: { axes: { n: [1] }, exclude: [{ n: 1 }] }\n"),
      ["invalid-matrix 4:13-4:54"],
    ],
    [
      "refuse a job with the name of a cell",
      job(`    matrix: { axes: { n: [1] } }\n  - { name: "a (n=1)", steps: [${STEP}] }\n`),
      ["duplicate-name 5:13-5:22"],
    ],
    ["refuse two equal cells", job("    matrix: { include: [{ n: 1 }, { n: 1 }] }\n"), ["duplicate-name 4:13-4:46"]],
    ["refuse an action of shell", step("        action: run\n"), ["invalid-args 6:17-6:20"]],
    [
      "refuse an unknown key of a label expression",
      job("    agentSelector: { matchExpressions: [{ key: a, operator: Exists, vals: [] }] }\n"),
      ["unknown-key 4:69-4:73"],
    ],
    [
      "refuse values of Exists",
      job("    agentSelector: { matchExpressions: [{ key: a, operator: Exists, values: [b] }] }\n"),
      ["invalid-selector 4:77-4:80"],
    ],
    ["refuse an absolute working directory", step("        workingDirectory: /etc\n"), ["invalid-path 6:27-6:31"]],
  ];
  for (const [what, text, expected] of cases) {
    it(what, () => {
      expect(found(text)).to.deep.equal(expected);
    });
  }

  it("hold for JSON with its own positions, also after tabs", () => {
    expect(found('{\n\t"jobs": [\n\t\t{ "name": "a", "image": [] }]\n}', "json")).to.deep.equal([
      "missing-key 3:3-3:31",
      "reserved-key 3:18-3:25",
    ]);
    expect(found('{ "jobs": [], "jobs": [] }', "json")).to.include("duplicate-key 1:15-1:21");
    expect(found("{ \"version\": '1' }", "json")).to.deep.equal(["syntax 1:14-1:14"]);
  });

  it("count lines that end with CR LF", () => {
    expect(found(`jobs:\r\n  - name: a\r\n    stesp: []\r\n`)).to.include("unknown-key 3:5-3:10");
  });

  it("give pointers by RFC 6901", () => {
    const { diagnostics } = parseDefinition(job("env: { 'a/b~c': x }\n"), "yaml");
    expect(diagnostics.map(({ pointer }) => pointer)).to.deep.equal(["/env/a~1b~0c"]);
  });

  it("take labels as texts, numbers and truth values, and keep them as texts", () => {
    const { definition } = parseDefinition(
      job("    agentSelector: { matchLabels: { gpu: true, cores: 4 } }\n"),
      "yaml",
    );
    expect(definition!.stages[0]!.jobs[0]!.selector.matchLabels).to.deep.equal([
      ["gpu", "true"],
      ["cores", "4"],
    ]);
  });
});
