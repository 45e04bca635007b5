import { expect } from "chai";
import fc from "fast-check";
import { type Condition, evaluateCondition, parseCondition } from "../../src/expressions/condition.ts";
import { toScope } from "../../src/expressions/context-data.ts";
import { CONTEXTS, tokenSoup } from "./arbitraries.ts";

const SCOPE = toScope({ trigger: { ref: "main", n: 0, list: [] }, variables: { empty: "", json: "{" } });
const FINE = { success: true, failure: false, cancelled: false };
const FAILED = { success: false, failure: true, cancelled: false };
const CANCELLED = { success: false, failure: false, cancelled: true };

function parse(text: string): Condition {
  const condition = parseCondition(text, CONTEXTS);
  expect(condition.problems, text).to.deep.equal([]);
  return condition;
}

function problems(text: string): readonly string[] {
  return parseCondition(text, CONTEXTS).problems.map(
    ({ kind, offset, length }) => `${kind}:${text.slice(offset, offset + length)}`,
  );
}

describe("a condition", () => {
  it("has a full form, which implies `success()` when it calls no status function", () => {
    const cases: readonly (readonly [string, string])[] = [
      ["", "success()"],
      [" \n", "success()"],
      ["trigger.ref=='main'", "success() && trigger.ref == 'main'"],
      ["${{ trigger.ref == 'main' }}", "success() && trigger.ref == 'main'"],
      ["  ${{trigger.ref}}\n", "success() && trigger.ref"],
      ["trigger.a || trigger.b", "success() && (trigger.a || trigger.b)"],
      ["((trigger.a || trigger.b))", "success() && (trigger.a || trigger.b)"],
      ["trigger.a && trigger.b", "success() && trigger.a && trigger.b"],
      ["contains(trigger.a, '${{ x }}')", "success() && contains(trigger.a, '${{ x }}')"],
    ];
    for (const [text, full] of cases) {
      expect(parse(text), text).to.include({ full, usesStatus: false });
    }
  });

  it("that calls a status function anywhere implies nothing", () => {
    for (const text of ["always()", "!Cancelled()", "trigger.a == 'x' || (failure())", "contains(success(), 'true')"]) {
      expect(parse(text).usesStatus, text).to.equal(true);
      expect(parse(text).full).not.to.contain("success() &&");
    }
    expect(parse("Failure() && (trigger.a)").full).to.equal("failure() && trigger.a");
  });

  it("is exactly one expression, bare or within braces", () => {
    for (const text of [
      "${{ trigger.a }} && trigger.b",
      "trigger.a == ${{ trigger.b }}",
      "${{ trigger.a }}${{ trigger.b }}",
      "if ${{ trigger.a }}",
    ]) {
      expect(problems(` ${text} `), text).to.deep.equal([`syntax:${text}`]);
      expect(parseCondition(text, CONTEXTS).problems[0]!.message).to.contain("without `${{ }}`");
    }
    expect(problems("${{ }}")).to.deep.equal(["syntax: "]);
    expect(problems("${{ 'a }}")).to.deep.equal(["syntax:${{ 'a }}"]);
  });

  it("has its problems and references at their places in the written text", () => {
    expect(problems("  triger.ref && x()")).to.deep.equal(["unknown-context:triger", "unknown-function:x"]);
    expect(problems(" ${{ trigger.ref && nothing }}")).to.deep.equal(["unknown-context:nothing"]);
    expect(problems("trigger.ref == 'a")).to.deep.equal(["syntax:'a"]);
    expect(problems("always(1)")).to.deep.equal(["invalid-call:always"]);
    expect(parseCondition("1 == 1", CONTEXTS, { maxSteps: 2 }).problems[0]!.kind).to.equal("limit");
    const text = " ${{ trigger.ref == variables['x'] }}";
    expect(parse(text).references.map(({ offset, length }) => text.slice(offset, offset + length))).to.deep.equal([
      "trigger.ref",
      "variables['x']",
    ]);
  });

  it("depends on the status that it reads", () => {
    const cases: readonly (readonly [string, boolean, boolean, boolean])[] = [
      ["", true, false, false],
      ["trigger.ref == 'main'", true, false, false],
      ["success()", true, false, false],
      ["failure()", false, true, false],
      ["cancelled()", false, false, true],
      ["always()", true, true, true],
      ["!cancelled()", true, true, false],
      ["always() && trigger.ref == 'other'", false, false, false],
      ["failure() || cancelled()", false, true, true],
      ["(failure()) == true", false, true, false],
    ];
    for (const [text, fine, failed, cancelled] of cases) {
      const outcomes = [FINE, FAILED, CANCELLED].map((status) => evaluateCondition(parse(text), SCOPE, status));
      expect(outcomes, text).to.deep.equal([fine, failed, cancelled]);
    }
  });

  it("is false for empty texts, zero, NaN and null, and true for other values", () => {
    const cases = {
      "''": false,
      "0": false,
      NaN: false,
      null: false,
      "trigger.absent": false,
      "variables.empty": false,
    };
    const truths = { "'false'": true, "-1": true, "trigger.list": true, trigger: true, "'0'": true };
    for (const [text, outcome] of Object.entries({ ...cases, ...truths })) {
      expect(evaluateCondition(parse(text), SCOPE, FINE), text).to.equal(outcome);
    }
  });

  it("throws when it has problems, and when a function in it that is reached throws", () => {
    expect(() => evaluateCondition(parseCondition("nothing", CONTEXTS), SCOPE, FINE)).to.throw("nothing");
    const condition = parse("fromJSON(variables.json).a");
    expect(() => evaluateCondition(condition, SCOPE, FINE)).to.throw("not JSON");
    expect(evaluateCondition(condition, SCOPE, FAILED)).to.equal(false);
  });

  it("never throws while it is parsed, and has all places within the text", () => {
    fc.assert(
      fc.property(tokenSoup, fc.boolean(), (soup, isBraced) => {
        const text = isBraced ? `\${{ ${soup} }}` : soup;
        const condition = parseCondition(text, CONTEXTS);
        expect(condition.tree === null).to.equal(condition.problems.length > 0);
        for (const { offset, length } of [...condition.problems, ...condition.references]) {
          expect(offset >= 0 && offset + length <= text.length, `${text} at ${offset}+${length}`).to.equal(true);
        }
      }),
      { numRuns: 3_000 },
    );
  });
});
