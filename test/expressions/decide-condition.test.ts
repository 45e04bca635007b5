import { expect } from "chai";
import fc from "fast-check";
import { evaluateCondition, parseCondition } from "../../src/expressions/condition.ts";
import { type Json, type PartialJson, toPartialScope, toScope, UNKNOWN } from "../../src/expressions/context-data.ts";
import { decideCondition, type Verdict } from "../../src/expressions/decide-condition.ts";
import type { PartialStatus } from "../../src/expressions/functions.ts";
import { CONTEXTS, soundExpression, tokenSoup } from "./arbitraries.ts";

const KNOWN = {
  trigger: { ref: "main", kind: "manual", payload: { n: 1, later: UNKNOWN } },
  variables: { a: "x", empty: "", json: "{" },
  jobs: { build: { result: UNKNOWN, outputs: UNKNOWN }, test: UNKNOWN },
} satisfies Readonly<Record<string, PartialJson>>;

function decide(text: string, status: PartialStatus = {}): Verdict {
  const condition = parseCondition(text, CONTEXTS);
  expect(condition.problems, text).to.deep.equal([]);
  return decideCondition(condition, toPartialScope(KNOWN), status);
}

/** `outcome by part` of a condition, when `success()` is true. */
function verdict(text: string): string {
  const { outcome, decidedBy, failure } = decide(text, { success: true });
  expect(failure, text).to.equal(null);
  return `${outcome} by ${decidedBy}`;
}

describe("a condition that is decided with unknown values", () => {
  it("has the smallest part that decided", () => {
    const cases: readonly (readonly [string, string])[] = [
      ["", "true by success()"],
      ["trigger.ref == 'dev'", "false by trigger.ref == 'dev'"],
      ["trigger.ref == 'main'", "true by success() && trigger.ref == 'main'"],
      ["trigger.ref == 'main' && (variables.a == 'y' && trigger.n)", "false by variables.a == 'y'"],
      ["always() && contains(variables.a, 'z')", "false by contains(variables.a, 'z')"],
      ["always() || variables.a", "true by always()"],
      ["failure() || (trigger.kind == 'cron' || variables.a == 'x')", "true by variables.a == 'x'"],
      ["always() && (variables.empty || trigger.kind == 'cron')", "false by variables.empty || trigger.kind == 'cron'"],
      ["always() && !(variables.empty && trigger.ref)", "true by always() && !variables.empty"],
      ["!(variables.a == 'x' && always())", "false by !(variables.a == 'x' && always())"],
    ];
    for (const [text, expected] of cases) expect(verdict(text), text).to.equal(expected);
  });

  it("has one of three outcomes", () => {
    const cases: readonly (readonly [string, string])[] = [
      ["variables.empty && jobs.build.result", "false by variables.empty"],
      ["jobs.build.result && variables.empty", "false by variables.empty"],
      ["always() || jobs.build.result", "true by always()"],
      ["always() && (jobs.build.result || variables.a)", "true by always() && variables.a"],
      ["jobs.build.result == 'success'", "unknown by jobs.build.result == 'success'"],
      [
        "always() && jobs.test.result && trigger.ref && !jobs.build.outputs.x",
        "unknown by jobs.test.result && !jobs.build.outputs.x",
      ],
      ["failure()", "unknown by failure()"],
      ["failure() || cancelled() || trigger.ref == 'x'", "unknown by failure() || cancelled()"],
      ["success() == false", "false by success() == false"],
      ["contains(jobs.build.outputs.x, 'a')", "unknown by contains(jobs.build.outputs.x, 'a')"],
      ["toJSON(jobs.build) == ''", "unknown by toJSON(jobs.build) == ''"],
      ["contains(jobs.*.result, 'failed')", "unknown by contains(jobs.*.result, 'failed')"],
      ["trigger[jobs.build.result]", "unknown by trigger[jobs.build.result]"],
    ];
    for (const [text, expected] of cases) expect(verdict(text), text).to.equal(expected);
  });

  it("takes an absent field of a known map as known", () => {
    expect(verdict("jobs.absent.result")).to.equal("false by jobs.absent.result");
    expect(verdict("always() && jobs.build")).to.equal("true by always() && jobs.build");
    expect(verdict("trigger.payload.n == 1 && trigger.payload.later")).to.equal("unknown by trigger.payload.later");
  });

  it("is unknown when it calls `success()` and the status is unknown", () => {
    expect(decide("variables.a")).to.include({ outcome: "unknown", decidedBy: "success()" });
    expect(decide("variables.empty")).to.include({ outcome: "false", decidedBy: "variables.empty" });
    expect(decide("variables.a", { success: false })).to.include({ outcome: "false", decidedBy: "success()" });
  });

  it("reports a part that cannot be evaluated, if it is certainly reached", () => {
    const failing = { outcome: "unknown", decidedBy: "fromJSON(variables.json)" };
    const failure = "the argument of `fromJSON` is not JSON";
    expect(decide("always() && fromJSON(variables.json) && variables.empty")).to.deep.equal({ ...failing, failure });
    expect(decide("always() && !fromJSON(variables.json)")).to.deep.equal({
      ...failing,
      decidedBy: "!fromJSON(variables.json)",
      failure,
    });
    expect(decide("failure() && fromJSON(variables.json)")).to.deep.equal({
      outcome: "unknown",
      decidedBy: "failure() && fromJSON(variables.json)",
      failure: null,
    });
    expect(decide("always() || fromJSON(variables.json)").outcome).to.equal("true");
  });

  it("is unknown when it has problems", () => {
    const condition = parseCondition(" nothing.x ", CONTEXTS);
    expect(decideCondition(condition, new Map(), {})).to.deep.equal({
      outcome: "unknown",
      decidedBy: "nothing.x",
      failure: 'unknown context "nothing"',
    });
  });

  it("never throws", () => {
    fc.assert(
      fc.property(fc.oneof(tokenSoup, soundExpression), fc.boolean(), (text, success) => {
        const condition = parseCondition(text, CONTEXTS);
        const { decidedBy } = decideCondition(condition, toPartialScope(KNOWN), { success });
        if (condition.tree === null) return;
        const decider = parseCondition(decidedBy, CONTEXTS);
        expect(decider.problems, `${decidedBy} of ${text}`).to.deep.equal([]);
      }),
      { numRuns: 3_000 },
    );
  });
});

