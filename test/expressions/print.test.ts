import { data } from "@actions/expressions";
import { Binary, ContextAccess, type Expr, FunctionCall, Grouping, IndexAccess } from "@actions/expressions/ast";
import { Literal, Logical, Star, Unary } from "@actions/expressions/ast";
import { expect } from "chai";
import fc from "fast-check";
import { parseExpression } from "../../src/expressions/expression.ts";
import { printExpression } from "../../src/expressions/print.ts";
import { CONTEXTS, soundExpression } from "./arbitraries.ts";

function parse(source: string): Expr {
  const { expression, problems } = parseExpression(source, 0, CONTEXTS, { statusFunctions: true });
  expect(problems, source).to.deep.equal([]);
  return expression!.tree;
}

/** The tree as plain lists, without the nodes of parentheses. */
function shape(node: Expr): unknown {
  if (node instanceof Grouping) return shape(node.group);
  if (node instanceof Literal) return [data.Kind[node.literal.kind], node.literal.coerceString()];
  if (node instanceof ContextAccess) return node.name.lexeme;
  if (node instanceof Star) return "*";
  if (node instanceof Unary) return ["!", shape(node.expr)];
  if (node instanceof Binary) return [node.operator.lexeme, shape(node.left), shape(node.right)];
  if (node instanceof IndexAccess) return ["[]", shape(node.expr), shape(node.index)];
  if (node instanceof FunctionCall) return [node.functionName.lexeme.toLowerCase(), ...node.args.map(shape)];
  const { operator, args } = node as Logical;
  const operands = args.map(shape).flatMap((operand) => {
    return Array.isArray(operand) && operand[0] === operator.lexeme ? operand.slice(1) : [operand];
  });
  return [operator.lexeme, ...operands];
}

describe("a printed expression", () => {
  it("is written in one way, with the parentheses that it needs", () => {
    const cases: readonly (readonly [string, string])[] = [
      ["trigger . ref=='main'", "trigger.ref == 'main'"],
      ["((trigger.ref))", "trigger.ref"],
      ["trigger['ref']", "trigger.ref"],
      ["trigger['a b']['1']", "trigger['a b']['1']"],
      ["trigger[ 'it''s' ][0][*]", "trigger['it''s'][0].*"],
      ["(trigger.*).a", "trigger.*.a"],
      ["trigger[trigger.a || 'b']", "trigger[trigger.a || 'b']"],
      ["!(trigger.a)&&!!true", "!trigger.a && !!true"],
      ["!(1 == 2)", "!(1 == 2)"],
      ["(1 < 2) == (3 >= 4)", "1 < 2 == 3 >= 4"],
      ["1 < (2 == 3)", "1 < (2 == 3)"],
      ["(1 == 2) == 3", "1 == 2 == 3"],
      ["1 == (2 == 3)", "1 == (2 == 3)"],
      ["1 < (2 < 3)", "1 < (2 < 3)"],
      ["true && (false || null)", "true && (false || null)"],
      ["(true && false) || null", "true && false || null"],
      ["true && (false && null)", "true && false && null"],
      ["(true || false) == null", "(true || false) == null"],
      ["CONTAINS( trigger , 'a' )", "contains(trigger, 'a')"],
      ["(TOJSON(trigger)).a", "toJSON(trigger).a"],
      ["('a').b", "('a').b"],
      ["(!true).b", "(!true).b"],
      ["format('{0}', (1 == 1))", "format('{0}', 1 == 1)"],
      ["0x1f", "31"],
      ["-0", "-0"],
      [".5", "0.5"],
      ["1e21", "1e+21"],
      ["NaN", "NaN"],
      ["-Infinity", "-Infinity"],
      ["'a''b''c'", "'a''b''c'"],
    ];
    for (const [source, printed] of cases) expect(printExpression(parse(source)), source).to.equal(printed);
  });

  it("gives the same tree and the same text when it is parsed again", () => {
    fc.assert(
      fc.property(soundExpression, (source) => {
        const tree = parse(source);
        const printed = printExpression(tree);
        const again = parse(printed);
        expect(shape(again), printed).to.deep.equal(shape(tree));
        expect(printExpression(again)).to.equal(printed);
      }),
      { numRuns: 2_000 },
    );
  });
});
