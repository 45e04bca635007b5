import { expect } from "chai";
import { parseDefinition } from "../../src/definition/parse.ts";
import { renderSpec, textToSpec } from "../../src/definition/edit/render.ts";
import { countJobs, countSteps } from "../../src/definition/count.ts";

const STEP = "{ uses: shell, args: { script: 'true' } }";

/** `code line:column` of every diagnostic, in order. */
function found(text: string, format: "yaml" | "json" = "yaml"): readonly string[] {
  return parseDefinition(text, format).diagnostics.map(({ code, line, column }) => `${code} ${line}:${column}`);
}

/** `0, 1, 2 ...`: the values of an axis. */
function numbers(count: number): string {
  return Array.from({ length: count }, (_, index) => index).join(", ");
}

function messages(text: string, format: "yaml" | "json" = "yaml"): string {
  return parseDefinition(text, format)
    .diagnostics.map(({ message }) => message)
    .join("\n");
}

describe("a definition", () => {
  it("in the jobs shorthand becomes one default stage", () => {
    const { definition, diagnostics } = parseDefinition(`jobs:\n  - name: a\n    steps: [${STEP}]\n`, "yaml");
    expect(diagnostics).to.deep.equal([]);
    expect(definition!.stages.map(({ name, jobs }) => [name, jobs.length])).to.deep.equal([["default", 1]]);
  });

  it("in JSON has the same value as in YAML, and positions in its own text", () => {
    const spec = {
      stages: [{ name: "s", jobs: [{ name: "a", steps: [{ uses: "shell", args: { script: "true" } }] }] }],
    };
    const json = parseDefinition(renderSpec(spec, "json"), "json");
    const yaml = parseDefinition(renderSpec(spec, "yaml"), "yaml");
    expect(json.diagnostics).to.deep.equal([]);
    expect(json.definition).to.deep.equal(yaml.definition);
    expect(found('{\n  "jobs": [],\n  "jbos": 1\n}', "json")).to.include("unknown-key 3:3");
  });

  it("keeps every field that it knows", () => {
    const { definition, diagnostics } = parseDefinition(
      `namespace: team.service
version: "3"
description: all of it
variables: { who: world, n: 3, on: true }
env: { A: "1" }
timeout: 1h30m
stages:
  - name: build
    jobs:
      - name: compile
        needs: []
        env: { B: 2 }
        timeout: 90s
        queueTimeout: 15m
        cancelGrace: 5s
        agentLeaseTimeout: 1m
        priority: 7
        continueOnError: true
        agentSelector:
          matchLabels: { os: linux }
          matchExpressions: [{ key: cores, operator: Gt, values: [4] }, { key: gpu, operator: NotExists }]
        matrix: { axes: { node: [20, 22] }, exclude: [{ node: 22 }], include: [{ node: 24, beta: true }] }
        steps:
          - name: one
            uses: shell@v1
            args: { command: node, args: [--version] }
            env: { C: "\${{ matrix.node }}" }
            timeout: 10s
            continueOnError: true
            workingDirectory: sub/dir
`,
      "yaml",
    );
    expect(diagnostics).to.deep.equal([]);
    const job = definition!.stages[0]!.jobs[0]!;
    expect(definition).to.deep.include({ namespace: "team.service", version: "3", timeoutMs: 5_400_000 });
    expect(job).to.deep.include({ timeoutMs: 90_000, queueTimeoutMs: 900_000, cancelGraceMs: 5_000, leaseMs: 60_000 });
    expect(job.selector.matchExpressions[0]).to.deep.equal({ key: "cores", operator: "Gt", values: ["4"] });
    expect(job.steps[0]).to.deep.include({ name: "one", timeoutMs: 10_000, workingDirectory: "sub/dir" });
    expect([countJobs(definition!), countSteps(definition!)]).to.deep.equal([2, 2]);
  });

  it("gives the same value again after rendering", () => {
    const spec = {
      jobs: [{ name: 'é "x"', steps: [{ uses: "shell", args: { script: "a\n  b: c\n#d\n" } }] }],
      version: "010",
    };
    for (const format of ["yaml", "json"] as const)
      expect(textToSpec(renderSpec(spec, format), format)).to.deep.equal(spec);
  });
});

