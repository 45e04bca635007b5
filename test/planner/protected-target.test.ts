import { expect } from "chai";
import { parseDefinition } from "../../src/definition/parse.ts";
import { isDefaultBranch, isEventOfDefaultBranch } from "../../src/app/triggering/default-branch.ts";
import { asId, type DeliveryId, type PipelineId, type ProjectId, type RunId } from "../../src/domain/ids.ts";
import { planRun } from "../../src/planner/plan-run.ts";
import type { RunOrigin } from "../../src/stores/ports/aggregates.ts";

const TEXT = `
target: { environment: test }
jobs:
  - { name: build, steps: [{ uses: shell, args: { script: make } }] }
  - { name: deploy, target: { environment: live, protected: true }, steps: [{ uses: shell, args: { script: go } }] }
`;

function planned(ref: string, isBuilt?: boolean) {
  const { definition, diagnostics } = parseDefinition(TEXT, "yaml");
  expect(diagnostics).to.deep.equal([]);
  const result = planRun({
    definition: definition!,
    trigger: { kind: "manual", ref, payload: {} },
    variables: [],
    pipelineId: asId<PipelineId>("pl_1"),
    pipelineName: "p",
    projectId: asId<ProjectId>("default"),
    repoUrl: "",
    runId: asId<RunId>("run_1"),
    attempt: 1,
    revisionId: "rev_1",
    ...(isBuilt !== undefined && { defaultBranch: { name: "main", isBuilt } }),
  });
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  const { plan, jobs } = result;
  return { ofDefaultBranch: plan.ofDefaultBranch, refusals: jobs.map(({ refusal }) => refusal) };
}

describe("a job with a protected target", () => {
  it("may run for the default branch, which its run keeps for a rerun", () => {
    expect(planned("main", true)).to.deep.equal({ ofDefaultBranch: true, refusals: [undefined, undefined] });
  });

  for (const [of, ref, isBuilt, text] of [
    ["another ref", "feature", false, "this run is of feature"],
    ["a commit that is only called by the branch", "main", false, "this run is of another commit"],
    ["a branch that is not known", "main", undefined, "this run is of main"],
  ] as const) {
    it(`may not run for ${of}: it is told why, and other jobs run`, () => {
      const { ofDefaultBranch, refusals } = planned(ref, isBuilt);
      expect(ofDefaultBranch).to.equal(undefined);
      expect(refusals[0]).to.equal(undefined);
      expect(refusals[1]).to.include("the target live is protected").and.include(text);
    });
  }
});

describe("a run is of the default branch", () => {
  const pipeline = { defaultBranch: "main" };
  it("by the name of the branch or its full name alone", () => {
    const refs = ["main", "refs/heads/main", "refs/tags/main", "Main", "refs/pull/1/head", ""];
    expect(refs.map((ref) => isDefaultBranch(pipeline, ref))).to.deep.equal([true, true, false, false, false, false]);
  });

  const push = { event: "push", fullRef: "refs/heads/main", tag: "" };
  for (const [is, of, fields, untrusted] of [
    [true, "a push to it", push, false],
    [false, "a push to it that is not known to come from it", push, true],
    [false, "a tag with its name", { event: "tag", fullRef: "refs/tags/main", tag: "main" }, false],
    [false, "a release of a tag with its name", { event: "release", fullRef: "", tag: "main" }, false],
    [false, "a pull request from it", { ...push, event: "pull_request" }, false],
    [true, "an event that names it", { event: "data", fullRef: "", tag: "" }, false],
  ] as const) {
    it(`${is ? "for" : "not for"} ${of}`, () => {
      const event = { deliveryId: asId<DeliveryId>("dlv_1"), index: 0, trigger: "1", sha: "", untrusted };
      const origin = { trigger: { kind: "event", ref: "main", event } } as unknown as RunOrigin;
      expect(isEventOfDefaultBranch(pipeline, origin, { payload: {}, fields })).to.equal(is);
    });
  }
});
