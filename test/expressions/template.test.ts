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

/** `kind:the part of the text that the problem points to` of every problem. */
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

  it("with anything beside an expression is a text", () => {
    expect(evaluate(" ${{ variables.n }}", { n: 3 })).to.equal(" 3");
    expect(evaluate("${{ variables.n }}${{ variables.n }}", { n: 3 })).to.equal("33");
    expect(evaluate("[${{ variables.absent }}]")).to.equal("[]");
  });

  it("without an expression is the text itself, also with lone braces", () => {
    for (const text of ["", "}}", "${ {", "$${HOME}", "a }} b"]) expect(evaluate(text)).to.equal(text);
  });

  it("closes at the first braces outside of quotes", () => {
    expect(evaluate("${{ '}}' }}|${{ 'it''s' }}")).to.equal("}}|it's");
  });

  it("does not evaluate what its values hold, whatever they hold", () => {
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

  it("names what it reads, and where", () => {
    const text = "a ${{ trigger.ref }} ${{ variables['x'] || toJSON(variables) }}";
    const { references } = parseTemplate(text, CONTEXTS);
    expect(
      references.map(({ context, field, offset, length }) => [context, field, text.slice(offset, offset + length)]),
    ).to.deep.equal([
      ["trigger", "ref", "trigger.ref"],
      ["variables", "x", "variables['x'"],
      ["variables", null, "variables"],
    ]);
  });

  it("points to its problems", () => {
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

  it("is told when it is too long or too deep, instead of filling the memory or the stack", () => {
    const nested = `${"(".repeat(60)}1${")".repeat(60)}`;
    const chain = Array.from({ length: 5_000 }, () => "1").join("==");
    for (const source of [nested, chain, `'${"x".repeat(30_000)}'`]) {
      expect(problems(`\${{ ${source} }}`)[0]).to.match(/^syntax/);
    }
    let bomb = "'x'";
    for (let level = 0; level < 40; level++) bomb = `format('{0}{0}', ${bomb})`;
    expect(() => evaluate(`\${{ ${bomb} }}`)).to.throw(RangeError, "1048576");
    expect(() => evaluate("${{ variables.a }}".repeat(3), { a: "x".repeat(500_000) })).to.throw(RangeError);
    expect(() =>
      evaluate("${{ join(fromJSON(variables.l), variables.a) }}", { a: "x".repeat(500_000), l: "[1,2,3,4]" }),
    ).to.throw(RangeError);
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
