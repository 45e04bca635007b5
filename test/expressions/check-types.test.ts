import { expect } from "chai";
import fc from "fast-check";
import { checkTypes } from "../../src/expressions/check-types.ts";
import { parseCondition } from "../../src/expressions/condition.ts";
import { parseTemplate } from "../../src/expressions/template.ts";
import {
  ANY,
  arrayOf,
  BOOLEAN,
  type ContextTypes,
  NULL,
  NUMBER,
  objectOf,
  oneOf,
  STRING,
  unionOf,
  type ValueType,
} from "../../src/expressions/types.ts";
import { CONTEXTS, soundExpression, tokenSoup } from "./arbitraries.ts";

const RESULT = oneOf(["success", "failure", "cancelled"]);
const job = (name: string): ValueType =>
  objectOf(`the job "${name}"`, { result: RESULT, outputs: objectOf(`the outputs of "${name}"`, { tag: STRING }) });
const TYPES: ContextTypes = new Map<string, ValueType>([
  [
    "trigger",
    objectOf("`trigger`", { ref: STRING, kind: oneOf(["manual", "cron"]), payload: ANY, at: NUMBER, again: BOOLEAN }),
  ],
  ["variables", objectOf("`variables`", { list: arrayOf(STRING), jobs: arrayOf(job("x")) }, { others: STRING })],
  ["jobs", objectOf("`jobs`", { build: job("build"), test: job("test") }, { hint: "add it to `needs`" })],
  ["maybe", unionOf(NULL, objectOf("`maybe`", { a: NUMBER }), STRING)],
  ["none", NULL],
]);
const NAMES = [...TYPES.keys(), "open"];

/** `kind at the part of the text: message (hint)` of every problem. */
function problems(text: string, use: "text" | "value" | "condition" = "value"): readonly string[] {
  const parsed = use === "condition" ? parseCondition(text, NAMES) : parseTemplate(text, NAMES);
  expect(parsed.problems, text).to.deep.equal([]);
  return checkTypes(parsed, TYPES, use).map(({ kind, message, hint, offset, length }) => {
    const described = `${kind} at ${text.slice(offset, offset + length)}: ${message}`;
    return hint === undefined ? described : `${described} (${hint})`;
  });
}

/** The problems of a template that is one expression. */
function wrong(source: string): readonly string[] {
  return problems(`\${{ ${source} }}`);
}

function refuses(cases: Readonly<Record<string, readonly string[]>>): void {
  for (const [source, expected] of Object.entries(cases)) expect(wrong(source), source).to.deep.equal(expected);
}

function takes(...sources: readonly string[]): void {
  for (const source of sources) expect(wrong(source), source).to.deep.equal([]);
}

