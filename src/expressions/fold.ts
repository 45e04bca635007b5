/** Puts the known values into expressions: what is left of an expression reads only values that are not known yet. */
import { data, type Expr } from "@actions/expressions";
import { Binary, FunctionCall, IndexAccess, Literal, Logical, Star, Unary } from "@actions/expressions/ast";
import { type Token, TokenType } from "@actions/expressions/lexer";
import { type WorkBudget, WorkUsedUp } from "../domain/work/work-budget.ts";
import type { Condition } from "./condition.ts";
import { fromData, type PartialScope } from "./context-data.ts";
import { Evaluation } from "./evaluation.ts";
import { functionsIn } from "./expression.ts";
import { isStatusFunction } from "./functions.ts";
import { printExpression, ungroup } from "./print.ts";
import { CLOSE, OPEN, type Template } from "./template.ts";

/**
 * A condition in full in which every part that `scope` knows is a literal; calls of status functions stay. Its outcome with the
 * other values is the outcome of the whole condition. A part whose evaluation fails stays as it is, so that it fails only if the
 * condition needs it. Throws only `WorkUsedUp`.
 */
export function foldCondition(condition: Condition, scope: PartialScope, budget?: WorkBudget): string {
  if (condition.tree === null) return condition.full;
  return charged(printExpression(fold(condition.tree, new Evaluation(scope, {}, budget))), budget);
}

/**
 * A text in which every part of an expression that `scope` knows is a literal. A known text stays within its expression, in quotes,
 * so that it cannot become an expression itself. The value of the folded text with the other values is the value of the whole text.
 * Throws only `WorkUsedUp`.
 */
export function foldTemplate({ parts }: Template, scope: PartialScope, budget?: WorkBudget): string {
  const evaluation = new Evaluation(scope, {}, budget);
  const texts = parts.map((part) => {
    const text = typeof part === "string" ? part : `${OPEN} ${printExpression(fold(part.tree, evaluation))} ${CLOSE}`;
    return charged(text, budget);
  });
  return texts.join("");
}

/** Known values make a folded text long, and each cell of a matrix has its own. */
function charged(text: string, budget: WorkBudget | undefined): string {
  budget?.charge(text.length);
  return text;
}

function fold(grouped: Expr, evaluation: Evaluation): Expr {
  const node = ungroup(grouped);
  if (node instanceof Literal || node instanceof Star) return node;
  // Status functions are called when the condition is evaluated. `always()` stays too: without it, `success()` would be implied.
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
  } catch (error) {
    if (error instanceof WorkUsedUp) throw error;
    // The value of the node is not known yet, or its evaluation fails. The whole expression may not need the node.
    return undefined;
  }
}

/** The literal of a value. Lists and maps have no literals: they become calls of `fromJSON` with their JSON. */
function literalOf(value: data.ExpressionData): Expr {
  if (value.kind !== data.Kind.Array && value.kind !== data.Kind.Dictionary) return new Literal(value, NO_TOKEN);
  const json = new data.StringData(JSON.stringify(fromData(value)));
  const name: Token = { ...NO_TOKEN, type: TokenType.IDENTIFIER, lexeme: "fromJSON" };
  return new FunctionCall(name, [new Literal(json, NO_TOKEN)]);
}

const NOWHERE = { line: 0, column: 0 };
const NO_TOKEN: Token = { type: TokenType.UNKNOWN, lexeme: "", range: { start: NOWHERE, end: NOWHERE } };
