import { expect } from "chai";
import fc from "fast-check";
import { parseDefinition } from "../../src/definition/parse.ts";
import { renderSpec, textToSpec } from "../../src/definition/edit/render.ts";
import { tries } from "../support/tries.ts";

/** Values that mostly have the shape of a definition, so that the tests reach the deeper checks. */
const name = fc.constantFrom("a", "b", "c", "", "a b", "${{ x }}");
const loose = (known: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 6, arbitrary: known }, fc.jsonValue());
const step = fc.record(
  {
    name: loose(name),
    uses: loose(fc.constantFrom("shell", "shell@v1", "checkout", "a/b@1", "??")),
    args: loose(fc.record({ script: loose(fc.constantFrom("true", "${{ trigger.ref }}", "${{", "${{ matrix.x }}")) })),
    env: loose(fc.dictionary(fc.constantFrom("A", "B-C"), loose(fc.string()))),
    timeout: loose(fc.constantFrom("1s", "x")),
    workingDirectory: loose(fc.constantFrom("a", "..", "/x")),
  },
  { requiredKeys: [] },
);
const job = fc.record(
  {
    name: loose(name),
    needs: loose(fc.array(name)),
    matrix: loose(
      fc.record(
        {
          axes: loose(fc.dictionary(name, loose(fc.array(fc.nat())))),
          include: loose(fc.array(loose(fc.dictionary(name, fc.nat())))),
        },
        { requiredKeys: [] },
      ),
    ),
    agentSelector: loose(
      fc.record({ matchExpressions: loose(fc.array(loose(fc.record({ operator: fc.constantFrom("In", "Gt", 7) })))) }),
    ),
    steps: loose(fc.array(loose(step), { maxLength: 3 })),
  },
  { requiredKeys: [] },
);
const spec = fc.record(
  {
    jobs: loose(fc.array(loose(job), { maxLength: 3 })),
    stages: loose(
      fc.array(loose(fc.record({ name: loose(name), jobs: loose(fc.array(loose(job))) })), { maxLength: 3 }),
    ),
    env: loose(fc.dictionary(name, fc.jsonValue())),
  },
  { requiredKeys: [] },
);

describe("the validator", () => {
  it("never throws for a text, and gives each problem a place", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string({
            unit: fc.constantFrom("a", ":", " ", "\n", "-", "[", "{", "&a", "*a", "!!x ", '"', "'", "#", "|"),
          }),
        ),
        fc.constantFrom("yaml" as const, "json" as const),
        (text, format) => {
          const { definition, diagnostics } = parseDefinition(text, format);
          expect(definition === undefined).to.equal(diagnostics.some(({ severity }) => severity === "error"));
          for (const { line, column } of diagnostics)
            expect(line >= 1 && column >= 1, `${line}:${column}`).to.equal(true);
        },
      ),
      { numRuns: tries(1_000) },
    );
  });

  it("never throws for a structured value, and finds the same problems in both formats", () => {
    fc.assert(
      fc.property(fc.oneof(spec, fc.jsonValue()), (value) => {
        const yaml = parseDefinition(renderSpec(value, "yaml"), "yaml");
        const json = parseDefinition(renderSpec(value, "json"), "json");
        expect(json.diagnostics.map(({ code, pointer }) => `${code} ${pointer}`).toSorted()).to.deep.equal(
          yaml.diagnostics.map(({ code, pointer }) => `${code} ${pointer}`).toSorted(),
        );
        expect(json.definition).to.deep.equal(yaml.definition);
      }),
      { numRuns: tries(200) },
    );
  });

  it("reads back what it renders", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const plain = JSON.parse(JSON.stringify(value)) as unknown;
        expect(textToSpec(renderSpec(plain, "yaml"), "yaml")).to.deep.equal(plain);
      }),
      { numRuns: tries(500) },
    );
  });
});
