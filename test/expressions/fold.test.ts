import { expect } from "chai";
import fc from "fast-check";
import { evaluateCondition, parseCondition } from "../../src/expressions/condition.ts";
import { type Json, toPartialScope, toScope, UNKNOWN } from "../../src/expressions/context-data.ts";
import { foldCondition } from "../../src/expressions/fold.ts";

const CONTEXTS = ["trigger", "jobs", "env"];
const KNOWN = toPartialScope({
  trigger: { ref: "it's", number: 3, list: [1, "a"], map: { a: null }, flag: true },
  jobs: UNKNOWN,
  env: { known: "a", late: UNKNOWN },
});

const folded = (text: string): string => foldCondition(parseCondition(text, CONTEXTS), KNOWN);

describe("a folded condition", () => {
  const cases: readonly [string, string][] = [
    ["", "success()"],
    ["trigger.ref == 'main'", "success() && false"],
    ["always() && trigger.number > 2", "always() && true"],
    ["always()", "always()"],
    ["jobs.a.result == trigger.ref", "success() && jobs.a.result == 'it''s'"],
    ["contains(trigger.list, jobs.a.outputs.x)", "success() && contains(fromJSON('[1,\"a\"]'), jobs.a.outputs.x)"],
    ["jobs[trigger.ref].result == 'x'", "success() && jobs['it''s'].result == 'x'"],
    ["!(trigger.flag && jobs.a.result)", "success() && !(true && jobs.a.result)"],
    ["trigger.absent == jobs.a.result", "success() && null == jobs.a.result"],
    ["failure() || fromJSON(trigger.ref).x", "failure() || fromJSON('it''s').x"],
    ["trigger.map.a == null", "success() && true"],
    ["env.known == env.late", "success() && 'a' == env.late"],
    ["env[jobs.a.outputs.x] == toJSON(env)", "success() && env[jobs.a.outputs.x] == toJSON(env)"],
    ["trigger.flag && failure()", "true && failure()"],
  ];
  for (const [text, expected] of cases) {
    it(`of "${text}" is "${expected}"`, () => {
      expect(folded(text)).to.equal(expected);
    });
  }

  it("has the outcome of the whole condition, for all unknown values", () => {
    const value = fc.constantFrom<Json>("x", "y", "", 1, 0, true, false, null);
    const operand = fc.constantFrom(
      "trigger.a",
      "trigger.b",
      "jobs.a",
      "jobs.b",
      "'x'",
      "1",
      "success()",
      "failure()",
      "always()",
    );
    const { expression } = fc.letrec<{ expression: string }>((tie) => ({
      expression: fc.oneof(
        { depthSize: "small" },
        operand,
        fc
          .tuple(tie("expression"), fc.constantFrom("&&", "||", "==", "!="), tie("expression"))
          .map(([left, operator, right]) => `(${left} ${operator} ${right})`),
        tie("expression").map((inner) => `!${inner}`),
      ),
    }));
    fc.assert(
      fc.property(
        expression,
        fc.array(value, { minLength: 4, maxLength: 4 }),
        fc.boolean(),
        (text, values, success) => {
          const [a, b, c, d] = values as [Json, Json, Json, Json];
          const whole = parseCondition(text, CONTEXTS);
          const rest = parseCondition(
            foldCondition(whole, toPartialScope({ trigger: { a, b }, jobs: UNKNOWN })),
            CONTEXTS,
          );
          const status = { success, failure: !success, cancelled: false };
          const scope = toScope({ trigger: { a, b }, jobs: { a: c, b: d } });
          expect(rest.references.map(({ context }) => context)).to.not.include("trigger");
          expect(evaluateCondition(rest, scope, status)).to.equal(evaluateCondition(whole, scope, status));
        },
      ),
    );
  });
});
