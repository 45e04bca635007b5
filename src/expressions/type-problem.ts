/** The problems that the type checks find, and the words of their messages. */
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

const MAX_QUOTED_CHARS = 60;
const MAX_LISTED_WORDS = 12;

/** The expression in backquotes, at most 60 characters of it. */
export function quote(node: Expr): string {
  return `\`${clipQuote(printExpression(node))}\``;
}

export function clipQuote(text: string): string {
  return text.length > MAX_QUOTED_CHARS ? `${text.slice(0, MAX_QUOTED_CHARS)}...` : text;
}

export function listWords(words: readonly string[]): string {
  const more = words.length > MAX_LISTED_WORDS ? ", ..." : "";
  return words.slice(0, MAX_LISTED_WORDS).map(clipQuote).join(", ") + more;
}
