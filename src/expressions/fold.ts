/** Expressions with what is known put in: what is left reads only what is not known yet. */
import { data, type Expr } from "@actions/expressions";
import { Binary, FunctionCall, IndexAccess, Literal, Logical, Star, Unary } from "@actions/expressions/ast";
import { type Token, TokenType } from "@actions/expressions/lexer";
import type { Condition } from "./condition.ts";
import { fromData, type PartialScope } from "./context-data.ts";
import { Evaluation } from "./evaluation.ts";
import { functionsIn } from "./expression.ts";
import { isStatusFunction } from "./functions.ts";
import { printExpression, ungroup } from "./print.ts";
import { CLOSE, OPEN, type Template } from "./template.ts";

/**
 * A condition in full in which all that `scope` knows is a value; calls of status functions stay. Evaluated with the
 * rest, it gives what the whole gives. A part that cannot be evaluated stays as it is, to fail where it is asked for.
 */
export function foldCondition(condition: Condition, scope: PartialScope): string {
  if (condition.tree === null) return condition.full;
  return printExpression(fold(condition.tree, new Evaluation(scope)));
}

/**
 * A text in which its expressions hold what `scope` knows. What was known stands in quotes within an expression, so that
 * nothing of it can become one; evaluated with the rest, the text is what the whole is.
 */
export function foldTemplate({ parts }: Template, scope: PartialScope): string {
  const evaluation = new Evaluation(scope);
  return parts
    .map((part) =>
      typeof part === "string" ? part : `${OPEN} ${printExpression(fold(part.tree, evaluation))} ${CLOSE}`,
    )
    .join("");
}

function fold(grouped: Expr, evaluation: Evaluation): Expr {
  const node = ungroup(grouped);
  if (node instanceof Literal || node instanceof Star) return node;
  // How it stands is asked when the condition is evaluated; `always()` too: it keeps `success()` from being implied.
  const known = functionsIn(node).some(isStatusFunction) ? undefined : tryLiteral(node, evaluation);
  if (known !== undefined) return known;
  const within = (child: Expr): Expr => fold(child, evaluation);
  if (node instanceof Logical) return new Logical(node.operator, node.args.map(within));
  if (node instanceof Unary) return new Unary(node.operator, within(node.expr));
  if (node instanceof Binary) return new Binary(within(node.left), node.operator, within(node.right));
  if (node instanceof IndexAccess) return new IndexAccess(within(node.expr), within(node.index));
  if (node instanceof FunctionCall) return new FunctionCall(node.functionName, node.args.map(within));
  return node;
}

function tryLiteral(node: Expr, evaluation: Evaluation): Expr | undefined {
  try {
    return literalOf(evaluation.valueOf(node));
  } catch {
    // Not known yet as a whole, or it fails: for this value, and maybe not for the whole, which may not ask for it.
    return undefined;
  }
}

/** Lists and maps have no literal: they are read from their JSON. */
function literalOf(value: data.ExpressionData): Expr {
  if (value.kind !== data.Kind.Array && value.kind !== data.Kind.Dictionary) return new Literal(value, NO_TOKEN);
  const json = new data.StringData(JSON.stringify(fromData(value)));
  const name: Token = { ...NO_TOKEN, type: TokenType.IDENTIFIER, lexeme: "fromJSON" };
  return new FunctionCall(name, [new Literal(json, NO_TOKEN)]);
}

const NOWHERE = { line: 0, column: 0 };
const NO_TOKEN: Token = { type: TokenType.UNKNOWN, lexeme: "", range: { start: NOWHERE, end: NOWHERE } };
