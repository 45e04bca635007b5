import { expect } from "chai";
import { parseDefinition } from "../../src/definition/parse.ts";
import { asId, type PipelineId, type ProjectId, type RunId } from "../../src/domain/ids.ts";
import { hasDeferredFiles, type JobSpec } from "../../src/domain/plan.ts";
import type { Json } from "../../src/expressions/context-data.ts";
import { dryRun } from "../../src/planner/dry-run.ts";
import { DeferredTextError, resolveDeferred } from "../../src/planner/deferred-texts.ts";
import { planRun, type PlanResult } from "../../src/planner/plan-run.ts";

function plansOf(text: string, ref = "main") {
  const { definition, diagnostics } = parseDefinition(text, "yaml");
  if (definition === undefined) throw new Error(JSON.stringify(diagnostics));
  const subject = {
    definition,
    trigger: { kind: "manual", ref, payload: {} },
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

function specsOf(text: string, ref?: string): readonly JobSpec[] {
  const { run } = plansOf(text, ref);
  if (!run.ok) throw new Error(JSON.stringify(run.problems));
  return run.jobs;
}

const problemsOf = (result: PlanResult | ReturnType<typeof dryRun>): readonly string[] =>
  result.ok ? [] : result.problems.map(({ code, pointer, message }) => `${code} ${pointer} ${message}`);

const job = (files: string, more = ""): string =>
  `jobs:\n  - name: a\n${more}    steps:\n      - uses: shell\n        args: { script: run }\n${files}`;

describe("names and paths of artifacts and reports", () => {
  it("have the values of their cell when the run is planned", () => {
    const specs = specsOf(
      job(
        [
          '        artifacts: [{ name: "site-${{ matrix.os }}", paths: ["dist/${{ matrix.os }}/**", "!${{ trigger.ref }}"], retention: 2h }]',
          '        reports: { junit: ["reports/${{ matrix.os }}.xml", all.xml] }',
          "",
        ].join("\n"),
        "    matrix: { axes: { os: [linux, macos] } }\n",
      ),
    );
    const ofCells = specs.map(({ steps }) => steps[0]!);
    expect(ofCells.map(({ artifacts }) => artifacts)).to.deep.equal(
      ["linux", "macos"].map((os) => [
        { name: `site-${os}`, paths: [`dist/${os}/**`, "!main"], ifMissing: "error", retentionMs: 7_200_000 },
      ]),
    );
    expect(ofCells.map(({ junit }) => junit)).to.deep.equal([
      ["reports/linux.xml", "all.xml"],
      ["reports/macos.xml", "all.xml"],
    ]);
    expect(ofCells.some(hasDeferredFiles)).to.equal(false);
  });

  const late =
    "jobs:\n  - { name: v, outputs: { v: '${{ steps.s.outputs.v }}' }, steps: [{ id: s, uses: shell, args: { script: x } }] }\n" +
    "  - name: a\n    needs: [v]\n    steps:\n      - uses: shell\n        args: { script: run }\n" +
    '        artifacts: [{ name: "${{ trigger.ref }}-${{ jobs.v.outputs.v }}", paths: ["d/${{ jobs.v.outputs.v }}"] }, { name: x, paths: [a] }]\n' +
    '        reports: { junit: ["${{ jobs.v.outputs.v }}.xml"] }\n';
  const with_ = (v: Json) => (context: string) => (context === "jobs" ? { result: "success", outputs: { v } } : null);

  it("have the outputs of earlier jobs when the step begins, and the known values before", () => {
    const spec = specsOf(late)[1]!;
    const step = spec.steps[0]!;
    expect(hasDeferredFiles(step)).to.equal(true);
    expect(step.artifacts[0]!.name).to.equal("${{ 'main' }}-${{ jobs.v.outputs.v }}");
    expect(step.late).to.deep.equal(["/artifacts/0/name", "/artifacts/0/paths/0", "/junit/0"]);
    const { artifacts, junit } = resolveDeferred(spec, step, with_("1.2"));
    expect(artifacts.map(({ name, paths }) => [name, ...paths])).to.deep.equal([
      ["main-1.2", "d/1.2"],
      ["x", "a"],
    ]);
    expect(junit).to.deep.equal(["1.2.xml"]);
  });

  it("have the values of a cell that is made during the run", () => {
    const text = late
      .replace(
        "    steps:\n      - uses",
        '    matrix: { axes: { n: "${{ jobs.v.outputs.v }}" } }\n    steps:\n      - uses',
      )
      .replaceAll("jobs.v.outputs.v }}-", "matrix.n }}-")
      .replace('name: "${{ trigger.ref }}-${{ jobs.v.outputs.v }}"', 'name: "n${{ matrix.n }}"');
    const spec = specsOf(text)[1]!;
    const facts = (context: string) => (context === "matrix" ? { n: 3 } : with_("w")(context));
    expect(resolveDeferred(spec, spec.steps[0]!, facts).artifacts[0]!.name).to.equal("n3");
  });

  it("refuse a trigger whose values no artifact can have, in a run and in a dry run, each at its place", () => {
    const text = job(
      '        artifacts: [{ name: "${{ trigger.ref }}", paths: ["a/${{ trigger.ref }}"] }]\n        reports: { junit: ["${{ trigger.ref }}"] }\n',
    );
    const at = "/jobs/0/steps/0";
    const refused: Record<string, readonly string[]> = {
      " ": [
        `invalid-value ${at}/artifacts/0/name the name of artifact 1 would be empty`,
        `invalid-value ${at}/reports/junit/0 path 1 of the reports would be empty`,
      ],
      "../../b": [
        `invalid-path ${at}/artifacts/0/paths/0 path 1 of artifact 1 would lead out of the workspace`,
        `invalid-path ${at}/reports/junit/0 path 1 of the reports would lead out of the workspace`,
      ],
      ["n".repeat(201)]: [
        `invalid-value ${at}/artifacts/0/name the name of artifact 1 would have more than 200 characters`,
      ],
      "a\u202eb": [
        `invalid-value ${at}/artifacts/0/name the name of artifact 1 would have a control character, a line break or a mark that reorders text`,
      ],
    };
    for (const [ref, problems] of Object.entries(refused)) {
      const { run, dry } = plansOf(text, ref);
      expect(problemsOf(run), ref).to.deep.equal(problems);
      expect(problemsOf(dry), ref).to.deep.equal(problems);
    }
    expect(problemsOf(plansOf(text, "feature/x").run)).to.deep.equal([]);
    const long = plansOf(text, "p/".repeat(2_100)).run;
    expect(problemsOf(long)).to.include(
      `invalid-value ${at}/artifacts/0/paths/0 path 1 of artifact 1 would have more than 4096 characters`,
    );
  });

  it("fail a step whose values are known late and wrong, without telling the value", () => {
    const spec = specsOf(late)[1]!;
    const refused: Record<string, string> = {
      "../../x": "path 1 of artifact 1 would lead out of the workspace",
      ["n".repeat(300)]: "the name of artifact 1 would have more than 200 characters",
      "a\nb": "the name of artifact 1 would have a control character, a line break or a mark that reorders text",
    };
    for (const [value, message] of Object.entries(refused)) {
      expect(() => resolveDeferred(spec, spec.steps[0]!, with_(value)), value)
        .to.throw(DeferredTextError)
        .with.property("message", message);
    }
    const text = late.replace("d/${{ jobs.v.outputs.v }}", "${{ fromJSON(jobs.v.outputs.v) }}");
    const broken = specsOf(text)[1]!;
    const evaluate = () => resolveDeferred(broken, broken.steps[0]!, with_("hunter22"));
    expect(evaluate).to.throw(DeferredTextError, "path 1 of artifact 1 cannot be evaluated");
    expect(evaluate).not.to.throw("hunter22");
  });

  it("are one name for each artifact of a step", () => {
    const two = (other: string) =>
      job(`        artifacts: [{ name: "x-\${{ trigger.ref }}", paths: [a] }, { name: "${other}", paths: [b] }]\n`);
    const message = "would be that of another artifact of the step";
    expect(problemsOf(plansOf(two("x-main")).run)).to.deep.equal([
      `duplicate-name /jobs/0/steps/0/artifacts/0/name the name of artifact 1 ${message}`,
    ]);
    expect(problemsOf(plansOf(two("x-${{ run.attempt }}")).run)).to.deep.equal([]);
    const spec = specsOf(late.replace("name: x,", "name: main-7,"))[1]!;
    expect(() => resolveDeferred(spec, spec.steps[0]!, with_("7"))).to.throw(DeferredTextError, message);
  });

  it("are told of, once, when cells of a matrix get one name by an expression that was to tell them apart", () => {
    const matrix = "    matrix: { axes: { os: [linux, macos], n: [1, 2] } }\n";
    const warned = (name: string) => {
      const { run, dry } = plansOf(job(`        artifacts: [{ name: "${name}", paths: [a] }]\n`, matrix));
      if (!run.ok || !dry.ok) throw new Error("this was refused");
      expect(dry.plan.warnings).to.deep.equal(run.warnings);
      return run.warnings.map(({ code, severity, pointer, message }) => [code, severity, pointer, message]);
    };
    const told = (os: string) => [
      "duplicate-name",
      "warning",
      "/jobs/0/steps/0/artifacts/0/name",
      `several cells of this job keep an artifact named "x-${os}": a step that fetches it has to name the cell with \`job\``,
    ];
    expect(warned("x-${{ matrix.os }}")).to.deep.equal([told("linux"), told("macos")]);
    expect(warned("x-${{ matrix.os }}-${{ matrix.n }}")).to.deep.equal([]);
    expect(warned("x"), "a name without an expression").to.deep.equal([]);
  });

  it("count as texts of the run", () => {
    const paths = Array.from({ length: 150 }, () => '"${{ trigger.ref }}"').join(", ");
    const axis = Array.from({ length: 250 }, (_, at) => at).join(", ");
    const text = job(
      `        artifacts: [{ name: x, paths: [${paths}] }]\n`,
      `    matrix: { axes: { n: [${axis}] } }\n`,
    );
    expect(problemsOf(plansOf(text, "r".repeat(1_000)).run).join()).to.include("plan-limit");
  });
});
