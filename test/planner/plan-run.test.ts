import { expect } from "chai";
import fc from "fast-check";
import { expandMatrix } from "../../src/definition/matrix.ts";
import { parseDefinition } from "../../src/definition/parse.ts";
import { asId, newId, type PipelineId, type ProjectId, type RunId } from "../../src/domain/ids.ts";
import type { Pairs } from "../../src/domain/pairs.ts";
import type { TriggerContext } from "../../src/planner/plan-contexts.ts";
import { planRun, type PlanResult } from "../../src/planner/plan-run.ts";

function plan(
  text: string,
  variables: Pairs<string> = [],
  ref = "main",
  ofTrigger: Pick<TriggerContext, "uploads"> = {},
): Extract<PlanResult, { ok: true }> {
  const { definition, diagnostics } = parseDefinition(text, "yaml");
  if (definition === undefined) throw new Error(JSON.stringify(diagnostics));
  const planned = planRun({
    definition,
    runId: asId<RunId>("run_1"),
    attempt: 1,
    revisionId: "rev_1",
    trigger: { kind: "manual", ref, payload: {}, ...ofTrigger },
    variables,
    pipelineId: asId<PipelineId>("pl_1"),
    pipelineName: "p",
    projectId: asId<ProjectId>("default"),
    repoUrl: "",
  });
  if (!planned.ok) throw new Error(JSON.stringify(planned.problems));
  return planned;
}

const withEnv = (env: string, more = ""): string =>
  `${more}jobs:\n  - name: a\n    steps: [{ uses: shell, args: { script: 'true' }, env: ${env} }]\n`;

describe("the planner", () => {
  it("puts trigger, variables and run into env and args", () => {
    const { jobs } = plan(
      "variables: { who: world, n: 3 }\njobs:\n  - name: a\n    env: { REF: '${{ trigger.ref }}', N: '${{ variables.n }}' }\n    steps:\n      - uses: shell\n        args: { command: echo, args: ['hello ${{ variables.who }}', '${{ run.id }}'] }\n",
      [["who", "moon"]],
      "refs/heads/x",
    );
    expect(jobs[0]!.env).to.deep.equal([
      ["REF", "refs/heads/x"],
      ["N", "3"],
    ]);
    expect(jobs[0]!.steps[0]!.args).to.deep.equal({ command: "echo", args: ["hello moon", "run_1"] });
  });

  it("reads the uploads that the trigger gives, and takes one that it does not give as null", () => {
    const text = withEnv(
      "{ A: '${{ trigger.uploads.A.name }} ${{ trigger.uploads.A.size }}', B: '${{ trigger.uploads.B == null }}' }",
    );
    const upload = { uploadId: newId("upl"), name: "${{ run.id }}.bin", size: 3, sha256: "0".repeat(64) };
    expect(plan(text, [], "main", { uploads: [["A", upload]] }).jobs[0]!.steps[0]!.env).to.deep.equal([
      ["A", "${{ run.id }}.bin 3"],
      ["B", "true"],
    ]);
    expect(plan(text).jobs[0]!.steps[0]!.env).to.deep.equal([
      ["A", " "],
      ["B", "true"],
    ]);
  });

  it("gives a job the permissions of its own, else those of the pipeline", () => {
    const { jobs } = plan(
      "permissions: { api: write }\ntarget: { environment: live }\njobs:\n" +
        "  - { name: a, steps: [{ uses: shell, args: { script: 'true' } }] }\n" +
        "  - { name: b, permissions: { idToken: true }, steps: [{ uses: shell, args: { script: 'true' } }] }\n" +
        "  - { name: c, permissions: {}, steps: [{ uses: shell, args: { script: 'true' } }] }\n",
    );
    expect(jobs.map(({ permissions }) => permissions)).to.deep.equal([
      { idToken: false, api: "write", environment: "live" },
      { idToken: true, api: null, environment: "live" },
      undefined,
    ]);
  });

  it("refuses an environment with expressions for a job with identity tokens, and takes it for others", () => {
    const text = (permissions: string) =>
      `jobs:\n  - name: a\n    permissions: ${permissions}\n    target: { environment: "\${{ variables.e }}" }\n    steps: [{ uses: shell, args: { script: 'true' } }]\n`;
    expect(() => plan(text("{ idToken: true }"))).to.throw("/jobs/0/target/environment");
    expect(plan(text("{ api: none }")).jobs[0]!.permissions).to.equal(undefined);
    expect(plan(text("{ api: read }")).jobs[0]!.permissions).to.include({ api: "read" });
  });

  it("never evaluates the text of a value", () => {
    const { jobs } = plan(
      withEnv("{ A: '${{ trigger.ref }} ${{ variables.v }}' }"),
      [["v", "${{ run.id }}"]],
      "${{ run.id }}",
    );
    expect(jobs[0]!.steps[0]!.env).to.deep.equal([["A", "${{ run.id }} ${{ run.id }}"]]);
  });

  it("takes an absent value as empty, with one warning", () => {
    const { jobs, warnings } = plan(withEnv("{ A: '[${{ trigger.nope }}]', B: '${{ trigger.nope }}' }"));
    expect(jobs[0]!.steps[0]!.env).to.deep.equal([
      ["A", "[]"],
      ["B", ""],
    ]);
    expect(warnings.map(({ code }) => code)).to.deep.equal(["undefined-value"]);
  });

  it("keeps the type of an argument that is one expression", () => {
    const { jobs } = plan(
      "jobs:\n  - name: a\n    matrix: { axes: { n: [1], on: [true] } }\n    steps: [{ uses: shell, args: { script: x }, env: { N: '${{ matrix.n }}', O: '${{ matrix.on }}' } }]\n",
    );
    expect(jobs[0]!.steps[0]!.env).to.deep.equal([
      ["N", "1"],
      ["O", "true"],
    ]);
  });

  it("reports an expression that cannot be evaluated", () => {
    const { definition } = parseDefinition(withEnv('{ A: "${{ fromJSON(trigger.ref) }}" }'), "yaml");
    const planned = planRun({
      definition: definition!,
      runId: asId<RunId>("run_1"),
      attempt: 1,
      revisionId: "rev_1",
      trigger: { kind: "manual", ref: "", payload: {} },
      variables: [],
      pipelineId: asId<PipelineId>("pl_1"),
      pipelineName: "p",
      projectId: asId<ProjectId>("default"),
      repoUrl: "",
    });
    expect(planned).to.have.nested.property("problems[0].pointer", "/jobs/0/steps/0/env/A");
  });

  it("links needs and dependents over matrix cells, within their stage", () => {
    const { plan: planned } = plan(
      "stages:\n  - name: one\n    jobs:\n      - { name: t, matrix: { axes: { n: [1, 2] } }, steps: [{ uses: shell, args: { script: x } }] }\n      - { name: r, needs: t, steps: [{ uses: shell, args: { script: x } }] }\n  - name: two\n    jobs: [{ name: d, steps: [{ uses: shell, args: { script: x } }] }]\n",
    );
    expect(
      planned.jobs.map(({ name, stage, needs, dependents }) => ({ name, stage, needs, dependents })),
    ).to.deep.equal([
      { name: "t (n=1)", stage: 0, needs: [], dependents: [2] },
      { name: "t (n=2)", stage: 0, needs: [], dependents: [2] },
      { name: "r", stage: 0, needs: [0, 1], dependents: [] },
      { name: "d", stage: 1, needs: [], dependents: [] },
    ]);
  });

  it("makes the same plan from the same input", () => {
    const text = withEnv("{ A: '${{ toJSON(variables) }}' }", "variables: { b: 1, a: 2 }\n");
    expect(plan(text)).to.deep.equal(plan(text));
  });
});

