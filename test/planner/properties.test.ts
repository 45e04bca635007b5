import { expect } from "chai";
import fc from "fast-check";
import { countJobs, countSteps } from "../../src/definition/count.ts";
import { parseDefinition } from "../../src/definition/parse.ts";
import { renderSpec } from "../../src/definition/edit/render.ts";
import { asId, jobRunId, type PipelineId, type ProjectId, type RunId } from "../../src/domain/ids.ts";
import { planRun, type PlanResult } from "../../src/planner/plan-run.ts";

const RUN = asId<RunId>("run_01JD0000000000000000000000");

interface Sketch {
  readonly axes: readonly (readonly number[])[];
  /** The jobs before it in the stage that it needs. */
  readonly needs: readonly boolean[];
  readonly steps: number;
}

const sketch: fc.Arbitrary<Sketch> = fc.record({
  axes: fc.array(fc.uniqueArray(fc.nat({ max: 5 }), { minLength: 1, maxLength: 3 }), { maxLength: 2 }),
  needs: fc.array(fc.boolean(), { maxLength: 5 }),
  steps: fc.integer({ min: 1, max: 3 }),
});
const stages = fc.array(fc.array(sketch, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 3 });

/** Jobs are written in reverse, so that needs point both ways in the text. */
function specOf(sketches: readonly (readonly Sketch[])[]): unknown {
  return {
    stages: sketches.map((jobs, stage) => ({
      name: `s${stage}`,
      jobs: jobs
        .map(({ axes, needs, steps }, index) => ({
          name: `j${stage}-${index}`,
          needs: needs.slice(0, index).flatMap((isNeeded, at) => (isNeeded ? [`j${stage}-${at}`] : [])),
          ...(axes.length === 0
            ? {}
            : { matrix: { axes: Object.fromEntries(axes.map((axis, at) => [`a${at}`, axis])) } }),
          env: { REF: "${{ trigger.ref }}" },
          steps: Array.from({ length: steps }, () => ({ uses: "shell", args: { script: "true" } })),
        }))
        .toReversed(),
    })),
  };
}

function plan(spec: unknown, ref = "main"): Extract<PlanResult, { ok: true }> {
  const { definition, diagnostics } = parseDefinition(renderSpec(spec, "yaml"), "yaml");
  if (definition === undefined) throw new Error(JSON.stringify(diagnostics));
  const result = planRun({
    definition,
    runId: RUN,
    attempt: 1,
    revisionId: "rev_1",
    trigger: { kind: "manual", ref, payload: {} },
    variables: [],
    pipelineId: asId<PipelineId>("pl_1"),
    pipelineName: "p",
    projectId: asId<ProjectId>("default"),
    repoUrl: "",
  });
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  expect([countJobs(definition), countSteps(definition)]).to.deep.equal([
    result.plan.jobs.length,
    result.plan.jobs.reduce((sum, { steps }) => sum + steps.length, 0),
  ]);
  return result;
}

describe("every plan", () => {
  it("has one job for each cell, in the order of stages and text, each with its document", () => {
    fc.assert(
      fc.property(stages, (sketches) => {
        const { plan: run, jobs } = plan(specOf(sketches));
        const cells = sketches.flat().map(({ axes }) => axes.reduce((size, axis) => size * axis.length, 1));
        expect(run.jobs.length).to.equal(cells.reduce((sum, count) => sum + count, 0));
        expect(jobs.map(({ steps }) => steps.length)).to.deep.equal(run.jobs.map(({ steps }) => steps.length));
        expect(run.jobs.map(({ index }) => index)).to.deep.equal([...run.jobs.keys()]);
        for (const [index, { stage }] of run.jobs.entries()) {
          expect(stage).to.be.at.least(run.jobs[index - 1]?.stage ?? 0);
        }
        expect(new Set(run.jobs.map(({ name }) => name)).size).to.equal(run.jobs.length);
      }),
    );
  });

  it("has needs and dependents that mirror one another within a stage, without a cycle", () => {
    fc.assert(
      fc.property(stages, (sketches) => {
        const { jobs } = plan(specOf(sketches)).plan;
        for (const { index, stage, needs, dependents } of jobs) {
          for (const need of needs) {
            expect(jobs[need]!.stage).to.equal(stage);
            expect(jobs[need]!.dependents).to.include(index);
          }
          for (const dependent of dependents) expect(jobs[dependent]!.needs).to.include(index);
        }
        const ended = new Set<number>();
        for (let before = -1; before !== ended.size;) {
          before = ended.size;
          for (const { index, needs } of jobs) if (needs.every((need) => ended.has(need))) ended.add(index);
        }
        expect(ended.size).to.equal(jobs.length);
      }),
    );
  });

  it("is the same for the same input, and its ids do not depend on the trigger's data", () => {
    fc.assert(
      fc.property(stages, fc.string(), (sketches, ref) => {
        fc.pre(!ref.includes("\0"));
        const spec = specOf(sketches);
        expect(plan(spec, ref)).to.deep.equal(plan(spec, ref));
        const idsOf = (one: string): readonly string[] =>
          plan(spec, one).plan.jobs.map(({ index, name }) => `${name} ${jobRunId(RUN, index, 1)}`);
        expect(idsOf(ref)).to.deep.equal(idsOf("other"));
      }),
      { numRuns: 50 },
    );
  });

  it("has the trigger's text unchanged", () => {
    fc.assert(
      fc.property(fc.string(), (ref) => {
        fc.pre(!ref.includes("\0"));
        const { jobs } = plan(specOf([[{ axes: [], needs: [], steps: 1 }]]), ref);
        expect(jobs[0]!.env).to.deep.equal([["REF", ref]]);
      }),
    );
  });
});
