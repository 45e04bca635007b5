import { expect } from "chai";
import { parseDefinition } from "../../src/definition/parse.ts";
import { asId, type PipelineId, type ProjectId, type RunId } from "../../src/domain/ids.ts";
import type { Pairs } from "../../src/domain/pairs.ts";
import { MAX_PLAN_WORK } from "../../src/domain/work/work-budget.ts";
import { dryRun } from "../../src/planner/dry-run.ts";
import { PlanBudget } from "../../src/planner/plan-budget.ts";
import { planRun } from "../../src/planner/plan-run.ts";

/** A list of about 200,000 characters, which each of these expressions reads and writes twice. */
const LIST = JSON.stringify(Array.from({ length: 18_000 }, (_, at) => `item-${at}`));
const NESTED = "toJSON(fromJSON(toJSON(fromJSON(variables.list))))";

function subjectOf(spec: object, variables: Pairs<string> = [["list", LIST]]) {
  const { definition, diagnostics } = parseDefinition(JSON.stringify(spec, null, 1), "json");
  if (definition === undefined) throw new Error(JSON.stringify(diagnostics));
  return {
    definition,
    trigger: { kind: "manual" as const, ref: "main", payload: {} },
    variables,
    pipelineId: asId<PipelineId>("pl_1"),
    pipelineName: "p",
    projectId: asId<ProjectId>("default"),
    repoUrl: "",
    runId: asId<RunId>("run_1"),
    attempt: 1,
    revisionId: "rev_1",
  };
}

const shell = (script: string, more: object = {}) => ({ uses: "shell", args: { script }, ...more });
const variables = { list: "" };
const times = <T>(count: number, make: (at: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, at) => make(at));

/** The places in which nested calls may stand, each in a definition that evaluates them 200 times. */
const PLACES: readonly (readonly [place: string, pointer: RegExp, spec: object])[] = [
  ["arguments", /args\/script$/, { jobs: [{ name: "a", steps: times(200, () => shell(`echo \${{ ${NESTED} }}`)) }] }],
  [
    "conditions of steps",
    /when$/,
    { jobs: [{ name: "a", steps: times(200, () => shell("run", { when: `${NESTED} == 'x'` })) }] },
  ],
  [
    "conditions of jobs",
    /when$/,
    { jobs: times(200, (at) => ({ name: `j${at}`, when: `${NESTED} == 'x'`, steps: [shell("run")] })) },
  ],
  [
    "outputs",
    /outputs\/o$/,
    {
      jobs: times(200, (at) => ({
        name: `j${at}`,
        outputs: { o: `\${{ contains(${NESTED}, steps.s.outputs.x) }}` },
        steps: [shell("run", { id: "s" })],
      })),
    },
  ],
  [
    "cells of a matrix",
    /args\/script$/,
    {
      jobs: [{ name: "a", matrix: { axes: { n: times(200, (at) => at) } }, steps: [shell(`echo \${{ ${NESTED} }}`)] }],
    },
  ],
  [
    "axes",
    /axes\/n$/,
    {
      jobs: times(200, (at) => ({
        name: `j${at}`,
        matrix: { axes: { n: `\${{ fromJSON(format('[{0}]', contains(${NESTED}, 'x'))) }}` } },
        steps: [shell("run")],
      })),
    },
  ],
];

describe("the budget of a plan", () => {
  for (const [place, pointer, spec] of PLACES) {
    it(`refuses 200 nested expressions over a value of 200 kB in ${place}`, () => {
      const budget = new PlanBudget();
      const outcome = planRun(subjectOf({ variables, ...spec }), budget);
      if (outcome.ok) throw new Error("the plan is made");
      expect(outcome.problems).to.have.length(1);
      const [problem] = outcome.problems;
      expect(problem).to.include({ code: "plan-limit" });
      expect(problem!.pointer).to.match(pointer);
      expect(problem!.line, "line").to.be.greaterThan(1);
      expect(problem!.column, "column").to.be.greaterThan(1);
      expect(problem!.message)
        .to.contain(`may cost ${MAX_PLAN_WORK} characters of work`)
        .and.to.match(/the dearest one, at line \d+, column \d+, costs \d{7,} or more \(work with smaller values/);
      // One evaluation more than the budget allows, and nothing after it.
      expect(budget.used).to.be.within(MAX_PLAN_WORK, MAX_PLAN_WORK + 16_777_216);
    });
  }

  it("refuses such a definition in a dry run, too", () => {
    const budget = new PlanBudget();
    const outcome = dryRun(
      subjectOf({
        variables,
        jobs: [{ name: "a", steps: times(200, () => shell("run", { when: `${NESTED} == 'x'` })) }],
      }),
      budget,
    );
    if (outcome.ok) throw new Error("the plan is made");
    expect(outcome.problems.map(({ code }) => code)).to.deep.equal(["plan-limit"]);
    expect(budget.used).to.be.below(MAX_PLAN_WORK + 16_777_216);
  });

  it("is the same for every plan of the same input", () => {
    const subject = subjectOf({ variables, ...PLACES[0]![2] });
    const used = times(2, () => {
      const budget = new PlanBudget();
      planRun(subject, budget);
      return budget.used;
    });
    expect(used[1]).to.equal(used[0]);
  });

  it("is far above what a definition of 5,000 steps needs", () => {
    const jobs = times(500, (at) => ({
      name: `job-${at}`,
      when: "variables.list != 'no'",
      env: { NAME: "${{ pipeline.name }}" },
      steps: times(10, () => shell("echo ${{ format('{0} {1}', run.id, variables.list) }}", { when: "always()" })),
    }));
    const budget = new PlanBudget();
    expect(planRun(subjectOf({ variables: { list: "some words" }, jobs }, []), budget).ok).to.equal(true);
    expect(budget.used).to.be.below(MAX_PLAN_WORK / 8);
  });
});

describe("the search for constant conditions", () => {
  it("does not evaluate what is costly", () => {
    let costly = "'0123456789'";
    for (let depth = 0; depth < 20; depth++) costly = `format('{0}{0}', ${costly})`;
    const steps = times(100, () => shell("run", { when: `${costly} == 'x'` }));
    const { definition, diagnostics } = parseDefinition(JSON.stringify({ jobs: [{ name: "a", steps }] }), "json");
    expect(definition).not.to.equal(undefined);
    expect(diagnostics).to.deep.equal([]);
  });
});
