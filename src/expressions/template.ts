/**
 * Templates: texts with `${{ ... }}` in them. The evaluator is `@actions/expressions`; the rest of the project sees
 * only what is in this folder. Values that are put into a text are never parsed again, so data cannot become an
 * expression.
 */
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

/** Parses a text; `contexts` are the names, case and all, that its expressions may read. Never throws. */
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
 * The value of a text that is one expression and nothing else, else the text with the values put in; `status` for a
 * template that was parsed with `statusFunctions`. Throws what the functions throw (`fromJSON` of what is no JSON), and
 * `UnknownValue` for what is not known yet, a RangeError beyond the bounds of `bounds.ts`.
 */
export function evaluateTemplate(template: Template, scope: PartialScope, status?: Status): Json {
  const evaluation = new Evaluation(scope, status);
  const [only] = template.parts;
  if (template.parts.length === 1 && typeof only === "object") return fromData(evaluation.valueOf(only.tree));
  let text = "";
  for (const part of template.parts) {
    text += typeof part === "string" ? part : evaluation.valueOf(part.tree).coerceString();
    requireTextLength(text.length);
  }
  return text;
}

/** A value as it stands in an environment variable or a script. */
export function asText(value: Json): string {
  if (value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** Where `sought` stands at or behind `from`, outside of quoted strings; -1 when nowhere. */
export function findUnquoted(text: string, sought: string, from: number): number {
  let quoted = false;
  for (let at = from; at < text.length; at++) {
    if (text[at] === "'") quoted = !quoted;
    else if (!quoted && text.startsWith(sought, at)) return at;
  }
  return -1;
}