/** The values of scalar fields. */
const VALUES: readonly Json[] = [null, "", "a", "1", 0, 1, true, false];
const value = fc.constantFrom(...VALUES, ["a"], { a: 1 });
const FIELDS = ["a", "b", "ref-x"] as const;
const contexts = fc.record({
  trigger: fc.record({ a: value, b: value, "ref-x": value }),
  variables: fc.record({ a: value, b: value, "ref-x": value }),
  jobs: fc.record({ a: fc.record({ a: value, b: value }), b: value }),
});
const status = fc.constantFrom(
  { success: true, failure: false, cancelled: false },
  { success: false, failure: true, cancelled: false },
  { success: false, failure: false, cancelled: true },
);

function outcomeOf(run: () => boolean): string {
  try {
    return String(run());
  } catch {
    return "unknown";
  }
}

describe("the decision about a condition", () => {
  it("is the result of the evaluation when everything is known", () => {
    fc.assert(
      fc.property(soundExpression, contexts, status, (text, known, given) => {
        const condition = parseCondition(text, CONTEXTS);
        const evaluated = outcomeOf(() => evaluateCondition(condition, toScope(known), given));
        expect(decideCondition(condition, toScope(known), given).outcome, text).to.equal(evaluated);
      }),
      { numRuns: 2_000 },
    );
  });

  it("is the result of the evaluation for all unknown values", () => {
    let decided = 0;
    const hidden = fc.uniqueArray(fc.constantFrom(...FIELDS), { minLength: 1, maxLength: 2 });
    const leaf = fc.oneof(
      fc.tuple(fc.constantFrom("trigger", "variables"), fc.constantFrom(...FIELDS)).map((path) => path.join(".")),
      fc.constantFrom("success()", "failure()", "1", "''", "'a'", "null", "jobs.a", "jobs.a.b", "jobs.b", "trigger.*"),
    );
    const expression = fc.letrec<{ any: string }>((tie) => ({
      any: fc.oneof(
        { maxDepth: 4 },
        leaf,
        tie("any").map((one) => `!(${one})`),
        fc
          .tuple(tie("any"), fc.constantFrom("&&", "||", "==", "!=", "<"), tie("any"))
          .map(([one, operator, other]) => `(${one} ${operator} ${other})`),
        fc.tuple(tie("any"), tie("any")).map(([one, other]) => `contains(${one}, ${other})`),
        tie("any").map((one) => `fromJSON(${one})`),
        tie("any").map((one) => `trigger[${one}]`),
      ),
    })).any;
    fc.assert(
      fc.property(expression, contexts, hidden, fc.boolean(), status, (text, known, fields, isStatusKnown, given) => {
        const condition = parseCondition(text, CONTEXTS);
        if (condition.tree === null) return;
        const unknown = Object.fromEntries(fields.map((field) => [field, UNKNOWN]));
        const scope = toPartialScope({
          ...known,
          trigger: { ...known.trigger, ...unknown },
          jobs: { ...known.jobs, b: UNKNOWN },
        });
        const { outcome } = decideCondition(condition, scope, isStatusKnown ? given : {});
        if (outcome === "unknown") return;
        decided++;
        for (const first of VALUES) {
          for (const second of VALUES) {
            const [one, other] = fields;
            const trigger = { ...known.trigger, [one!]: first, ...(other === undefined ? {} : { [other]: second }) };
            const full = toScope({ ...known, trigger, jobs: { ...known.jobs, b: second } });
            for (const success of isStatusKnown ? [given.success] : [true, false]) {
              const evaluated = outcomeOf(() =>
                evaluateCondition(condition, full, isStatusKnown ? given : { ...given, success, failure: !success }),
              );
              // An evaluation that fails for some values does not change the decision.
              if (evaluated !== "unknown") expect(evaluated, text).to.equal(outcome);
            }
          }
        }
      }),
      { numRuns: 1_500 },
    );
    expect(decided, "conditions that were decided").to.be.greaterThan(300);
  });
});
