import { expect } from "chai";
import { parseDefinition } from "../../src/definition/parse.ts";
import { asId, type PipelineId, type ProjectId, type RunId } from "../../src/domain/ids.ts";
import type { JobSpec } from "../../src/domain/plan.ts";
import { dryRun } from "../../src/planner/dry-run.ts";
import { DeferredTextError, resolveDeferred } from "../../src/planner/deferred-texts.ts";
import { planRun } from "../../src/planner/plan-run.ts";

const nothing = () => null;

function planned(text: string) {
  const { definition, diagnostics } = parseDefinition(text, "yaml");
  if (definition === undefined) throw new Error(JSON.stringify(diagnostics));
  expect(diagnostics).to.deep.equal([]);
  const subject = {
    definition,
    trigger: { kind: "manual", ref: "main", payload: {} },
    variables: [],
    pipelineId: asId<PipelineId>("pl_1"),
    pipelineName: "p",
    projectId: asId<ProjectId>("default"),
    repoUrl: "",
  } as const;
  return {
    run: planRun({ ...subject, runId: asId<RunId>("run_1"), attempt: 1, revisionId: "rev_1" }),
    dry: dryRun(subject),
  };
}

function specsOf(text: string): readonly JobSpec[] {
  const { run } = planned(text);
  if (!run.ok) throw new Error(JSON.stringify(run.problems));
  return run.jobs;
}

const job = (more: string, step = ""): string =>
  `jobs:\n  - name: a\n${more}    steps:\n      - { uses: shell, args: { script: run }${step} }\n      - { uses: shell, args: { script: other } }\n`;

describe("secrets in a plan", () => {
  it("stay as they are written, and each step has the names that its texts read", () => {
    const [spec] = specsOf(
      `env: { A: "\${{ secrets.ONE }}", B: "\${{ secrets.HIDDEN }}" }\n${job(
        '    env: { B: "${{ trigger.ref }}:${{ secrets.TWO }}" }\n',
        ', env: { C: "${{ secrets.THREE || secrets.ONE }}", D: plain }',
      )}`,
    );
    expect(spec!.env).to.deep.equal([
      ["A", "${{ secrets.ONE }}"],
      ["B", "${{ 'main' }}:${{ secrets.TWO }}"],
    ]);
    expect(spec!.steps.map(({ secrets }) => secrets)).to.deep.equal([
      ["ONE", "THREE", "TWO"],
      ["ONE", "TWO"],
    ]);
  });

  it("stay those of the arguments in a step with artifacts", () => {
    const [spec] = specsOf(
      'jobs:\n  - name: a\n    steps:\n      - { uses: shell, args: { script: "echo ${{ secrets.X }}" }, artifacts: [{ name: dist, paths: [dist] }] }\n',
    );
    expect(spec!.steps[0]).to.deep.include({ secrets: ["X"], late: ["/args/script"] });
  });

  it("are those that are left after the known values are put in", () => {
    const [one, two] = specsOf(
      job(
        "    matrix: { axes: { v: [a, b] } }\n    env: { K: \"${{ secrets[format('KEY_{0}', matrix.v)] }}\", L: \"${{ matrix.v == 'a' && secrets.L }}\" }\n",
      ),
    );
    expect([one!.steps[0]!.secrets, two!.steps[0]!.secrets]).to.deep.equal([["KEY_a", "L"], ["KEY_b"]]);
  });

  it("cannot be read as a whole or by a deferred name, in a run and in a dry run", () => {
    for (const text of ["toJSON(secrets)", "join(secrets.*, ',')", "secrets[jobs.z.outputs.name]"]) {
      const { run, dry } = planned(
        `jobs:\n  - { name: z, outputs: { name: x }, steps: [{ uses: shell, args: { script: x } }] }\n  - name: a\n    needs: [z]\n    env: { K: "\${{ ${text} }}" }\n    steps: [{ uses: shell, args: { script: x } }]\n`,
      );
      for (const outcome of [run, dry]) {
        if (outcome.ok) throw new Error(`${text} was planned`);
        expect(
          outcome.problems.map(({ code, pointer }) => `${code} ${pointer}`),
          text,
        ).to.deep.equal(["evaluation-failed /jobs/1/env/K"]);
      }
    }
  });

  it("are put into the texts of a step, and are never evaluated as expressions", () => {
    const [spec] = specsOf(
      `env: { A: "\${{ secrets.ONE }}" }\n${job("", ', env: { C: "${{ env.A }}!${{ fromJSON(secrets.TWO).user }}" }')}`,
    );
    const secrets = { ONE: "${{ secrets.TWO }} '}}'", TWO: '{ "user": "u" }' };
    const step = resolveDeferred(spec!, spec!.steps[0]!, nothing, secrets);
    expect(step.jobEnv).to.deep.equal([["A", secrets.ONE]]);
    expect(step.env).to.deep.equal([["C", `${secrets.ONE}!u`]]);
  });

  it("cannot be read by conditions and outputs through the environment", () => {
    const { run } = planned(
      `${job(
        '    env: { A: "${{ secrets.ONE }}", B: plain }\n    outputs: { a: "${{ env.A }}", b: "${{ env.B }}" }\n',
        ", when: env.A != ''",
      )}`,
    );
    if (run.ok) throw new Error("this was planned");
    expect(run.problems.map(({ code, pointer }) => `${code} ${pointer}`)).to.deep.equal([
      "evaluation-failed /jobs/0/outputs/a",
      "evaluation-failed /jobs/0/steps/0/when",
    ]);
  });

  it("are not in the message about a text that cannot be evaluated", () => {
    const [spec] = specsOf(job("", ', env: { C: "${{ fromJSON(secrets.TWO).user }}" }'));
    const values = ["hunter22 is no JSON", '{"hunter22": nothing}', `"${"hunter22".repeat(10)}`];
    for (const TWO of values) {
      expect(() => resolveDeferred(spec!, spec!.steps[0]!, nothing, { TWO }))
        .to.throw(DeferredTextError, "the env variable C cannot be evaluated")
        .with.property("message")
        .that.does.not.include("hunter");
    }
  });
});
