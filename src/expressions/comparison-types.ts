/** Checks of comparisons: values that cannot be compared, and values that can never be equal. */
import { data, type Expr } from "@actions/expressions";
import { type Binary, Literal } from "@actions/expressions/ast";
import { TokenType } from "@actions/expressions/lexer";
import { equals } from "@actions/expressions/result";
import { didYouMean } from "./nearest.ts";
import { ungroup } from "./print.ts";
import { clipQuote, listWords, quote, type Report } from "./type-problem.ts";
import { isComposite, membersOf, nameOf, type ValueType } from "./types.ts";

export interface Operand {
  readonly node: Expr;
  readonly type: ValueType;
}

/** Reports a comparison of values that cannot be compared, or that are never equal. */
export function checkComparison({ operator }: Binary, left: Operand, right: Operand, report: Report): void {
  if (operator.type === TokenType.EQUAL_EQUAL || operator.type === TokenType.BANG_EQUAL) {
    const composite = [left, right].find(({ type }) => membersOf(type).every(isComposite));
    if (composite === undefined) checkEquality(left, right, report);
    else {
      const message = `${quote(composite.node)} is ${nameOf(composite.type)}, which is equal only to itself`;
      report(composite.node, "type-mismatch", message, "compare one of its fields, or `toJSON(...)` of it");
    }
    return;
  }
  for (const { node, type } of [left, right]) {
    if (membersOf(type).some(({ kind }) => ["any", "string", "number"].includes(kind))) continue;
    const message = `${quote(node)} is ${nameOf(type)}; \`${operator.lexeme}\` compares numbers and texts`;
    report(node, "type-mismatch", message);
  }
}

/** Reports two values that can never be equal. */
export function checkEquality(left: Operand, right: Operand, report: Report): void {
  const isPossible = membersOf(left.type).some((one) => membersOf(right.type).some((other) => canEqual(one, other)));
  if (isPossible) return;
  const [literal, other] = isLiteral(right) ? [right, left] : [left, right];
  // A comparison of two literals is always meant as it is.
  if (isLiteral(literal) && isLiteral(other)) return;
  const word = wordsOf(literal.type)?.[0];
  const words = wordsOf(other.type);
  if (isLiteral(literal) && word !== undefined && words !== undefined) {
    const message = `${quote(other.node)} is never "${clipQuote(word)}"${didYouMean(word, words)}`;
    report(literal.node, "unknown-word", message, `it is one of: ${listWords(words)}`);
    return;
  }
  const message = `${quote(left.node)} is ${nameOf(left.type)} and ${quote(right.node)} is ${nameOf(right.type)}: they are never equal`;
  const kinds = [left, right].flatMap(({ type }) => membersOf(type)).map(({ kind }) => kind);
  const isTextOfBoolean = kinds.includes("string") && kinds.includes("boolean");
  report(right.node, "type-mismatch", message, isTextOfBoolean ? "compare a text with 'true' or 'false'" : undefined);
}

function isLiteral({ node }: Operand): boolean {
  return ungroup(node) instanceof Literal;
}

/** The only texts that a value of the type can be; undefined when it can be any text, or cannot be a text. */
function wordsOf(type: ValueType): readonly string[] | undefined {
  const texts = membersOf(type).filter((member) => member.kind === "string");
  const words = texts.flatMap((member) => member.words ?? []);
  return words.length > 0 && texts.every((member) => member.words !== undefined) ? words : undefined;
}

/** Whether values of these types can be equal. The evaluator compares texts without case, and values of different kinds as numbers. */
function canEqual(left: ValueType, right: ValueType): boolean {
  if (left.kind === "any" || right.kind === "any") return true;
  if (isComposite(left) || isComposite(right)) return false;
  if (left.kind !== "string" && right.kind === "string") return canEqual(right, left);
  if (left.kind !== "string") return true;
  if (right.kind === "string") {
    return left.words?.some((word) => right.words?.some((other) => isSameWord(word, other)) ?? true) ?? true;
  }
  // The text '1' is equal to true, but a text of a run is never meant as a boolean.
  if (left.words === undefined) return right.kind !== "boolean";
  const numbers = left.words.map(Number);
  if (right.kind === "number") return numbers.some((number) => !Number.isNaN(number));
  return numbers.some((number) => number === 0 || (number === 1 && right.kind === "boolean"));
}

function isSameWord(left: string, right: string): boolean {
  return equals(new data.StringData(left), new data.StringData(right));
}
