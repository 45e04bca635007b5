/**
 * Templates: texts with `${{ ... }}` in them. The evaluator is the library `@actions/expressions`, which only this folder imports.
 * Values that are put into a text are never parsed again, so data cannot become an expression.
 */
import { type WorkBudget, WorkUsedUp } from "../domain/work/work-budget.ts";
import { fromData, type Json, type PartialScope } from "./context-data.ts";
import { Evaluation } from "./evaluation.ts";
import {
  type Expression,
  parseExpression,
  type ParseOptions,
  type Reference,
  type TemplateProblem,
} from "./expression.ts";
import { requireTextLength, type Status } from "./functions.ts";

export type { Reference, TemplateProblem } from "./expression.ts";
export type { TextSpan } from "./node-spans.ts";

export const OPEN = "${{";
export const CLOSE = "}}";

export interface Template {
  readonly parts: readonly (string | Expression)[];
  readonly references: readonly Reference[];
  /** Only a template without problems may be evaluated. */
  readonly problems: readonly TemplateProblem[];
}

/** Parses a text; `contexts` are the exact names of the contexts that its expressions may read. Never throws. */
export function parseTemplate(text: string, contexts: readonly string[], options: ParseOptions = {}): Template {
  const parts: (string | Expression)[] = [];
  const references: Reference[] = [];
  const problems: TemplateProblem[] = [];
  let position = 0;
  for (let open = text.indexOf(OPEN); open >= 0; open = text.indexOf(OPEN, position)) {
    if (open > position) parts.push(text.slice(position, open));
    const start = open + OPEN.length;
    const close = findUnquoted(text, CLOSE, start);
    if (close < 0) {
      const message = "this expression has no closing `}}`";
      problems.push({ kind: "syntax", name: "", message, offset: open, length: OPEN.length });
      return { parts, references, problems };
    }
    const parsed = parseExpression(text.slice(start, close), start, contexts, options);
    references.push(...parsed.references);
    problems.push(...parsed.problems);
    if (parsed.expression !== undefined) parts.push(parsed.expression);
    position = close + CLOSE.length;
  }
  if (position < text.length) parts.push(text.slice(position));
  return { parts, references, problems };
}

/**
 * The value of a text that is one expression and nothing else; for any other text, the text with the values put in. A template
 * that was parsed with `statusFunctions` needs `status`. Throws what the functions throw (such as `fromJSON` for a text that is
 * not JSON), `UNKNOWN_VALUE` for a value that is not known yet, a RangeError beyond the bounds of `bounds.ts`, and `WorkUsedUp`
 * beyond the budget.
 */
export function evaluateTemplate(template: Template, scope: PartialScope, status?: Status, budget?: WorkBudget): Json {
  const evaluation = new Evaluation(scope, status, budget);
  const [only] = template.parts;
  if (template.parts.length === 1 && typeof only === "object") return fromData(located(only, evaluation));
  let text = "";
  for (const part of template.parts) {
    text += typeof part === "string" ? part : located(part, evaluation).coerceString();
    requireTextLength(text.length);
  }
  return text;
}

function located({ tree, spans }: Expression, evaluation: Evaluation): ReturnType<Evaluation["valueOf"]> {
  try {
    return evaluation.valueOf(tree);
  } catch (error) {
    if (error instanceof WorkUsedUp) error.span ??= spans.get(tree) ?? null;
    throw error;
  }
}

/** A value as the text of an environment variable or a script. */
export function asText(value: Json): string {
  if (value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** The first offset, from `from` on, at which `sought` is found outside of quoted strings; -1 when there is none. */
export function findUnquoted(text: string, sought: string, from: number): number {
  let quoted = false;
  for (let at = from; at < text.length; at++) {
    if (text[at] === "'") quoted = !quoted;
    else if (!quoted && text.startsWith(sought, at)) return at;
  }
  return -1;
}
