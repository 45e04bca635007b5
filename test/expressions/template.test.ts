import { data, wellKnownFunctions } from "@actions/expressions";
import { expect } from "chai";
import fc from "fast-check";
import { type Json, toScope } from "../../src/expressions/context-data.ts";
import { evaluateTemplate, parseTemplate } from "../../src/expressions/template.ts";

const CONTEXTS = ["trigger", "variables"];

function evaluate(text: string, variables: Readonly<Record<string, Json>> = {}, trigger: Json = { ref: "main" }): Json {
  const template = parseTemplate(text, CONTEXTS);
  expect(template.problems).to.deep.equal([]);
  return evaluateTemplate(template, toScope({ trigger, variables }));
}

/** `kind:part of the text` of every problem. */
function problems(text: string): readonly string[] {
  return parseTemplate(text, CONTEXTS).problems.map(
    ({ kind, offset, length }) => `${kind}:${text.slice(offset, offset + length)}`,
  );
}

describe("a template", () => {
  it("that is one expression keeps the type of its value", () => {
    expect(evaluate("${{ variables.n }}", { n: 3 })).to.equal(3);
    expect(evaluate("${{ variables.on }}", { on: false })).to.equal(false);
    expect(evaluate("${{ fromJSON('[1, {\"a\": null}]') }}")).to.deep.equal([1, { a: null }]);
  });

  it("with other characters beside an expression is a text", () => {
    expect(evaluate(" ${{ variables.n }}", { n: 3 })).to.equal(" 3");
    expect(evaluate("${{ variables.n }}${{ variables.n }}", { n: 3 })).to.equal("33");
    expect(evaluate("[${{ variables.absent }}]")).to.equal("[]");
  });

  it("without an expression is the text itself, also with single braces", () => {
    for (const text of ["", "}}", "${ {", "$${HOME}", "a }} b"]) expect(evaluate(text)).to.equal(text);
  });

  it("ends an expression at the first braces outside of quotes", () => {
    expect(evaluate("${{ '}}' }}|${{ 'it''s' }}")).to.equal("}}|it's");
  });

  it("never evaluates the text of its values", () => {
    fc.assert(
      fc.property(fc.string(), fc.string({ unit: fc.constantFrom("$", "{", "}", "'", " ", "trigger.ref") }), (a, b) => {
        expect(evaluate("<${{ variables.a }}|${{ variables.b }}>", { a, b })).to.equal(`<${a}|${b}>`);
      }),
    );
  });

  it("reads fields by their exact name", () => {
    expect(evaluate("${{ variables.a }}${{ variables.A }}", { a: 1, A: 2 })).to.equal("12");
    expect(evaluate("x${{ variables.constructor }}${{ variables['__proto__'] }}")).to.equal("x");
    expect(evaluate("${{ variables.constructor }}", { constructor: "mine" })).to.equal("mine");
  });

  it("calls the functions of the language", () => {
    expect(evaluate("${{ contains('Hello', 'ell') && startsWith('abc', 'a') && endsWith('abc', 'c') }}")).to.equal(
      true,
    );
    expect(evaluate("${{ format('{0}-{1}', trigger.ref, join(fromJSON('[1,2]'), '+')) }}")).to.equal("main-1+2");
    expect(evaluate("${{ toJSON(variables) }}", { a: 1 })).to.equal('{\n  "a": 1\n}');
  });

  it("has its references with their places", () => {
    const text = "a ${{ trigger.ref }} ${{ variables['x'] || toJSON(variables) }}";
    const { references } = parseTemplate(text, CONTEXTS);
    expect(
      references.map(({ context, field, offset, length }) => [context, field, text.slice(offset, offset + length)]),
    ).to.deep.equal([
      ["trigger", "ref", "trigger.ref"],
      ["variables", "x", "variables['x']"],
      ["variables", null, "variables"],
    ]);
  });

  it("has its problems with their places", () => {
    expect(problems("${{ triger.ref }}")).to.deep.equal(["unknown-context:triger"]);
    expect(problems("x ${{ TRIGGER.ref }}")).to.deep.equal(["unknown-context:TRIGGER"]);
    expect(problems("${{ trigger.ref }} ${{ shout('a') }}")).to.deep.equal(["unknown-function:shout"]);
    expect(problems("${{ constructor() }}${{ case(true, 1, 2) }}")).to.deep.equal([
      "unknown-function:constructor",
      "unknown-function:case",
    ]);
    expect(problems("${{ 1 + }}")).to.deep.equal(["syntax:+"]);
    expect(problems("${{ trigger.ref trigger }}")).to.deep.equal(["syntax:trigger"]);
    expect(problems("${{  }}")).to.deep.equal(["syntax:  "]);
    expect(problems("a ${{ trigger.ref")).to.deep.equal(["syntax:${{"]);
    expect(problems("${{ 'a\nb' == foo }}")).to.deep.equal(["unknown-context:foo"]);
  });

  it("reports every unknown context and function of an expression at once", () => {
    expect(problems("${{ a.b && variables.x == b || shout(c) }}")).to.deep.equal([
      "unknown-context:a",
      "unknown-context:b",
      "unknown-function:shout",
      "unknown-context:c",
    ]);
    expect(problems("${{ a && trigger.ref and b }}"), "what follows an error of syntax").to.deep.equal([
      "unknown-context:a",
      "syntax:and",
    ]);
  });

  it("explains common syntax errors", () => {
    const slips: readonly (readonly [string, string, string])[] = [
      ['trigger.ref == "main"', '"main"', "single quotes"],
      ["trigger.ref = 'main'", "=", "`==`"],
      ["true & true", "&", "`&&`"],
      ["true | true", "|", "`||`"],
      ["true and true", "and", "`&&`"],
      ["true && && true", "&&", "between two values"],
      ["1 + 2", "+", "no arithmetic"],
      ["true ? 1 : 2", "?", "for a choice"],
      ["trigger.", "", "not complete"],
      ["contains('a'", "", "not complete"],
      ["trigger.ref ==", "==", "ends after `==`"],
      ["trigger.ref 5x", "5x", "`5x` cannot stand here"],
    ];
    for (const [source, place, words] of slips) {
      const text = `\${{ ${source} }}`;
      const [problem] = parseTemplate(text, CONTEXTS).problems;
      expect(problem!.message, source).to.contain(words);
      expect(text.slice(problem!.offset, problem!.offset + problem!.length)).to.equal(place);
    }
  });

  it("has correct places also when a string in it contains the words of a lexer error", () => {
    const text = "${{ \"'. Located at position 999 within expression }}";
    for (const { offset, length } of parseTemplate(text, CONTEXTS).problems) {
      expect(offset + length).to.be.at.most(text.length);
    }
  });

  it("reads every doubled quote of a string as one", () => {
    expect(evaluate("${{ 'it''s John''s' }}")).to.equal("it's John's");
  });

  it("refuses a wrong number of arguments, and says how many are expected", () => {
    const calls: readonly (readonly [string, string])[] = [
      ["contains('a')", "`contains` takes 2 arguments"],
      ["JOIN('a', 'b', 'c')", "`join` takes 1 or 2 arguments"],
      ["format()", "`format` takes 1 or more arguments"],
      ["toJSON('a', 'b')", "`toJSON` takes 1 argument"],
      ["case(1)", 'unknown function "case"'],
    ];
    for (const [source, message] of calls) {
      expect(
        parseTemplate(`\${{ ${source} }}`, CONTEXTS).problems.map((problem) => problem.message),
        source,
      ).to.deep.equal([message]);
    }
  });

  it("may call status functions only when the caller allows them", () => {
    expect(problems("${{ Failure() }} ${{ always() }}")).to.deep.equal([
      "misplaced-function:Failure",
      "misplaced-function:always",
    ]);
    const template = parseTemplate("${{ failure() }}|${{ always() }}", CONTEXTS, { statusFunctions: true });
    expect(template.problems).to.deep.equal([]);
    const status = { success: false, failure: true, cancelled: false };
    expect(evaluateTemplate(template, new Map(), status)).to.equal("true|true");
    const called = parseTemplate("${{ success(1) }}", CONTEXTS, { statusFunctions: true });
    expect(called.problems[0]).to.include({ kind: "invalid-call", message: "`success` takes no arguments" });
  });

  it("reads steps, jobs, env and secrets like other contexts; an absent context is empty", () => {
    const scope = toScope({
      steps: { build: { outputs: { tag: "v1${{ secrets.KEY }}" }, result: "success" } },
      jobs: { test: { outputs: { list: "[1,2]" }, result: "failed" } },
      env: { A: "a" },
      secrets: { KEY: "hidden" },
    });
    const value = (text: string): Json =>
      evaluateTemplate(parseTemplate(text, ["steps", "jobs", "env", "secrets", "matrix"]), scope);
    expect(value("${{ steps.build.outputs.tag }}!${{ env.A }}")).to.equal("v1${{ secrets.KEY }}!a");
    expect(value("${{ fromJSON(jobs.test.outputs.list)[1] }}")).to.equal(2);
    expect(value("${{ jobs.*.result }}")).to.deep.equal(["failed"]);
    expect(value("[${{ matrix.x }}${{ jobs.absent.outputs.x }}]")).to.equal("[]");
    expect(value("${{ toJSON(secrets) }}")).to.equal('{\n  "KEY": "hidden"\n}');
  });

  it("fails with messages that contain no value, since a value can be a secret", () => {
    const calls: readonly (readonly [string, string, string])[] = [
      ["fromJSON(variables.key)", "s3cret", "the argument of `fromJSON` is not JSON"],
      ["fromJSON(variables.key)", " ", "the argument of `fromJSON` is an empty text"],
      [
        "format(variables.key)",
        "s3cret{",
        "the pattern of `format` has a single brace; write `{{` or `}}` for a brace",
      ],
      ["format(variables.key, 1)", "s3cret{1}", "the pattern of `format` needs more values than the 1 given"],
    ];
    for (const [source, key, message] of calls) {
      const failure = (): Json => evaluate(`\${{ ${source} }}`, { key });
      expect(failure, source).to.throw(Error).with.property("message", message);
    }
  });

  it("formats as the library does, with doubled braces", () => {
    expect(evaluate("${{ format('{{{0}}} {1:x} {0}{{}}', 'a', 2) }}")).to.equal("{a} 2 a{}");
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("{", "}", "0", "1", "a", ":") }), (pattern) => {
        const args = [pattern, "x", "y"].map((text) => new data.StringData(text));
        const format = wellKnownFunctions["format"]!;
        const outcome = (run: () => unknown): unknown => {
          try {
            return run();
          } catch {
            return "it throws";
          }
        };
        expect(
          outcome(() => evaluate("${{ format(variables.p, 'x', 'y') }}", { p: pattern })),
          pattern,
        ).to.equal(outcome(() => format.call(...args).coerceString()));
      }),
      { numRuns: 2_000 },
    );
  });

  it("never throws while it is parsed", () => {
    const piece = fc.constantFrom(
      "${{",
      "}}",
      "'",
      "(",
      ")",
      "[",
      "]",
      ".",
      "*",
      "!",
      "&&",
      "==",
      "a",
      "trigger",
      "1",
      "-",
      "\n",
      "format(",
      ",",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const text = `\${{${pieces.join("")}}}`;
        for (const { offset, length } of parseTemplate(text, CONTEXTS).problems) {
          expect(offset >= 0 && offset + length <= text.length, `${text} at ${offset}+${length}`).to.equal(true);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
