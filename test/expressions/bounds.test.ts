import { expect } from "chai";
import { MAX_EXPRESSION_CHARS, MAX_EXPRESSION_STEPS } from "../../src/expressions/bounds.ts";
import { type Json, type Scope, toScope } from "../../src/expressions/context-data.ts";
import { evaluateTemplate, parseTemplate, type Template } from "../../src/expressions/template.ts";
import { processorMs } from "../support/processor-time.ts";

/** Contexts of about 1 MB each: for each operation, one that makes it slow. */
const LARGE: Readonly<Record<string, Json>> = {
  numbers: Array.from({ length: 500_000 }, (_, index) => index % 10),
  texts: Array.from({ length: 250_000 }, () => "a"),
  map: Object.fromEntries(Array.from({ length: 130_000 }, (_, index) => [`k${index}`, 1])),
  nested: Array.from({ length: 1_000 }, () => Array.from({ length: 250 }, () => [1])),
  text: "a".repeat(1_000_000),
  dotless: "ı".repeat(1_000_000),
  quotes: '"'.repeat(1_000_000),
  braces: "}}".repeat(500_000),
  digits: `{${"1".repeat(1_000_000)}`,
  json: `[${"1,".repeat(400_000)}1]`,
  deep: `${"[".repeat(500_000)}${"]".repeat(500_000)}`,
};

/** `operand` as often as an expression may have it, joined by `||`; it must never be true. */
function repeated(operand: string): string {
  const steps = operand.match(/\w+|[.*<[]|[=!]+|''|'-'/g)!.length;
  const count = Math.min(
    Math.floor((MAX_EXPRESSION_CHARS - 10) / (operand.length + 4)),
    Math.floor((MAX_EXPRESSION_STEPS - 1) / steps),
  );
  return Array.from({ length: count }, () => operand).join(" || ");
}

function parse(source: string): Template {
  const template = parseTemplate(`\${{ ${source} }}`, ["variables"]);
  expect(template.problems, source.slice(0, 80)).to.deep.equal([]);
  return template;
}

function kinds(source: string, options = {}): readonly string[] {
  const text = `x \${{${source}}}`;
  return parseTemplate(text, ["variables"], options).problems.map(
    ({ kind, message, offset, length }) => `${kind}: ${message} at ${text.slice(offset, offset + Math.min(length, 5))}`,
  );
}

describe("the bounds on expressions", () => {
  let large: Scope;
  before(() => {
    large = toScope({ variables: LARGE });
  });
  const evaluate = (source: string, scope = large): Json => evaluateTemplate(parse(source), scope);

  it("limit characters, steps and depth, each with a message of its own", () => {
    expect(kinds(`'${"x".repeat(MAX_EXPRESSION_CHARS - 2)}'`)).to.deep.equal([]);
    expect(kinds(`'${"x".repeat(MAX_EXPRESSION_CHARS - 1)}'`)).to.deep.equal([
      "limit: this expression has 4097 characters; it may have 4096 at 'xxxx",
    ]);
    const chain = (values: number): string => Array.from({ length: values }, () => "1").join("==");
    expect(kinds(chain(250))).to.deep.equal([]);
    expect(kinds(chain(251))).to.deep.equal([
      "limit: this expression has 501 values, names, operators and calls; it may have 500 at 1==1=",
    ]);
    expect(kinds(chain(1_366)), "as deep as a tree can be").to.have.length(1);
    expect(kinds(`${"(".repeat(60)}1${")".repeat(60)}`)).to.deep.equal([
      "limit: this expression is nested too deeply; 50 levels are allowed at (",
    ]);
    expect(kinds(`${"!".repeat(60)}true`)[0]).to.match(/^limit: .* nested/);
  });

  it("can be narrower, and never wider than the library's own", () => {
    expect(kinds("1 == 1", { maxChars: 5 })[0]).to.match(/^limit/);
    expect(kinds("1 == 1", { maxSteps: 2 })[0]).to.match(/^limit/);
    expect(kinds("1 == 1", { maxChars: 6, maxSteps: 3 })).to.deep.equal([]);
    expect(kinds(`'${"x".repeat(30_000)}'`, { maxChars: 1e6 })[0]).to.match(/^limit: .* too long/);
  });

  it("keep a text from growing level by level", () => {
    let bomb = "'x'";
    for (let level = 0; level < 40; level++) bomb = `format('{0}{0}', ${bomb})`;
    expect(() => evaluate(bomb)).to.throw(RangeError, "1048576");
    expect(() => evaluate("variables.text }}${{ variables.text")).to.throw(RangeError, "1048576");
    expect(() => evaluate("join(variables.texts, variables.text)")).to.throw(RangeError, "1048576");
    const deepList = `${"[".repeat(90)}${"1,".repeat(20_000)}1${"]".repeat(90)}`;
    expect(() => evaluate("toJSON(fromJSON(variables.l))", toScope({ variables: { l: deepList } }))).to.throw(
      RangeError,
      "1048576",
    );
  });

  it("end every evaluation of large data within two seconds of processor time", () => {
    const operands = [
      "!variables.numbers.*",
      "!variables.map.*",
      "!variables.nested.*.*.*",
      "!variables.nested.*[0]",
      "contains(variables.numbers, 'x')",
      "contains(variables.texts, variables.quotes)",
      "contains(variables.text, 'x')",
      "variables.text != variables.text",
      "variables.dotless != variables.dotless",
      "variables.dotless < variables.dotless",
      "startsWith(variables.dotless, 'x')",
      "contains(variables.dotless, 'x')",
      "variables.text == 1",
      "!variables.numbers[variables.text]",
      "!toJSON(variables.texts)",
      "!toJSON(variables.quotes)",
      "!fromJSON(variables.json)",
      "!fromJSON(variables.deep)",
      "!join(variables.numbers, '')",
      "!join(variables.texts, '-')",
      "!format(variables.braces)",
      "!format(variables.digits, 1)",
    ];
    const slow: string[] = [];
    for (const operand of operands) {
      const template = parse(repeated(operand));
      const from = processorMs();
      try {
        expect(evaluateTemplate(template, large), operand).to.be.a("boolean");
      } catch (error) {
        expect((error as Error).message, operand).to.match(/characters|nested more than|single brace/);
      }
      const ms = processorMs() - from;
      if (ms > 2_000) slow.push(`${operand}: ${Math.round(ms)} ms`);
    }
    expect(slow).to.deep.equal([]);
  });

  it("allow large expressions that make sense", () => {
    expect(evaluate("contains(variables.text, 'aaa') && startsWith(variables.text, 'a')")).to.equal(true);
    expect(evaluate("contains(variables.numbers, 9)")).to.equal(true);
    expect(evaluate("variables.map.*[0] == variables.text")).to.equal(false);
    expect((evaluate("variables.map.*") as Json[]).length).to.equal(130_000);
    expect((evaluate("fromJSON(variables.json)") as Json[]).length).to.equal(400_001);
    expect(evaluate("join(variables.numbers, '')")).to.have.length(500_000);
  });
});