describe("a bad definition", () => {
  const job = (rest: string): string => `jobs:\n  - name: a\n    steps: [${STEP}]\n${rest}`;
  const cases: readonly [string, string, readonly string[]][] = [
    ["malformed YAML", "jobs: [", ["syntax 1:8"]],
    ["an unclosed quote", 'jobs:\n  - name: "a\n', ["syntax 2:11"]],
    ["a tab as indent", "jobs:\n\t- name: a\n", ["syntax 2:1"]],
    ["an empty text", "", ["not-a-map 1:1"]],
    ["a list at the top", "- a\n", ["not-a-map 1:1"]],
    ["a scalar at the top", "hello\n", ["not-a-map 1:1"]],
    ["neither jobs nor stages", "version: '1'\n", ["jobs-or-stages 1:1"]],
    [
      "both jobs and stages",
      job(`stages:\n  - name: s\n    jobs: [{ name: b, steps: [${STEP}] }]\n`),
      ["jobs-or-stages 1:1"],
    ],
    ["a key twice", "version: a\nversion: b\njobs: []\n", ["duplicate-key 2:1"]],
    ["an unknown key at the top", job("vresion: '1'\n"), ["unknown-key 4:1"]],
    ["an unknown key in a job", job("    nedes: [b]\n"), ["unknown-key 4:5"]],
    [
      "an unknown key in a step",
      "jobs:\n  - name: a\n    steps:\n      - uses: shell\n        args: { script: x }\n        evn: {}\n",
      ["unknown-key 6:9"],
    ],
    ["a block of the wrong type, as SPEC spells it", job("Notify: {}\n"), ["invalid-type 4:9"]],
    ["a job without a name", `jobs:\n  - steps: [${STEP}]\n`, ["missing-key 2:5"]],
    ["a job without steps", "jobs:\n  - name: a\n", ["missing-key 2:5"]],
    ["an empty list of steps", "jobs:\n  - name: a\n    steps: []\n", ["invalid-value 3:12"]],
    ["a step that is no map", "jobs:\n  - name: a\n    steps: [true]\n", ["invalid-type 3:13"]],
    ["a name of the wrong type", `jobs:\n  - name: 7\n    steps: [${STEP}]\n`, ["invalid-type 2:11"]],
    ["two jobs of one name", job(`  - name: a\n    steps: [${STEP}]\n`), ["duplicate-name 4:11"]],
    [
      "two steps of one name",
      "jobs:\n  - name: a\n    steps:\n      - { name: s, uses: shell, args: { script: x } }\n      - { name: s, uses: shell, args: { script: x } }\n",
      ["duplicate-name 5:17"],
    ],
    ["an unknown need", job("    needs: [b]\n"), ["unknown-job 4:13"]],
    ["a job that needs itself", job("    needs: a\n"), ["cyclic-needs 4:12"]],
    [
      "a cycle",
      `jobs:\n  - { name: a, needs: [b], steps: [${STEP}] }\n  - { name: b, needs: [a], steps: [${STEP}] }\n`,
      ["cyclic-needs 2:23"],
    ],
    ["a bad duration", job("    timeout: 5 minutes\n"), ["invalid-duration 4:14"]],
    ["a lease out of range", job("    agentLeaseTimeout: 5s\n"), ["invalid-duration 4:24"]],
    ["a priority that is no whole number", job("    priority: 1.5\n"), ["invalid-type 4:15"]],
    [
      "an unknown operator",
      job("    agentSelector: { matchExpressions: [{ key: a, operator: Is }] }\n"),
      ["invalid-value 4:61"],
    ],
    [
      "an operator without its value",
      job("    agentSelector: { matchExpressions: [{ key: a, operator: Gt, values: [x] }] }\n"),
      ["invalid-selector 4:73"],
    ],
    ["a matrix without a cell", job("    matrix: {}\n"), ["invalid-matrix 4:13"]],
    [
      "a matrix that is too large",
      job(`    matrix: { axes: { a: [${numbers(40)}], b: [${numbers(40)}] } }\n`),
      ["matrix-limit 4:13"],
    ],
    [
      "an unknown builtin",
      "jobs:\n  - name: a\n    steps: [{ uses: shel, args: { script: x } }]\n",
      ["invalid-uses 3:21"],
    ],
    ["a shell step without a script", "jobs:\n  - name: a\n    steps: [{ uses: shell }]\n", ["invalid-args 3:13"]],
    [
      "a script and a command",
      "jobs:\n  - name: a\n    steps: [{ uses: shell, args: { script: x, command: y } }]\n",
      ["invalid-args 3:56"],
    ],
    [
      "an unknown argument of shell",
      "jobs:\n  - name: a\n    steps: [{ uses: shell, args: { script: x, shel: y } }]\n",
      ["invalid-args 3:47"],
    ],
    [
      "a working directory outside",
      "jobs:\n  - name: a\n    steps: [{ uses: shell, args: { script: x }, workingDirectory: a/../../b }]\n",
      ["invalid-path 3:67"],
    ],
    ["an unclosed expression", job("env: { A: '${{ trigger.ref' }\n"), ["expression-syntax 4:12"]],
    ["an unknown context", job("env: { A: '${{ triger.ref }}' }\n"), ["unknown-context 4:16"]],
    [
      "a step that is read where none has ended",
      job("env: { A: '${{ steps.a.result }}' }\n"),
      ["expression-misplaced 4:16"],
    ],
    ["an unknown function", job("env: { A: '${{ shout(trigger.ref) }}' }\n"), ["unknown-function 4:16"]],
    ["a matrix value that is not there", job("    env: { A: '${{ matrix.node }}' }\n"), ["unknown-property 4:27"]],
    ["a name that no variable can have", job("env: { 'A-B': x }\n"), ["invalid-value 4:8"]],
    [
      "a trigger value in a script",
      "jobs:\n  - name: a\n    steps: [{ uses: shell, args: { script: 'echo ${{ trigger.ref }}' } }]\n",
      ["script-injection 3:54"],
    ],
  ];
  for (const [what, text, expected] of cases) {
    it(`with ${what} gets the code and the place`, () => {
      expect(found(text)).to.deep.equal(expected);
    });
  }

  it("gets all its problems at once, in the order of the text", () => {
    expect(
      found("vresion: x\njobs:\n  - name: a\n    timeout: soon\n    needs: [zz]\n    steps: [{ uses: shel }]\n"),
    ).to.deep.equal(["unknown-key 1:1", "invalid-duration 4:14", "unknown-job 5:13", "invalid-uses 6:21"]);
  });

  it("with a cycle of needs gets a message about a dependency cycle, and how to remove it", () => {
    const jobs = (...needs: readonly (readonly [name: string, needs: string])[]): string =>
      `jobs:\n${needs.map(([name, need]) => `  - { name: ${name}, needs: [${need}], steps: [${STEP}] }\n`).join("")}`;
    const explanationsOf = (text: string) =>
      parseDefinition(text, "yaml").diagnostics.map(({ message, hint }) => `${message} (${hint})`);
    expect(explanationsOf(jobs(["build", "build"]))).to.deep.equal([
      'job "build" needs itself, which is a dependency cycle (remove its own name from its `needs`)',
    ]);
    expect(explanationsOf(jobs(["build", "test"], ["test", "build"]))).to.deep.equal([
      "these jobs form a dependency cycle: build -> test -> build (remove one of these needs)",
    ]);
    expect(explanationsOf(jobs(["a", "b"], ["b", "c"], ["c", "b, c"]))).to.deep.equal([
      "these jobs form a dependency cycle: b -> c -> b (remove one of these needs)",
      'job "c" needs itself, which is a dependency cycle (remove its own name from its `needs`)',
    ]);
  });

  it("gets the nearest known word", () => {
    expect(messages(`jobs:\n  - nmae: a\n    stesp: [${STEP}]\n`))
      .to.include('did you mean "steps"?')
      .and.to.include('did you mean "name"?');
    expect(messages("jobs:\n  - name: a\n    steps: [{ uses: shel }]\n")).to.include('did you mean "shell"?');
    expect(messages("jobs:\n  - { name: build, steps: [] }\n  - { name: b, needs: biuld, steps: [] }\n")).to.include(
      'did you mean "build"?',
    );
  });

  it("that is JSON gets the position of its syntax error", () => {
    expect(found('{\n  "jobs": [,]\n}', "json")[0]).to.equal("syntax 2:12");
    expect(found("jobs: []\n", "json")[0]).to.match(/^syntax 1:/);
  });

  it("cannot grow by aliases, nesting or size", () => {
    const laughs = ["a: &a [x, x, x, x, x, x, x, x, x]"];
    for (const [from, to] of ["ab", "bc", "cd", "de", "ef"])
      laughs.push(`${to}: &${to} [${Array.from({ length: 9 }, () => `*${from}`).join(", ")}]`);
    expect(found(laughs.join("\n"))[0]).to.match(/^alias-limit/);
    expect(found(`jobs: ${"[".repeat(5_000)}${"]".repeat(5_000)}`)[0]).to.match(/^(depth-limit|syntax)/);
    expect(found(`description: ${"x".repeat(1_100_000)}`)).to.deep.equal(["size-limit 1:1"]);
  });

  it("with too many steps in all cells gets their number", () => {
    const steps = Array.from({ length: 6 }, (_, i) => `{ name: s${i}, uses: shell, args: { script: x } }`).join(", ");
    const axis = numbers(1_000);
    expect(messages(`jobs:\n  - name: a\n    matrix: { axes: { n: [${axis}] } }\n    steps: [${steps}]\n`)).to.include(
      "6000",
    );
  });
});
