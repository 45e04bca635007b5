/** Conditions: expressions that decide whether a stage, a job or a step runs. */
import type { Expr } from "@actions/expressions";
import { FunctionCall, Logical } from "@actions/expressions/ast";
import { truthy } from "@actions/expressions/result";
import { type Token, TokenType } from "@actions/expressions/lexer";
import type { WorkBudget } from "../domain/work/work-budget.ts";
import type { Scope } from "./context-data.ts";
import { Evaluation } from "./evaluation.ts";
import { functionsIn, parseExpression, type ParseOptions } from "./expression.ts";
import { isStatusFunction, type Status } from "./functions.ts";
import { printExpression } from "./print.ts";
import { CLOSE, findUnquoted, OPEN, type Template, type TemplateProblem } from "./template.ts";

/** A parsed condition. Its only part is the expression as written; an empty text has no part. */
export interface Condition extends Template {
  /** True when the condition calls a status function, so that `success()` is not implied. */
  readonly usesStatus: boolean;
  /** The condition in full, as text, with the implied `success()`; for a condition with problems, the text as written. */
  readonly full: string;
  /** The tree that `full` prints; null for a condition with problems. */
  readonly tree: Expr | null;
}

/**
 * Parses an expression, bare or within one `${{ }}`; spans count within `text`. A condition that calls no status function implies
 * `success()`; an empty text is `success()` alone. Never throws.
 */
export function parseCondition(
  text: string,
  contexts: readonly string[],
  options: Omit<ParseOptions, "statusFunctions"> = {},
): Condition {
  const trimmed = text.trim();
  const offset = text.indexOf(trimmed);
  if (trimmed === "") return { ...NOTHING, ...withImplied(null) };
  const [start, end] = boundsOf(text, offset, offset + trimmed.length);
  if (findUnquoted(text.slice(0, end), OPEN, start) >= 0) {
    const message = "a condition is one expression: write it without `${{ }}`, or put all of it into one `${{ }}`";
    const problem: TemplateProblem = { kind: "syntax", name: "", message, offset, length: trimmed.length };
    return { ...NOTHING, problems: [problem], usesStatus: false, full: trimmed, tree: null };
  }
  const { expression, ...found } = parseExpression(text.slice(start, end), start, contexts, {
    ...options,
    statusFunctions: true,
  });
  const parts = expression === undefined ? [] : [expression];
  if (expression === undefined || found.problems.length > 0) {
    return { ...found, parts, usesStatus: false, full: trimmed, tree: null };
  }
  return { ...found, parts, ...withImplied(expression.tree) };
}

/**
 * Whether the condition holds. An empty text, 0, NaN, null and false do not hold. Throws as `evaluateTemplate` does, and for a
 * condition with problems.
 */
export function evaluateCondition(
  { tree, problems }: Condition,
  scope: Scope,
  status: Status,
  budget?: WorkBudget,
): boolean {
  if (tree === null) throw new Error(`this condition cannot be evaluated: ${problems[0]?.message}`);
  return truthy(new Evaluation(scope, status, budget).valueOf(tree));
}

const NOTHING: Template = { parts: [], references: [], problems: [] };

/** The range of the expression: between the braces when they surround the whole text. */
function boundsOf(text: string, start: number, end: number): readonly [start: number, end: number] {
  const inner = start + OPEN.length;
  const close = end - CLOSE.length;
  return text.startsWith(OPEN, start) && findUnquoted(text, CLOSE, inner) === close ? [inner, close] : [start, end];
}

function withImplied(tree: Expr | null): Pick<Condition, "usesStatus" | "full" | "tree"> {
  const usesStatus = tree !== null && functionsIn(tree).some(isStatusFunction);
  const success = new FunctionCall(tokenOf(TokenType.IDENTIFIER, "success"), []);
  const full = tree === null ? success : usesStatus ? tree : new Logical(tokenOf(TokenType.AND, "&&"), [success, tree]);
  return { usesStatus, full: printExpression(full), tree: full };
}

/** A token without a place in a text. */
function tokenOf(type: TokenType, lexeme: string): Token {
  const nowhere = { line: 0, column: 0 };
  return { type, lexeme, range: { start: nowhere, end: nowhere } };
}
