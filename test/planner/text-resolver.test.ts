import { expect } from "chai";
import { parseDefinition } from "../../src/definition/parse.ts";
import { asId, type PipelineId, type ProjectId, type RunId } from "../../src/domain/ids.ts";
import type { Pairs } from "../../src/domain/pairs.ts";
import { planRun, type PlanResult } from "../../src/planner/plan-run.ts";

function plan(text: string, ref = "main", variables: Pairs<string> = []): PlanResult {
  const { definition, diagnostics } = parseDefinition(text, "yaml");
  if (definition === undefined) throw new Error(JSON.stringify(diagnostics));
  return planRun({
    definition,
    runId: asId<RunId>("run_1"),
    attempt: 1,
    revisionId: "rev_1",
    trigger: { kind: "manual", ref, payload: {} },
    variables,
    pipelineId: asId<PipelineId>("pl_1"),
    pipelineName: "p",
    projectId: asId<ProjectId>("default"),
    repoUrl: "",
  });
}

function planned(text: string, ref?: string, variables?: Pairs<string>): Extract<PlanResult, { ok: true }> {
  const result = plan(text, ref, variables);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result;
}

function problemsOf(text: string, ref?: string, variables?: Pairs<string>): readonly string[] {
  const result = plan(text, ref, variables);
  if (result.ok) throw new Error("this was planned");
  return result.problems.map(({ code, pointer, line, column }) => `${code} ${pointer} ${line}:${column}`);
}

describe("a planned run", () => {
  it("names a step by the matrix, and by what the step uses when the name is empty", () => {
    const { plan: run, jobs } = planned(
      'jobs:\n  - name: t\n    matrix: { include: [{ n: 20 }, { m: x }] }\n    steps: [{ name: "${{ matrix.n }}", uses: shell, args: { script: x } }]\n',
    );
    expect(run.jobs.map(({ steps }) => steps[0]!.name)).to.deep.equal(["20", "shell"]);
    expect(jobs.map(({ steps }) => steps[0]!.name)).to.deep.equal(["20", "shell"]);
  });

  it("names a step without a name by what it uses, also when two steps use the same", () => {
    const { plan: run, jobs } = planned(
      [
        "source: { repo: https://example.org/team/code.git }",
        "jobs:",
        "  - name: t",
        "    steps:",
        "      - uses: checkout",
        "      - { uses: shell, args: { script: x } }",
        "      - { uses: shell, args: { script: y } }",
        "      - { name: shell, uses: shell, args: { script: z } }",
        "      - { uses: deploy/helm@v2, action: upgrade }",
        "",
      ].join("\n"),
    );
    const names = ["checkout", "shell", "shell", "shell", "deploy/helm@v2"];
    expect(run.jobs[0]!.steps.map(({ name }) => name)).to.deep.equal(names);
    expect(jobs[0]!.steps.map(({ name }) => name)).to.deep.equal(names);
  });

  it("names a step by at most 200 characters of what it uses", () => {
    const { plan: run } = planned(`jobs: [{ name: t, steps: [{ uses: ${"x".repeat(300)}@1 }] }]\n`);
    expect(run.jobs[0]!.steps[0]!.name).to.equal("x".repeat(200));
  });

  it("gives texts to shell, whatever the type of an expression is", () => {
    const { jobs } = planned(
      "variables: { n: 3 }\njobs: [{ name: a, steps: [{ uses: shell, args: { command: echo, args: ['${{ variables.n }}', '${{ fromJSON(''[1]'') }}'] } }] }]\n",
    );
    expect(jobs[0]!.steps[0]!.args).to.deep.equal({ command: "echo", args: ["3", "[1]"] });
  });

  it("has each environment variable once: the job's overrides the pipeline's", () => {
    const { jobs } = planned(
      "env: { A: pipeline, B: pipeline }\njobs: [{ name: a, env: { B: job }, steps: [{ uses: shell, args: { script: x }, env: { B: step } }] }]\n",
    );
    expect(jobs[0]!.env).to.deep.equal([
      ["A", "pipeline"],
      ["B", "job"],
    ]);
    expect(jobs[0]!.steps[0]!.env).to.deep.equal([["B", "step"]]);
  });

  it("warns of an absent value at its place in the text", () => {
    const { warnings } = planned(
      "stages:\n  - name: s\n    jobs:\n      - name: a\n        steps:\n          - { uses: shell, args: { script: x }, env: { A: 'x ${{ variables.nope }}' } }\n",
    );
    expect(
      warnings.map(({ code, severity, pointer, line, column }) => [code, severity, pointer, line, column]),
    ).to.deep.equal([["undefined-value", "warning", "/stages/0/jobs/0/steps/0/env/A", 6, 66]]);
  });

  it("distinguishes variables that differ only in case", () => {
    const { jobs, warnings } = planned(
      "variables: { a: 1, A: 2 }\nenv: { X: '${{ variables.a }}${{ variables.A }}' }\njobs: [{ name: a, steps: [{ uses: shell, args: { script: x } }] }]\n",
    );
    expect([jobs[0]!.env, warnings]).to.deep.equal([[["X", "12"]], []]);
  });
});

describe("a run that cannot be planned", () => {
  const withEnv = (value: string): string =>
    `jobs:\n  - name: a\n    matrix: { axes: { n: [1, 2, 3] } }\n    steps: [{ uses: shell, args: { script: x }, env: { A: ${value} } }]\n`;

  it("reports a problem of every cell once, at its place", () => {
    expect(problemsOf(withEnv('"${{ fromJSON(trigger.ref) }}"'))).to.deep.equal([
      "evaluation-failed /jobs/0/steps/0/env/A 4:59",
    ]);
  });

  it("is refused for a NUL character in a value", () => {
    expect(problemsOf(withEnv('"${{ trigger.ref }}"'), "a\0b")).to.deep.equal([
      "invalid-value /jobs/0/steps/0/env/A 4:59",
    ]);
  });

  it("is refused when its texts are too large with all cells", () => {
    const axis = Array.from({ length: 1_000 }, (_, index) => index).join(", ");
    const large = `jobs: [{ name: a, matrix: { axes: { n: [${axis}] } }, steps: [{ uses: shell, args: { script: "${"x".repeat(100_000)}" } }] }]\n`;
    expect(problemsOf(large)).to.deep.equal(["plan-limit  1:1"]);
    const blown = `jobs: [{ name: a, steps: [{ uses: shell, args: { command: x, args: [${Array.from({ length: 100 }, () => '"${{ variables.v }}"').join(", ")}] } }] }]\n`;
    expect(problemsOf(blown, "", [["v", "x".repeat(900_000)]])).to.deep.equal(["plan-limit  1:1"]);
  });

  it("is refused when its graph is too large", () => {
    const fields = Array.from({ length: 15 }, (_, index) => `k${index}: ["${"x".repeat(200)}"]`).join(", ");
    const axis = Array.from({ length: 1_000 }, (_, index) => index).join(", ");
    const jobs = Array.from(
      { length: 2 },
      (_, index) =>
        `{ name: j${index}, matrix: { axes: { n: [${axis}], ${fields} } }, steps: [{ uses: shell, args: { script: x } }] }`,
    );
    expect(problemsOf(`jobs: [${jobs.join(", ")}]\n`)).to.deep.equal(["plan-limit  1:1"]);
  });
});
