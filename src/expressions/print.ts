/** Prints expressions: one way to write each, with only the parentheses that it needs. */
import { data, type Expr } from "@actions/expressions";
import {
  Binary,
  ContextAccess,
  FunctionCall,
  Grouping,
  IndexAccess,
  Literal,
  Logical,
  Star,
  Unary,
} from "@actions/expressions/ast";
import { TokenType } from "@actions/expressions/lexer";
import { functionNamed } from "./functions.ts";

/** How tightly operators bind; an operand that binds less tightly than its place requires is put in parentheses. */
const OR = 1;
const AND = 2;
const EQUALITY = 3;
const COMPARISON = 4;
const UNARY = 5;
const POSTFIX = 6;
const VALUE = 7;

/** The text of a tree. Parsed again, it gives the same tree, except for parentheses, and `&&` within `&&`, which mean nothing. */
export function printExpression(tree: Expr): string {
  return print(tree, OR);
}

/** The node inside all of its parentheses. */
export function ungroup(node: Expr): Expr {
  return node instanceof Grouping ? ungroup(node.group) : node;
}

function print(node: Expr, place: number): string {
  if (node instanceof Grouping) return print(node.group, place);
  const text = printBare(node);
  return bindingOf(node) < place ? `(${text})` : text;
}

function bindingOf(node: Expr): number {
  if (node instanceof Logical) return node.operator.type === TokenType.OR ? OR : AND;
  if (node instanceof Binary) return isEquality(node) ? EQUALITY : COMPARISON;
  if (node instanceof Unary) return UNARY;
  // A field can follow only a name, a call or parentheses.
  return node instanceof Literal ? POSTFIX : VALUE;
}

function printBare(node: Expr): string {
  if (node instanceof Logical) return operandsOf(node).join(` ${node.operator.lexeme} `);
  if (node instanceof Binary) {
    const binding = bindingOf(node);
    // Operators of one kind are read from left to right.
    return `${print(node.left, binding)} ${node.operator.lexeme} ${print(node.right, binding + 1)}`;
  }
  if (node instanceof Unary) return `!${print(node.expr, UNARY)}`;
  if (node instanceof IndexAccess) return `${print(node.expr, VALUE)}${printIndex(node.index)}`;
  if (node instanceof FunctionCall) {
    const { lexeme } = node.functionName;
    return `${functionNamed(lexeme) ?? lexeme}(${node.args.map((arg) => print(arg, OR)).join(", ")})`;
  }
  if (node instanceof ContextAccess) return node.name.lexeme;
  return printLiteral((node as Literal).literal);
}

function operandsOf(node: Logical): readonly string[] {
  return node.args.flatMap((arg) => {
    const inner = ungroup(arg);
    const isSame = inner instanceof Logical && inner.operator.type === node.operator.type;
    return isSame ? operandsOf(inner) : [print(inner, bindingOf(node))];
  });
}

function printIndex(grouped: Expr): string {
  const index = ungroup(grouped);
  if (index instanceof Star) return ".*";
  const name = index instanceof Literal && index.literal.kind === data.Kind.String ? index.literal.value : "";
  return /^[A-Za-z_][A-Za-z0-9_-]*$/.test(name) ? `.${name}` : `[${print(index, OR)}]`;
}

function printLiteral(literal: data.ExpressionData): string {
  switch (literal.kind) {
    case data.Kind.String:
      return `'${literal.value.replaceAll("'", "''")}'`;
    case data.Kind.Number:
      return Object.is(literal.value, -0) ? "-0" : String(literal.value);
    case data.Kind.Boolean:
      return String(literal.value);
    default:
      return "null";
  }
}

function isEquality({ operator }: Binary): boolean {
  return operator.type === TokenType.EQUAL_EQUAL || operator.type === TokenType.BANG_EQUAL;
}
