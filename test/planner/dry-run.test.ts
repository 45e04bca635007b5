import { expect } from "chai";
import { parseDefinition } from "../../src/definition/parse.ts";
import { asId, type PipelineId, type ProjectId } from "../../src/domain/ids.ts";
import type { Pairs } from "../../src/domain/pairs.ts";
import type { Json } from "../../src/expressions/context-data.ts";
import { dryRun, type DryRunResult } from "../../src/planner/dry-run.ts";

interface Given {
  readonly variables?: Pairs<string>;
  readonly ref?: string;
  readonly kind?: "manual" | "cron" | "event";
  readonly payload?: Readonly<Record<string, Json>>;
}

function run(text: string, { variables = [], ref = "main", kind = "manual", payload = {} }: Given = {}): DryRunResult {
  const { definition, diagnostics } = parseDefinition(text, "yaml");
  if (definition === undefined) throw new Error(JSON.stringify(diagnostics));
  return dryRun({
    definition,
    trigger: { kind, ref, payload },
    variables,
    pipelineId: asId<PipelineId>("pl_1"),
    pipelineName: "p",
    projectId: asId<ProjectId>("default"),
    repoUrl: null,
  });
}

/** A line for every stage, job and step, with its verdict. */
function lines(text: string, given?: Given): readonly string[] {
  const outcome = run(text, given);
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.problems));
  const said = ({ verdict }: { readonly verdict: { outcome: string; decidedBy: string; certain: boolean } }): string =>
    `${verdict.outcome}${verdict.certain ? " surely" : ""}: ${verdict.decidedBy}`;
  return outcome.plan.stages.flatMap((stage) => [
    `${stage.name} ${said(stage)}`,
    ...stage.jobs.flatMap((job) => [
      `  ${job.name} ${said(job)}`,
      ...job.steps.map((step) => `    ${step.name} ${said(step)}`),
    ]),
  ]);
}

function problems(text: string, given?: Given): readonly string[] {
  const outcome = run(text, given);
  return outcome.ok ? [] : outcome.problems.map(({ code, pointer }) => `${outcome.fault} ${code} ${pointer}`);
}

const SHELL = "uses: shell, args: { script: x }";
const job = (rest: string): string => `jobs:\n  - name: a\n${rest}    steps: [{ name: s, ${SHELL} }]\n`;