describe("the types of expressions", () => {
  it("know the fields of objects, and suggest the nearest field", () => {
    refuses({
      "jobs.biuld.result": [
        'unknown-property at biuld: `jobs` has no field "biuld" (did you mean "build"?) (add it to `needs`)',
      ],
      "jobs['build']['reslt']": [
        'unknown-property at \'reslt\': the job "build" has no field "reslt" (did you mean "result"?) (its fields: result, outputs)',
      ],
      "trigger.REF": [
        'unknown-property at REF: `trigger` has no field "REF" (did you mean "ref"?) (its fields: ref, kind, payload, at, again)',
      ],
      "maybe.b": ['unknown-property at b: `maybe` has no field "b" (its fields: a)'],
      "jobs[(trigger.again && 'a') || 'b']": [],
      "jobs['a' || 'b'].result": ["unknown-property at 'a' || 'b': `jobs` has no field \"a\" (add it to `needs`)"],
      "jobs.*.reslt": [
        'unknown-property at reslt: the job "build" has no field "reslt" (did you mean "result"?) (its fields: result, outputs)',
      ],
    });
    takes("jobs.build.outputs.tag", "variables.anything", "jobs[trigger.ref].result", "maybe.a", "open.a.b.c");
    takes("trigger.payload.a[0].b", "jobs.*.outputs.tag", "variables.*", "(jobs).build['result']");
  });

  it("know that scalars have no fields, and lists no named fields", () => {
    refuses({
      "trigger.ref.name": ['type-mismatch at name: `trigger.ref` is a text; it has no field "name"'],
      "(trigger.at == 1).x": ['type-mismatch at x: `trigger.at == 1` is true or false; it has no field "x"'],
      "none.x": ['type-mismatch at x: `none` is null; it has no field "x"'],
      "trigger.ref[0]": ['type-mismatch at 0: `trigger.ref` is a text; it has no field "0"'],
      "variables.list.first": [
        'type-mismatch at first: `variables.list` is a list; it has no field "first" (write `.*` before the field to read it of every item, or `[0]` to read it of one item)',
      ],
      "variables.list.*.x": ['type-mismatch at x: every item of `variables.list.*` is a text; it has no field "x"'],
      "trigger.ref.*": [
        "type-mismatch at trigger.ref.*: `.*` gives the items of a list or an object; `trigger.ref` is a text",
      ],
      "variables.list.*.*": [
        "type-mismatch at variables.list.*.*: `.*` gives the items of a list or an object; each item of `variables.list.*` is a text",
      ],
    });
    takes("variables.list[0]", "variables.list['0']", "variables.jobs.*.result", "variables.jobs[0].result");
    takes("maybe.*", "trigger.payload.*.a.*");
  });

  it("know what an index can be", () => {
    refuses({
      "variables.list[jobs]": ["type-mismatch at jobs: `jobs` is an object; an index must be a text or a number"],
      "jobs[trigger.again]": [
        "type-mismatch at trigger.again: `trigger.again` is true or false; an index must be a text or a number",
      ],
      "jobs[null]": ["type-mismatch at null: `null` is null; an index must be a text or a number"],
    });
    takes("variables.list[trigger.at]", "variables.list[trigger.ref]", "jobs[maybe]", "jobs[open]");
  });

  it("refuse an object or a list in a text", () => {
    expect(problems("a ${{ jobs.build }} b ${{ variables.list }}")).to.deep.equal([
      "type-mismatch at jobs.build: `jobs.build` is an object, which cannot become a text (write `toJSON(jobs.build)`)",
      "type-mismatch at variables.list: `variables.list` is a list, which cannot become a text (write `toJSON(variables.list)`)",
    ]);
    expect(problems("${{ jobs }}", "text")).to.have.length(1);
    expect(problems("${{ jobs }}", "value")).to.deep.equal([]);
    expect(problems("x${{ toJSON(jobs) }}${{ trigger.payload }}${{ maybe }}${{ none }}", "text")).to.deep.equal([]);
    expect(problems("x${{ jobs && 'a' }}", "text"), "an object is never false").to.deep.equal([]);
    expect(problems("x${{ jobs || 'a' }}", "text"), "nothing is known to be false").to.deep.equal([]);
  });

  it("allow only comparisons of values that can be equal", () => {
    refuses({
      "jobs.build.result == 'sucess'": [
        'unknown-word at \'sucess\': `jobs.build.result` is never "sucess" (did you mean "success"?) (it is one of: success, failure, cancelled)',
      ],
      "(open.x == 1 && 'cron' || none) == 'corn'": [
        "unknown-word at 'corn': `open.x == 1 && 'cron' || none` is never \"corn\" (did you mean \"cron\"?) (it is one of: cron)",
      ],
      "'' != trigger.kind": ["unknown-word at '': `trigger.kind` is never \"\" (it is one of: manual, cron)"],
      "trigger.kind == jobs.build.result": [
        "type-mismatch at jobs.build.result: `trigger.kind` is a text and `jobs.build.result` is a text: they are never equal",
      ],
      "jobs.build == 'success'": [
        "type-mismatch at jobs.build: `jobs.build` is an object, which is equal only to itself (compare one of its fields, or `toJSON(...)` of it)",
      ],
      "null != variables.list": [
        "type-mismatch at variables.list: `variables.list` is a list, which is equal only to itself (compare one of its fields, or `toJSON(...)` of it)",
      ],
      "trigger.at == 'soon'": [
        "type-mismatch at 'soon': `trigger.at` is a number and `'soon'` is a text: they are never equal",
      ],
      "jobs.build.outputs.tag == true": [
        "type-mismatch at true: `jobs.build.outputs.tag` is a text and `true` is true or false: they are never equal (compare a text with 'true' or 'false')",
      ],
      "trigger.again == 'true'": [
        "type-mismatch at 'true': `trigger.again` is true or false and `'true'` is a text: they are never equal (compare a text with 'true' or 'false')",
      ],
      "trigger.kind == null": [
        "type-mismatch at null: `trigger.kind` is a text and `null` is null: they are never equal",
      ],
    });
    takes("jobs.build.result == 'SUCCESS'", "trigger.at == '1'", "trigger.ref == 1", "trigger.ref == null");
    takes("trigger.again == '1'", "trigger.again == 0", "none == ''", "open == jobs.build.result", "'a' == 'b'");
    takes("trigger.payload == true", "maybe == 1", "jobs.build.result == jobs.test.result", "none == trigger.at");
    takes("(trigger.again && 'manual' || 'x') == trigger.kind");
  });

  it("allow an order only for numbers and texts", () => {
    refuses({
      "trigger.again < 1": [
        "type-mismatch at trigger.again: `trigger.again` is true or false; `<` compares numbers and texts",
      ],
      "jobs >= variables.list": [
        "type-mismatch at jobs: `jobs` is an object; `>=` compares numbers and texts",
        "type-mismatch at variables.list: `variables.list` is a list; `>=` compares numbers and texts",
      ],
      "1 > null": ["type-mismatch at null: `null` is null; `>` compares numbers and texts"],
    });
    takes("trigger.at < 5", "trigger.ref >= 'v2'", "open <= 1", "maybe > 2");
  });

  it("know the arguments of functions", () => {
    refuses({
      "contains(jobs, 'build')": [
        "type-mismatch at jobs: `contains` looks into a text or a list; `jobs` is an object (`.*` gives the list of its values)",
      ],
      "contains(variables.list, jobs)": [
        "type-mismatch at jobs: `contains` takes texts; `jobs` is an object (make a text of it with `toJSON(...)`)",
      ],
      "contains(jobs.*.result, 'failed')": [
        "unknown-word at 'failed': `jobs.*.result` is never \"failed\" (it is one of: success, failure, cancelled)",
      ],
      "startsWith(jobs, 'a')": [
        "type-mismatch at jobs: `startsWith` takes texts; `jobs` is an object (make a text of it with `toJSON(...)`)",
      ],
      "endsWith(trigger.ref, variables.list)": [
        "type-mismatch at variables.list: `endsWith` takes texts; `variables.list` is a list (make a text of it with `toJSON(...)`)",
      ],
      "join(jobs, ',')": [
        "type-mismatch at jobs: `join` takes a list; `jobs` is an object (`.*` gives the list of its values)",
      ],
      "join(jobs.*)": [
        "type-mismatch at jobs.*: `join` joins texts; each item of `jobs.*` is an object (write `toJSON(...)` instead of `join(...)`)",
      ],
      "join(variables.list, jobs)": [
        "type-mismatch at jobs: `join` takes texts; `jobs` is an object (make a text of it with `toJSON(...)`)",
      ],
      "fromJSON(trigger.at)": ["type-mismatch at trigger.at: `fromJSON` reads a text; `trigger.at` is a number"],
      "fromJSON('{a: 1}')": [
        "invalid-call at '{a: 1}': `'{a: 1}'` is not JSON (JSON needs double quotes around texts and names)",
      ],
      "format('{0} {1', 1)": [
        "invalid-call at '{0} {1': this pattern has a single brace (write `{{` or `}}` for a brace)",
      ],
      "format('{0} {2}', 1, 2)": [
        "invalid-call at '{0} {2}': {2} in this pattern has no value: 2 values are given (the first value is {0})",
        "invalid-call at 2: the pattern has no {1} for this value",
      ],
      "format('{{0}}', 1)": ["invalid-call at 1: the pattern has no {0} for this value"],
      "format('{0}', jobs)": [
        "type-mismatch at jobs: `format` takes texts; `jobs` is an object (make a text of it with `toJSON(...)`)",
      ],
      "jobs[contains(jobs, 1)]": [
        "type-mismatch at contains(jobs, 1): `contains(jobs, 1)` is true or false; an index must be a text or a number",
        "type-mismatch at jobs: `contains` looks into a text or a list; `jobs` is an object (`.*` gives the list of its values)",
      ],
    });
    takes("contains(trigger.ref, 'a')", "contains(variables.list, trigger.ref)", "contains(trigger.payload, 1)");
    takes("contains(jobs.*.result, 'failure')", "join(variables.list)", "join('a', ',')", "join(jobs.*.result, '+')");
    takes("fromJSON(trigger.ref).a.b", "fromJSON('[1]')[0]", "fromJSON(maybe)", "format(trigger.ref, 1, 2)");
    takes("format('{0}{0} {1}', trigger.at, none)", "toJSON(jobs)", "format('plain')");
  });

  it("know the results of functions and operators", () => {
    refuses({
      "toJSON(jobs).a": ['type-mismatch at a: `toJSON(jobs)` is a text; it has no field "a"'],
      "(!jobs).a": ['type-mismatch at a: `!jobs` is true or false; it has no field "a"'],
      "(jobs && trigger).ref.a": ['type-mismatch at a: `(jobs && trigger).ref` is a text; it has no field "a"'],
      "(none || trigger.at).a": ['type-mismatch at a: `none || trigger.at` is a number; it has no field "a"'],
      "('' || trigger.at || 'x').a": ["type-mismatch at a: `'' || trigger.at || 'x'` is a text; it has no field \"a\""],
      "startsWith('a', 'b').c": ["type-mismatch at c: `startsWith('a', 'b')` is true or false; it has no field \"c\""],
      "(trigger.ref && trigger.kind) == 'corn'": [
        'unknown-word at \'corn\': `trigger.ref && trigger.kind` is never "corn" (did you mean "cron"?) (it is one of: , manual, cron)',
      ],
    });
  });

  it("find every problem, in the order of the text", () => {
    expect(
      problems("${{ format('{2}', jobs.x, trigger.ref.y) }}${{ jobs }}").map((problem) => problem.split(":")[0]),
    ).to.deep.equal([
      "invalid-call at '{2}'",
      "invalid-call at jobs.x",
      "unknown-property at x",
      "invalid-call at trigger.ref.y",
      "type-mismatch at y",
      "type-mismatch at jobs",
    ]);
  });

  it("shorten long quotes in messages", () => {
    const long = `trigger.${"x".repeat(100)}`;
    for (const problem of checkTypes(parseTemplate(`\${{ ${long}.y == jobs && ${long} }}`, NAMES), TYPES, "text")) {
      expect(problem.message.length + (problem.hint ?? "").length).to.be.lessThan(250);
    }
  });

  it("find conditions whose outcome is always the same", () => {
    const constant = (text: string, outcome: boolean, by: string): void => {
      expect(problems(text, "condition"), text).to.deep.equal([
        `constant-condition at ${text}: this condition is always ${outcome}, because \`${by}\` is always ${outcome}`,
      ]);
    };
    constant("true", true, "true");
    constant("'text'", true, "'text'");
    constant("false", false, "false");
    constant("1 == 2", false, "1 == 2");
    constant("trigger.ref || 'main'", true, "'main'");
    constant("success() && trigger.ref == 'a' && ''", false, "''");
    expect(problems("jobs.build", "condition")).to.deep.equal([
      "constant-condition at jobs.build: this condition is always true: `jobs.build` is an object (compare one of its fields, or use `contains(...)`)",
    ]);
    expect(problems("${{ variables.list }}", "condition")).to.have.length(1);
    for (const text of ["", "always()", "always() || failure()", "trigger.ref", "!cancelled()", "maybe", "open"]) {
      expect(problems(text, "condition"), text).to.deep.equal([]);
    }
    expect(problems("jobs.build.result == 'failed' || failure()", "condition")).to.have.length(1);
  });

  it("never cause an exception, or a place outside of the text", () => {
    const types: ContextTypes = new Map([
      ["trigger", TYPES.get("trigger")!],
      ["jobs", TYPES.get("jobs")!],
      ["variables", TYPES.get("maybe")!],
    ]);
    fc.assert(
      fc.property(
        fc.oneof(tokenSoup, soundExpression),
        fc.constantFrom("text", "value", "condition"),
        (source, use) => {
          const text = use === "condition" ? source : `a \${{ ${source} }}`;
          const parsed = use === "condition" ? parseCondition(text, CONTEXTS) : parseTemplate(text, CONTEXTS);
          for (const { offset, length, message } of checkTypes(parsed, types, use)) {
            expect(offset >= 0 && length > 0 && offset + length <= text.length, `${message} in ${text}`).to.equal(true);
          }
        },
      ),
      { numRuns: 3_000 },
    );
  });
});

describe("a union of types", () => {
  it("has each of them once, and is `any` when one is", () => {
    expect(unionOf(NUMBER, STRING, NUMBER, oneOf(["a"]))).to.deep.equal({ kind: "union", of: [STRING, NUMBER] });
    expect(unionOf(oneOf(["a", "b"]), oneOf(["b", "c"]))).to.deep.equal(oneOf(["a", "b", "c"]));
    expect(unionOf(NUMBER, unionOf(ANY, NULL))).to.equal(ANY);
    expect(unionOf(BOOLEAN)).to.equal(BOOLEAN);
    const lists = Array.from({ length: 30 }, () => arrayOf(NUMBER));
    expect(unionOf(...lists)).to.equal(ANY);
  });
});
