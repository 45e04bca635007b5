/** Decides conditions as far as their values are known: for a dry run, which has no outputs and no results. */
import type { Expr } from "@actions/expressions";
import { Logical, Unary } from "@actions/expressions/ast";
import { TokenType } from "@actions/expressions/lexer";
import { truthy } from "@actions/expressions/result";
import type { Condition } from "./condition.ts";
import { type WorkBudget, WorkUsedUp } from "../domain/work/work-budget.ts";
import { type PartialScope, UNKNOWN_VALUE } from "./context-data.ts";
import { Evaluation } from "./evaluation.ts";
import type { PartialStatus } from "./functions.ts";
import { printExpression, ungroup } from "./print.ts";

export interface Verdict {
  readonly outcome: "true" | "false" | "unknown";
  /** The smallest part of the condition, as text, that decided it or that is not known. */
  readonly decidedBy: string;
  /** Why the evaluation of `decidedBy` fails, whatever the unknown values are; null when it does not fail. */
  readonly failure: string | null;
}

/**
 * Decides a condition when some contexts, fields or status may not be known: see `toPartialScope`. The outcomes `true` and `false`
 * are those of `evaluateCondition` for all unknown values, except for values for which that throws. A condition with problems has
 * the outcome `unknown`. Throws only `WorkUsedUp`.
 */
export function decideCondition(
  condition: Condition,
  scope: PartialScope,
  status: PartialStatus,
  budget?: WorkBudget,
): Verdict {
  if (condition.tree === null) {
    return { outcome: "unknown", decidedBy: condition.full, failure: condition.problems[0]?.message ?? null };
  }
  return verdictOf(condition.tree, new Evaluation(scope, status, budget));
}

/** As `decideCondition`, for a tree without problems; `unknown` also when the evaluation costs more than `limit` characters. */
export function decideExpression(tree: Expr, scope: PartialScope, limit: number): Verdict {
  return verdictOf(tree, new Evaluation(scope, {}, undefined, limit));
}

function verdictOf(tree: Expr, evaluation: Evaluation): Verdict {
  const { outcome, by, failure } = decide(tree, evaluation);
  return { outcome, decidedBy: printExpression(by), failure };
}

interface Decision {
  readonly outcome: Verdict["outcome"];
  /** A part of the tree, or a node that is made of parts of the tree. */
  readonly by: Expr;
  readonly failure: string | null;
}

function decide(grouped: Expr, evaluation: Evaluation): Decision {
  const node = ungroup(grouped);
  if (node instanceof Logical) return decideLogical(node, evaluation);
  if (node instanceof Unary) {
    const { outcome, by, failure } = decide(node.expr, evaluation);
    return { outcome: OPPOSITE[outcome], by: new Unary(node.operator, by), failure };
  }
  try {
    return { outcome: truthy(evaluation.valueOf(node)) ? "true" : "false", by: node, failure: null };
  } catch (error) {
    if (error instanceof WorkUsedUp) throw error;
    const failure = error === UNKNOWN_VALUE ? null : error instanceof Error ? error.message : String(error);
    return { outcome: "unknown", by: node, failure };
  }
}

function decideLogical(node: Logical, evaluation: Evaluation): Decision {
  const decisive = node.operator.type === TokenType.OR ? "true" : "false";
  const operands: Decision[] = [];
  for (const arg of node.args) {
    const operand = decide(arg, evaluation);
    if (operand.outcome === decisive) return operand;
    const isReached = operands.every(({ outcome }) => outcome !== "unknown");
    if (operand.failure !== null && isReached) return operand;
    operands.push(operand);
  }
  const unknown = operands.filter(({ outcome }) => outcome === "unknown");
  const deciding = (unknown.length > 0 ? unknown : operands).map(({ by }) => by);
  const by = deciding.length === 1 ? deciding[0]! : new Logical(node.operator, deciding);
  return { outcome: unknown.length > 0 ? "unknown" : OPPOSITE[decisive], by, failure: null };
}

const OPPOSITE = { true: "false", false: "true", unknown: "unknown" } as const;
