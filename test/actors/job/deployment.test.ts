import { expect } from "chai";
import { deploying } from "../../../actors/job/deployment.ts";
import { reuseJob } from "../../../actors/job/reused.ts";
import { newJob, nextAttempt } from "../../../actors/job/state.ts";
import { parseDefinition } from "../../../src/definition/parse.ts";
import { asId, type PipelineId, type ProjectId, type RunId } from "../../../src/domain/ids.ts";
import type { RunPlan } from "../../../src/domain/plan.ts";
import { planRun } from "../../../src/planner/plan-run.ts";

const RUN_ID = asId<RunId>("run_1");

/** The plan of two jobs, of which the second has this target. */
function planned(environment: string, more = ""): RunPlan {
  const text = `
jobs:
  - { name: first, outputs: { to: "\${{ steps.s.outputs.to }}" }, steps: [{ id: s, uses: shell, args: { script: "true" } }] }
  - name: deploy
    needs: [first]
    ${more}
    target: { environment: ${JSON.stringify(environment)} }
    steps: [{ uses: shell, args: { script: "true" } }]
`;
  const { definition, diagnostics } = parseDefinition(text, "yaml");
  expect(diagnostics.filter(({ severity }) => severity === "error")).to.deep.equal([]);
  const result = planRun({
    definition: definition!,
    trigger: { kind: "manual", ref: "main", payload: {} },
    variables: [],
    pipelineId: asId<PipelineId>("pl_1"),
    pipelineName: "shop",
    projectId: asId<ProjectId>("prj_1"),
    repoUrl: "",
    runId: RUN_ID,
    attempt: 1,
    revisionId: "rev_1",
  });
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.plan;
}

/** Where a job of the plan deploys to. `to`: the output of the first job. */
function environmentOf(plan: RunPlan, to: string, index = 1): string | undefined {
  const facts = () => ({ result: "success", outputs: { to } });
  return deploying(newJob(RUN_ID, plan.jobs[index]!), 5, plan, facts).deployment?.environment;
}

describe("a job that deploys", () => {
  it("is found by its environment, with the project, the pipeline, its name and the time of its start", () => {
    const plan = planned("production");
    const job = deploying(newJob(RUN_ID, plan.jobs[1]!), 5, plan, () => null);
    const place = { projectId: "prj_1", pipelineId: "pl_1", environment: "production" };
    expect(job.deployment).to.deep.equal({ ...place, job: "deploy", startedAt: 5 });
    expect(environmentOf(plan, "", 0), "a job without a target").to.equal(undefined);
  });

  it("has a name whose expressions are evaluated, before the run or when the job starts", () => {
    expect(environmentOf(planned("review/${{ trigger.ref }}"), "")).to.equal("review/main");
    expect(environmentOf(planned("${{ jobs.first.outputs.to }}-${{ pipeline.name }}"), "eu")).to.equal("eu-shop");
    const cells = planned("${{ matrix.region }}", "matrix: { axes: { region: [eu, us] } }");
    expect([1, 2].map((index) => environmentOf(cells, "", index))).to.deep.equal(["eu", "us"]);
  });

  it("has a name of one line that is not too long, or none", () => {
    const plan = planned("${{ jobs.first.outputs.to }}");
    expect(environmentOf(plan, " a\n\u0007 b\u202e ")).to.equal("a b");
    expect(environmentOf(plan, `${"€".repeat(199)}😀`)).to.equal("€".repeat(199));
    expect(environmentOf(plan, "\n ")).to.equal(undefined);
    expect(environmentOf(planned("${{ secrets.REGION }}"), "")).to.equal(undefined);
  });

  it("deploys once in each attempt, and not in a run that reuses it", () => {
    const plan = planned("production");
    const job = deploying(newJob(RUN_ID, plan.jobs[1]!), 5, plan, () => null);
    expect(nextAttempt(job)).not.to.have.property("deployment");
    expect(reuseJob(job, RUN_ID)).not.to.have.property("deployment");
  });
});
