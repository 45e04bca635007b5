/** What the checks of types find, and how they tell it. */
import type { Expr } from "@actions/expressions";
import type { TextSpan } from "./node-spans.ts";
import { printExpression } from "./print.ts";

export interface TypeProblem extends TextSpan {
  readonly kind:
    | "unknown-property"
    | "type-mismatch"
    /** A text that the other side of a comparison can never be. */
    | "unknown-word"
    /** Arguments that the function cannot work with. */
    | "invalid-call"
    /** A condition whose outcome nothing can change. */
    | "constant-condition";
  readonly message: string;
  /** What to do. */
  readonly hint?: string;
}

/** Reports a problem of one node of the tree. */
export type Report = (node: Expr, kind: TypeProblem["kind"], message: string, hint?: string) => void;

const QUOTE_CHARS = 60;
const LISTED_MAX = 12;

/** The expression in backquotes, shortened when it is long. */
export function quote(node: Expr): string {
  return `\`${clipQuote(printExpression(node))}\``;
}

export function clipQuote(text: string): string {
  return text.length > QUOTE_CHARS ? `${text.slice(0, QUOTE_CHARS)}...` : text;
}

export function listWords(words: readonly string[]): string {
  return words.slice(0, LISTED_MAX).map(clipQuote).join(", ") + (words.length > LISTED_MAX ? ", ..." : "");
}