describe("a matrix", () => {
  const values = fc.uniqueArray(fc.nat({ max: 9 }), { minLength: 1, maxLength: 4 });
  const axes = fc.uniqueArray(fc.tuple(fc.constantFrom("a", "b", "c"), values), {
    selector: ([name]) => name,
    minLength: 1,
  });

  it("has as many cells as the product of its axes, each once", () => {
    fc.assert(
      fc.property(axes, (given) => {
        const cells = expandMatrix({ axes: given, include: [], exclude: [] }).map((cell) => JSON.stringify(cell));
        expect(cells.length).to.equal(given.reduce((size, [, list]) => size * list.length, 1));
        expect(new Set(cells).size).to.equal(cells.length);
      }),
    );
  });

  it("has no excluded cell", () => {
    fc.assert(
      fc.property(axes, fc.nat({ max: 9 }), (given, value) => {
        const [name] = given[0]!;
        const cells = expandMatrix({ axes: given, include: [], exclude: [[[name, value]]] });
        expect(cells.some((cell) => cell.some(([key, held]) => key === name && held === value))).to.equal(false);
      }),
    );
  });

  it("has cells that an include extends or adds", () => {
    const base = { axes: [["os", ["linux", "mac"]]] as const, exclude: [] };
    expect(
      expandMatrix({
        ...base,
        include: [
          [
            ["os", "mac"],
            ["beta", true],
          ],
        ],
      }),
    ).to.deep.equal([
      [["os", "linux"]],
      [
        ["os", "mac"],
        ["beta", true],
      ],
    ]);
    expect(expandMatrix({ ...base, include: [[["os", "bsd"]]] })).to.have.length(3);
    expect(expandMatrix({ ...base, include: [[["color", "red"]]] })).to.deep.equal([
      [
        ["os", "linux"],
        ["color", "red"],
      ],
      [
        ["os", "mac"],
        ["color", "red"],
      ],
    ]);
  });
});