describe("the dry run", () => {
  it("runs jobs and steps without conditions, as long as nothing fails", () => {
    expect(lines(job(""))).to.deep.equal(["default runs: success()", "  a runs: success()", "    s runs: success()"]);
  });

  it("skips a job whose condition is false and all its steps, with the part that decided", () => {
    const text = job("    when: trigger.ref == 'main' && (variables.env == 'prod' || false)\n");
    expect(lines(text, { variables: [["env", "test"]] }).slice(1)).to.deep.equal([
      "  a skipped surely: variables.env == 'prod' || false",
      "    s skipped surely: variables.env == 'prod' || false",
    ]);
  });

  it("says that a job for failures is skipped only while nothing fails", () => {
    expect(lines(job("    when: failure()\n"))[1]).to.equal("  a skipped: failure()");
    expect(lines(job("    when: always()\n"))[1]).to.equal("  a runs surely: always()");
    expect(lines(job("    when: always() && trigger.ref == 'x'\n"))[1]).to.equal(
      "  a skipped surely: trigger.ref == 'x'",
    );
  });

  it("shows each condition in full", () => {
    const outcome = run(job("    when: trigger.ref == 'main' || failure()\n"));
    expect(outcome).to.have.nested.property("plan.stages[0].jobs[0].when", "trigger.ref == 'main' || failure()");
    const implied = run(job("    when: trigger.ref == 'main'\n"));
    expect(implied).to.have.nested.property("plan.stages[0].jobs[0].when", "success() && trigger.ref == 'main'");
  });

  it("leaves a condition open that reads an output, and names the output", () => {
    const text = `jobs:
  - name: a
    outputs: { go: "\${{ steps.s.outputs.go }}" }
    steps:
      - { id: s, name: s, ${SHELL} }
      - { name: t, when: steps.s.outputs.go == 'yes', ${SHELL} }
  - name: b
    needs: a
    when: jobs.a.outputs.go == 'yes' && jobs.a.result == 'success'
    steps: [{ name: u, ${SHELL} }]
`;
    expect(lines(text).slice(1)).to.deep.equal([
      "  a runs: success()",
      "    s runs: success()",
      "    t unknown: steps.s.outputs.go == 'yes'",
      "  b unknown: jobs.a.outputs.go == 'yes'",
      "    u unknown: jobs.a.outputs.go == 'yes'",
    ]);
  });

  it("skips a stage as a whole", () => {
    const text = `stages:\n  - name: one\n    when: trigger.kind == 'cron'\n    jobs: [{ name: a, when: always(), steps: [{ name: s, ${SHELL} }] }]\n`;
    expect(lines(text)).to.deep.equal([
      "one skipped surely: trigger.kind == 'cron'",
      "  a skipped surely: trigger.kind == 'cron'",
      "    s skipped surely: trigger.kind == 'cron'",
    ]);
    expect(lines(text, { kind: "cron" })[0]).to.equal("one runs: success() && trigger.kind == 'cron'");
  });

  it("decides each cell of a matrix by itself", () => {
    const text = job("    matrix: { axes: { os: [linux, mac] } }\n    when: matrix.os == 'mac'\n");
    expect(lines(text).filter((line) => line.startsWith("  a"))).to.deep.equal([
      "  a (os=linux) skipped surely: matrix.os == 'mac'",
      "  a (os=mac) runs: success() && matrix.os == 'mac'",
    ]);
  });

  it("makes the cells of an axis that the trigger gives", () => {
    const text = job("    matrix: { axes: { v: '${{ fromJSON(variables.versions) }}' } }\n");
    expect(lines(text, { variables: [["versions", '["1","2"]']] }).filter((line) => /^ {2}a/.test(line))).to.deep.equal(
      ["  a (v=1) runs: success()", "  a (v=2) runs: success()"],
    );
    expect(problems(text, { variables: [["versions", "[]"]] })).to.deep.equal([
      "definition invalid-matrix /jobs/0/matrix/axes/v",
    ]);
    expect(problems(text, { variables: [["versions", '["1","1"]']] })).to.deep.equal([
      "definition invalid-matrix /jobs/0/matrix/axes/v",
    ]);
    expect(problems(text, { variables: [["versions", "{"]] })).to.deep.equal([
      "definition evaluation-failed /jobs/0/matrix/axes/v",
    ]);
    const many = JSON.stringify(Array.from({ length: 1_025 }, (_, index) => index));
    expect(problems(text, { variables: [["versions", many]] })).to.deep.equal([
      "definition matrix-limit /jobs/0/matrix",
    ]);
  });

  it("shows one job for deferred cells", () => {
    const text = `jobs:
  - { name: a, outputs: { list: "\${{ steps.s.outputs.l }}" }, steps: [{ id: s, name: s, ${SHELL} }] }
  - name: b
    needs: [a]
    matrix: { axes: { v: "\${{ fromJSON(jobs.a.outputs.list) }}" } }
    when: matrix.v != 'x'
    steps: [{ name: "t \${{ run.attempt }}", ${SHELL} }]
`;
    const outcome = run(text);
    expect(outcome).to.have.nested.property("plan.stages[0].jobs[1].cellsFrom", "${{ fromJSON(jobs.a.outputs.list) }}");
    expect(outcome).to.have.nested.property("plan.stages[0].jobs[1].verdict.outcome", "unknown");
    expect(outcome).to.have.nested.property("plan.stages[0].jobs[1].steps[0].name", "t 1");
  });

  it("reads the environment as far as it is known", () => {
    const text = `env: { A: "\${{ trigger.ref }}", B: "\${{ secrets.b }}" }\njobs:\n  - name: a\n    steps:\n      - { name: s, when: env.A == 'x', ${SHELL} }\n      - { name: t, when: env.B == 'x', ${SHELL} }\n`;
    expect(lines(text).slice(2)).to.deep.equal(["    s skipped surely: env.A == 'x'", "    t unknown: env.B == 'x'"]);
  });

  it("takes a value that looks like an expression as a text", () => {
    const text = `env: { A: "\${{ trigger.ref }}" }\njobs:\n  - name: a\n    steps:\n      - { name: s, when: env.A == 'x', ${SHELL} }\n`;
    const ref = "${{ steps.t.outputs.v }}";
    expect(lines(text, { ref }).slice(2)).to.deep.equal(["    s skipped surely: env.A == 'x'"]);
  });

  it("reads the payload of an event, by its fields and as a whole", () => {
    const text = job("    when: trigger.number == 7 && trigger.payload.number == 7\n");
    expect(lines(text, { kind: "event", payload: { number: 7 } })[1]).to.match(/runs/);
    expect(lines(text, { kind: "event", payload: { number: 8 } })[1]).to.match(/skipped surely: trigger.number == 7/);
  });

  describe("of a pipeline with inputs", () => {
    const text =
      "triggers: { manual: { inputs: { env: { type: choice, options: [test, prod], required: true }, n: { type: number, default: 2 }, dry: { type: boolean } } } }\n" +
      job("    when: variables.env == 'prod' && variables.n > 1 && !variables.dry\n");

    it("requires the required inputs of manual triggers only", () => {
      expect(problems(text)).to.deep.equal(["trigger invalid-input /variables/env"]);
      expect(problems(text, { kind: "cron" })).to.deep.equal([]);
    });

    it("refuses every value that does not fit its input", () => {
      const variables = [
        ["env", "moon"],
        ["n", "two"],
        ["dry", "yes"],
      ] as const;
      expect(problems(text, { variables })).to.deep.equal([
        "trigger invalid-input /variables/env",
        "trigger invalid-input /variables/n",
        "trigger invalid-input /variables/dry",
      ]);
    });

    it("gives expressions values of their types", () => {
      expect(lines(text, { variables: [["env", "prod"]] })[1]).to.match(/runs/);
      expect(
        lines(text, {
          variables: [
            ["env", "prod"],
            ["n", "1"],
          ],
        })[1],
      ).to.match(/skipped surely: variables.n > 1/);
      expect(
        lines(text, {
          variables: [
            ["env", "prod"],
            ["dry", "true"],
          ],
        })[1],
      ).to.match(/skipped surely: !variables.dry/);
    });
  });

  it("reports texts that cannot be evaluated as a trigger would, and warns of absent values", () => {
    const text = job("    env: { A: '${{ fromJSON(trigger.ref) }}' }\n");
    expect(problems(text, { ref: "{" })).to.deep.equal(["definition evaluation-failed /jobs/0/env/A"]);
    const outcome = run(job("    env: { A: '${{ trigger.title }}' }\n"));
    expect(outcome).to.have.nested.property("plan.warnings[0].code", "undefined-value");
  });
});
