import { expect } from "chai";
import { parseDefinition } from "../../src/definition/parse.ts";
import { asId, type PipelineId, type ProjectId, type RunId } from "../../src/domain/ids.ts";
import { completeCheckout } from "../../src/planner/checkout-args.ts";
import { planRun, type PlanResult } from "../../src/planner/plan-run.ts";

const SOURCE = "https://git.example/team/code.git";

function plan(text: string, { ref = "main", repoUrl = "" as string | null } = {}): PlanResult {
  const { definition, diagnostics } = parseDefinition(text, "yaml");
  if (definition === undefined) throw new Error(JSON.stringify(diagnostics));
  return planRun({
    definition,
    runId: asId<RunId>("run_1"),
    attempt: 1,
    revisionId: "rev_1",
    trigger: { kind: "manual", ref, payload: {} },
    variables: [["v", "${{ run.id }}"]],
    pipelineId: asId<PipelineId>("pl_1"),
    pipelineName: "p",
    projectId: asId<ProjectId>("default"),
    repoUrl,
  });
}

function argsOf(text: string, options?: Parameters<typeof plan>[1]): unknown {
  const result = plan(text, options);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.jobs[0]!.steps[0]!.args;
}

const checkout = (args: string, source: string, more = ""): string =>
  `${source}\njobs:\n  - name: a\n${more}    steps: [{ uses: checkout, args: ${args} }]\n`;

describe("a planned checkout", () => {
  it("takes the repository from the source, and the ref from the trigger", () => {
    expect(argsOf(checkout("{}", `source: { repo: ${SOURCE} }`), { ref: "v2" })).to.deep.equal({
      repo: SOURCE,
      ref: "v2",
    });
    const whole = `source: { repo: ${SOURCE}, branch: dev, depth: 0, submodules: recursive }`;
    expect(argsOf(checkout("{}", whole))).to.deep.equal({
      repo: SOURCE,
      branch: "dev",
      depth: 0,
      submodules: "recursive",
    });
  });

  it("prefers its own arguments to the source, and the job's source to the pipeline's", () => {
    const source = `source: { repo: ${SOURCE}, branch: dev, depth: 0 }`;
    expect(argsOf(checkout("{ ref: v1, depth: 3, path: in }", source))).to.deep.equal({
      repo: SOURCE,
      ref: "v1",
      depth: 3,
      path: "in",
    });
    const own = "    source: { repo: 'https://other.example/x.git', ref: '${{ variables.v }}' }\n";
    expect(argsOf(checkout("{}", source, own))).to.deep.equal({
      repo: "https://other.example/x.git",
      ref: "${{ run.id }}",
    });
  });

  it("with a repository of its own takes no ref and no credential from the source", () => {
    const source = `source: { repo: ${SOURCE}, ref: v1, depth: 0, credential: TOKEN }`;
    const args = "{ repo: 'https://other.example/x.git' }";
    expect(argsOf(checkout(args, source))).to.deep.equal({ repo: "https://other.example/x.git" });
  });

  it("evaluates the source for each cell of a matrix", () => {
    const result = plan(
      checkout(
        "{}",
        "",
        `    source: { repo: ${SOURCE}, branch: "\${{ matrix.b }}" }\n    matrix: { axes: { b: [x, y] } }\n`,
      ),
    );
    if (!result.ok) throw new Error(JSON.stringify(result.problems));
    expect(result.jobs.map(({ steps }) => steps[0]!.args["branch"])).to.deep.equal(["x", "y"]);
  });

  it("reads the secret that the credential names like any text that reads a secret", () => {
    const code = { repo: SOURCE, credential: "TOKEN" };
    expect(completeCheckout({}, code)).to.include({ credential: "${{ secrets.TOKEN }}" });
    expect(completeCheckout({ credential: "OWN" }, code)).to.include({ credential: "${{ secrets.OWN }}" });
    expect(completeCheckout({ repo: SOURCE }, code)).not.to.have.property("credential");
  });

  it("takes the repository of the pipeline, unchanged, when nothing else names one", () => {
    expect(argsOf(checkout("{}", ""), { repoUrl: "https://x/${{ run.id }}.git" })).to.deep.equal({
      repo: "https://x/${{ run.id }}.git",
      ref: "main",
    });
    expect(argsOf(checkout("{}", ""), { repoUrl: null })).to.deep.equal({ ref: "main" });
    expect(argsOf(checkout("{ repo: '${{ trigger.none }}' }", ""), { repoUrl: SOURCE })).to.deep.equal({
      repo: SOURCE,
    });
  });

  it("of the repository that the definition is in takes the commit of the run and the pipeline's credential", () => {
    const own = { url: SOURCE, commit: "c".repeat(40), credential: "CODE" };
    const taken = { ref: own.commit, credential: "${{ secrets.CODE }}" };
    expect(completeCheckout({}, null, own)).to.deep.equal(taken);
    expect(completeCheckout({}, { repo: SOURCE }, own)).to.deep.equal({ repo: SOURCE, ...taken });
    expect(completeCheckout({ repo: SOURCE }, null, own)).to.deep.equal({ repo: SOURCE, ...taken });
    expect(completeCheckout({ ref: "HEAD" }, null, own)).to.deep.equal({ ...taken, ref: "HEAD" });
    expect(completeCheckout({ credential: "OWN" }, { repo: SOURCE, branch: "b" }, own)).to.deep.equal({
      repo: SOURCE,
      branch: "b",
      credential: "${{ secrets.OWN }}",
    });
    expect(completeCheckout({ repo: "https://x/y" }, null, own)).to.deep.equal({ repo: "https://x/y" });
    expect(completeCheckout({}, { repo: "https://x/y" }, own)).to.deep.equal({
      repo: "https://x/y",
      ref: "${{ trigger.ref }}",
    });
  });

  it("is refused when nothing names a repository", () => {
    const result = plan(checkout("{ path: in }", ""));
    expect(result.ok).to.equal(false);
    expect(result.ok ? [] : result.problems).to.deep.equal([
      {
        code: "invalid-args",
        pointer: "/jobs/0/steps/0/args",
        message: "there is no repository to check out: give `repo` here, or a `source`",
        line: 4,
        column: 37,
      },
    ]);
  });
});
