import { Ajv } from "ajv";
import { expect } from "chai";
import fc from "fast-check";
import type { Definition } from "../../src/definition/definition.ts";
import { definitionJsonSchema } from "../../src/definition/json-schema.ts";
import { parseDefinition } from "../../src/definition/parse.ts";
import type { Format } from "../../src/definition/text/read-text.ts";
import { renderSpec, textToSpec } from "../../src/definition/edit/render.ts";
import { asId, type PipelineId, type ProjectId, type RunId } from "../../src/domain/ids.ts";
import { dryRun } from "../../src/planner/dry-run.ts";
import { planRun } from "../../src/planner/plan-run.ts";
import { processorMs } from "../support/processor-time.ts";
import { brokenTexts, specs } from "./arbitraries.ts";
import { tries } from "../support/tries.ts";

/** `FUZZ_RUNS=20000 FUZZ_SEED=7` searches longer than the test suite has time for. */
const RUNS = Number(process.env["FUZZ_RUNS"] ?? tries(300));
const SEED = Number(process.env["FUZZ_SEED"] ?? 20_261_121);
const MS_A_RUN = 100;
/** Much longer than any small text takes, and much shorter than an endless loop. */
const PATIENCE_MS = 3_000;

const accepts = new Ajv({ strict: false }).compile(definitionJsonSchema());

const triggers = fc.record({
  kind: fc.constantFrom("manual", "cron", "event"),
  ref: fc.constantFrom("main", "", "release/1"),
  payload: fc.dictionary(fc.constantFrom("list", "title", "a"), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }),
});
type Trigger = typeof triggers extends fc.Arbitrary<infer T> ? T : never;

describe("any definition", () => {
  it("with random changes is answered in time, and has a definition exactly when it has no error", function () {
    this.timeout(60_000 + RUNS * MS_A_RUN);
    check(fc.property(brokenTexts, triggers, ({ text, format }, trigger) => void examine(text, format, trigger)));
  });

  it("made at random is answered in the same way, and enough of them are valid", function () {
    this.timeout(60_000 + RUNS * MS_A_RUN);
    let right = 0;
    check(
      fc.property(specs, triggers, fc.constantFrom("yaml" as const, "json" as const), (spec, trigger, format) => {
        right += Number(examine(renderSpec(spec, format), format, trigger));
      }),
    );
    expect(right).to.be.at.least(RUNS / 30);
  });
});

/** Answers whether the text is a valid definition. */
function examine(text: string, format: Format, trigger: Trigger): boolean {
  const from = processorMs();
  const { definition, diagnostics } = parseDefinition(text, format);
  expect(processorMs() - from).to.be.below(PATIENCE_MS);
  expect(definition === undefined).to.equal(diagnostics.some(({ severity }) => severity === "error"));
  const lines = text.split("\n");
  for (const { line, column, endLine, endColumn, message } of diagnostics) {
    expect(line, message).to.be.within(1, lines.length);
    expect(column, message).to.be.within(1, lines[line - 1]!.length + 1);
    expect(endLine, message).to.be.within(line, lines.length);
    expect(endColumn, message).to.be.within(endLine === line ? column : 1, lines[endLine - 1]!.length + 1);
  }
  if (definition === undefined) return false;
  expectSamePlans(definition, trigger);
  const spec = textToSpec(text, format);
  expect(accepts(spec), JSON.stringify(accepts.errors)).to.equal(true);
  for (const other of ["yaml", "json"] as const) {
    expect(parseDefinition(renderSpec(spec, other), other).definition).to.deep.equal(definition);
  }
  return true;
}

function expectSamePlans(definition: Definition, trigger: Trigger): void {
  const subject = {
    definition,
    trigger: { ...trigger, payload: JSON.parse(JSON.stringify(trigger.payload)) },
    variables: [],
    pipelineId: asId<PipelineId>("pl_1"),
    pipelineName: "p",
    projectId: asId<ProjectId>("default"),
    repoUrl: null,
  };
  const run = { ...subject, runId: asId<RunId>("run_1"), attempt: 1, revisionId: "rev_1" };
  expect(planRun(run)).to.deep.equal(planRun(run));
  expect(dryRun(subject)).to.deep.equal(dryRun(subject));
}

function check<Ts>(property: fc.IProperty<Ts>): void {
  fc.assert(property, { numRuns: RUNS, seed: SEED });
}
