/** Containers and services in a plan, and what a dispatch makes of them. */
import { expect } from "chai";
import { parseDefinition } from "../../src/definition/parse.ts";
import { asId, type PipelineId, type ProjectId, type RunId } from "../../src/domain/ids.ts";
import { knownPlugins } from "../support/known-plugins.ts";
import { containerOf, DeferredTextError, isResolved, resolveDeferred } from "../../src/planner/deferred-texts.ts";
import { type PlanInput, planRun } from "../../src/planner/plan-run.ts";

function planned(text: string, more: Partial<Pick<PlanInput, "demandsContainers" | "plugins">> = {}) {
  const { definition, diagnostics } = parseDefinition(text, "yaml");
  if (definition === undefined) throw new Error(JSON.stringify(diagnostics));
  return planRun({
    definition,
    trigger: { kind: "manual", ref: "main", payload: {} },
    variables: [["tag", "22.12"]],
    pipelineId: asId<PipelineId>("pl_1"),
    pipelineName: "p",
    projectId: asId<ProjectId>("default"),
    repoUrl: "https://git.example/a.git",
    runId: asId<RunId>("run_1"),
    attempt: 1,
    revisionId: "rev_1",
    ...more,
  });
}

const DEFINITION = `
variables: { tag: "20" }
jobs:
  - name: a
    container:
      image: "node:\${{ variables.tag }}"
      env: { LEVEL: 3, TOKEN: "\${{ secrets.TOKEN }}" }
      credential: REGISTRY
      memory: 512m
    services:
      db: { image: "postgres:17.2", env: { PASSWORD: "\${{ secrets.DB }}" }, health: pg_isready }
    steps:
      - uses: checkout
      - { uses: shell, args: { script: make } }
      - { uses: shell, args: { script: make }, container: { image: "alpine:3.21", env: { X: "\${{ secrets.X }}" } } }
  - name: b
    steps: [{ uses: shell, args: { script: make } }]
`;

function ofFirstJob() {
  const run = planned(DEFINITION);
  if (!run.ok) throw new Error(JSON.stringify(run.problems));
  return { plan: run.plan, spec: run.jobs[0]!, other: run.jobs[1]! };
}

describe("containers in a plan", () => {
  it("have the values that are known, and name the texts that are not", () => {
    const { spec, other } = ofFirstJob();
    expect(spec.container).to.deep.include({
      image: "node:22.12",
      memoryBytes: 512 * 1024 * 1024,
      late: ["/credential", "/env/TOKEN"],
    });
    expect(spec.services!.map(({ name, late }) => [name, late])).to.deep.equal([["db", ["/env/PASSWORD"]]]);
    expect(other).not.to.have.any.keys("container", "services");
  });

  it("ask for an agent with an engine, and give each step the secrets with which its containers may have to start", () => {
    const { plan, spec } = ofFirstJob();
    expect(plan.jobs.map(({ selector }) => [selector.engine, selector.contained])).to.deep.equal([
      [true, true],
      [undefined, undefined],
    ]);
    const ofJob = ["DB", "REGISTRY", "TOKEN"];
    expect(spec.steps.map(({ secrets }) => secrets)).to.deep.equal([ofJob, ofJob, [...ofJob, "X"]]);
  });

  it("have their secrets in the dispatch; a builtin beside them has none", () => {
    const { spec } = ofFirstJob();
    const secrets = { TOKEN: "t", DB: "d", REGISTRY: "user:password", X: "x" };
    const [checkout, shell, own] = spec.steps.map((step) =>
      resolveDeferred(spec, step, { jobs: new Map(), steps: new Map() } as never, secrets),
    );
    expect(checkout!.container).to.equal(undefined);
    expect(checkout!.services[0]!.env).to.deep.equal([["PASSWORD", "d"]]);
    expect(shell!.container).to.deep.include({ credential: "user:password" });
    expect(shell!.container!.env).to.deep.equal([
      ["LEVEL", "3"],
      ["TOKEN", "t"],
    ]);
    expect(own!.container).to.deep.include({ image: "alpine:3.21", env: [["X", "x"]] });
    expect(isResolved(spec, spec.steps[0]!)).to.equal(false);
    expect(containerOf(spec, spec.steps[0]!)).to.equal(undefined);
  });

  it("refuse an image that a value makes useless, when the run is planned or when the step is dispatched", () => {
    const run = planned(DEFINITION.replace('"20"', '"20"').replace("variables.tag", "format('{0} b', variables.tag)"));
    expect(run).to.deep.include({ ok: false });
    expect(run.ok ? [] : run.problems.map(({ code, line }) => [code, line])).to.deep.equal([["invalid-image", 6]]);
    const { spec } = ofFirstJob();
    const late = { ...spec, container: { ...spec.container!, image: "${{ secrets.TOKEN }}", late: ["/image"] } };
    const resolve = () => resolveDeferred(late, spec.steps[1]!, {} as never, { TOKEN: "a b" });
    expect(resolve).to.throw(DeferredTextError, 'it became "a b"');
  });

  it("are demanded by a project of each step that runs a program", () => {
    const refused = planned(DEFINITION, { demandsContainers: true });
    expect(refused.ok ? [] : refused.problems.map(({ code, pointer }) => `${code} ${pointer}`)).to.deep.equal([
      "container-required /jobs/1/steps/0",
    ]);
    const inside = DEFINITION.replace("- name: b\n", "- name: b\n    container: alpine:3.21\n");
    expect(planned(inside, { demandsContainers: true }).ok).to.equal(true);
    const some = planned(
      `jobs: [{ name: a, services: { db: { image: "postgres:17.2" } }, steps: [{ uses: shell, args: { script: make } }] }]`,
    );
    expect(some.ok ? some.plan.jobs[0]!.selector : {})
      .to.include({ engine: true })
      .and.not.to.have.any.keys("contained");
  });

  it("are those of the images that plugins name, unless the step has one", () => {
    const plugins: PlanInput["plugins"] = (uses) => {
      const found = knownPlugins()(uses);
      if (found.found !== "release") return found;
      const manifest = { ...found.release.manifest, image: "python:3.13" };
      return { ...found, release: { ...found.release, manifest } };
    };
    const step = `uses: util/json-patch@1, args: { file: a, patch: [{ op: remove, path: /a }] }`;
    const text = `jobs: [{ name: a, container: "node:22.12", steps: [{ ${step} }, { ${step}, container: "alpine:3.21" }, { uses: shell, args: { script: make } }] }]`;
    const run = planned(text, { plugins, demandsContainers: true });
    if (!run.ok) throw new Error(JSON.stringify(run.problems));
    const [spec] = run.jobs;
    expect(spec!.steps.map((one) => containerOf(spec!, one)?.image)).to.deep.equal([
      "python:3.13",
      "alpine:3.21",
      "node:22.12",
    ]);
    const alone = planned(`jobs: [{ name: a, steps: [{ ${step} }] }]`, { plugins });
    expect(alone.ok ? alone.plan.jobs[0]!.selector : {}).to.include({ engine: true, contained: true });
  });
});
