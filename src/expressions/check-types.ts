/** Finds type errors in expressions before anything is evaluated. */
import { data, type Expr } from "@actions/expressions";
import {
  Binary,
  ContextAccess,
  FunctionCall,
  IndexAccess,
  Literal,
  Logical,
  Star,
  type Unary,
} from "@actions/expressions/ast";
import { TokenType } from "@actions/expressions/lexer";
import { accessType } from "./access-types.ts";
import { callType } from "./call-types.ts";
import { checkComparison } from "./comparison-types.ts";
import { type PartialScope, UNKNOWN } from "./context-data.ts";
import { decideExpression } from "./decide-condition.ts";
import { type Expression, functionsIn } from "./expression.ts";
import { printExpression, ungroup } from "./print.ts";
import type { Template } from "./template.ts";
import { clipQuote, quote, type Report, type TypeProblem } from "./type-problem.ts";
import {
  ANY,
  BOOLEAN,
  type ContextTypes,
  isComposite,
  membersOf,
  nameOf,
  NULL,
  NUMBER,
  oneOf,
  unionOf,
  type ValueType,
} from "./types.ts";

/**
 * The type problems of a template or a condition, in the order of the text. `use` says what its value becomes: a `text`, any
 * `value` (but a text when the template has more than the expression), or the outcome of a `condition`. A context without a type
 * may have any value. A value that can have several types is a problem only when every one of them is a problem. Never throws.
 */
export function checkTypes(
  template: Template,
  contexts: ContextTypes,
  use: "text" | "value" | "condition",
): readonly TypeProblem[] {
  const problems: TypeProblem[] = [];
  for (const part of template.parts) {
    if (typeof part === "string") continue;
    const report: Report = (node, kind, message, hint) => {
      problems.push({ kind, message, ...part.spans.get(node)!, ...(hint === undefined ? {} : { hint }) });
    };
    const type = typeOf(part.tree, contexts, report);
    if (use === "condition") checkOutcome(part, template, type, report);
    else if (use === "text" || template.parts.length > 1) checkText(part.tree, type, report);
  }
  return problems.toSorted((one, other) => one.offset - other.offset);
}

function typeOf(node: Expr, contexts: ContextTypes, report: Report): ValueType {
  const visit = (child: Expr): ValueType => typeOf(child, contexts, report);
  const bare = ungroup(node);
  if (bare instanceof Literal) return literalType(bare.literal);
  if (bare instanceof ContextAccess) return contexts.get(bare.name.lexeme) ?? ANY;
  if (bare instanceof IndexAccess) {
    return accessType(bare, visit(bare.expr), bare.index instanceof Star ? ANY : visit(bare.index), report);
  }
  if (bare instanceof FunctionCall) return callType(bare, bare.args.map(visit), report);
  if (bare instanceof Logical) return logicalType(bare, bare.args.map(visit));
  if (bare instanceof Binary) {
    const left = { node: bare.left, type: visit(bare.left) };
    const right = { node: bare.right, type: visit(bare.right) };
    checkComparison(bare, left, right, report);
    return BOOLEAN;
  }
  visit((bare as Unary).expr);
  return BOOLEAN;
}

function literalType(literal: data.ExpressionData): ValueType {
  switch (literal.kind) {
    case data.Kind.String:
      return oneOf([literal.value]);
    case data.Kind.Number:
      return NUMBER;
    case data.Kind.Boolean:
      return BOOLEAN;
    default:
      return NULL;
  }
}

/** `&&` gives its first falsy operand, `||` its first truthy one; both give the last operand when there is none. */
function logicalType({ operator }: Logical, operands: readonly ValueType[]): ValueType {
  const passes = operator.type === TokenType.OR ? mayBeTruthy : mayBeFalsy;
  const given = operands.slice(0, -1).flatMap((operand) => membersOf(operand).flatMap(passes));
  return unionOf(...given, operands.at(-1)!);
}

/** The part of a type that has falsy values. */
function mayBeFalsy(type: ValueType): readonly ValueType[] {
  if (isComposite(type)) return [];
  if (type.kind !== "string") return [type];
  return type.words === undefined || type.words.includes("") ? [oneOf([""])] : [];
}

function mayBeTruthy(type: ValueType): readonly ValueType[] {
  if (type.kind === "null") return [];
  return type.kind === "string" && type.words !== undefined
    ? [oneOf(type.words.filter((word) => word !== ""))]
    : [type];
}

function checkText(tree: Expr, type: ValueType, report: Report): void {
  if (!membersOf(type).every(isComposite)) return;
  const message = `${quote(tree)} is ${nameOf(type)}, which cannot become a text`;
  report(tree, "type-mismatch", message, `write \`toJSON(${clipQuote(printExpression(tree))})\``);
}

/** What the search for a constant condition may cost for one condition, in characters. */
const MAX_CONSTANT_WORK = 65_536;

function checkOutcome({ tree }: Expression, { references, problems }: Template, type: ValueType, report: Report): void {
  if (problems.length > 0) return;
  if (membersOf(type).every(isComposite)) {
    const message = `this condition is always true: ${quote(tree)} is ${nameOf(type)}`;
    report(tree, "constant-condition", message, "compare one of its fields, or use `contains(...)`");
    return;
  }
  // A condition with `always()` is meant to be always true.
  if (functionsIn(tree).includes("always")) return;
  const scope: PartialScope = new Map(references.map(({ context }) => [context, UNKNOWN]));
  const { outcome, decidedBy } = decideExpression(tree, scope, MAX_CONSTANT_WORK);
  if (outcome === "unknown") return;
  const by = clipQuote(decidedBy);
  report(tree, "constant-condition", `this condition is always ${outcome}, because \`${by}\` is always ${outcome}`);
}
