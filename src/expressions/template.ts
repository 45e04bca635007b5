/**
 * Templates: texts with `${{ ... }}` in them. The evaluator is `@actions/expressions`; the rest of the project sees
 * only what is here. Values that are put into a text are never parsed again, so data cannot become an expression.
 */
import { data, Evaluator, ExpressionError, Lexer, Parser } from "@actions/expressions";
import { ContextAccess, type Expr, FunctionCall, IndexAccess, Literal } from "@actions/expressions/ast";

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** A field that an expression reads: `trigger.ref` is `{ context: "trigger", field: "ref" }`; `field` is null when it is computed. */
export interface Reference {
  readonly context: string;
  readonly field: string | null;
}

export interface TemplateProblem {
  readonly kind: "syntax" | "unknown-context" | "unknown-function";
  /** The name that is not known, or empty. */
  readonly name: string;
  readonly message: string;
  /** Where in the text, from 0. */
  readonly offset: number;
}

interface Expression {
  readonly tree: Expr;
}

export interface Template {
  readonly parts: readonly (string | Expression)[];
  readonly references: readonly Reference[];
  readonly problems: readonly TemplateProblem[];
}

const OPEN = "${{";
const CLOSE = "}}";
/** Functions beyond those that the evaluator brings; none can be called from a template yet. */
const UNKNOWN_CONTEXT = 8;
const UNKNOWN_FUNCTION = 9;

/** Parses a text; `contexts` are the names that its expressions may read. Never throws. */
export function parseTemplate(text: string, contexts: readonly string[]): Template {
  const parts: (string | Expression)[] = [];
  const references: Reference[] = [];
  const problems: TemplateProblem[] = [];
  let position = 0;
  for (;;) {
    const open = text.indexOf(OPEN, position);
    if (open < 0) break;
    if (open > position) parts.push(text.slice(position, open));
    const close = findClose(text, open + OPEN.length);
    if (close < 0) {
      problems.push({ kind: "syntax", name: "", message: "this expression has no closing `}}`", offset: open });
      return { parts, references, problems };
    }
    const source = text.slice(open + OPEN.length, close);
    const parsed = parseExpression(source, contexts);
    if ("tree" in parsed) {
      parts.push(parsed);
      collectReferences(parsed.tree, references);
    } else {
      problems.push({ ...parsed, offset: open + OPEN.length + parsed.offset });
    }
    position = close + CLOSE.length;
  }
  if (position < text.length) parts.push(text.slice(position));
  return { parts, references, problems };
}

/** The value of a text that is one expression and nothing else, else the text with the values put in. */
export function evaluateTemplate(template: Template, contexts: Readonly<Record<string, Json>>): Json {
  const scope = toDictionary(contexts);
  const values = template.parts.map((part) =>
    typeof part === "string" ? part : new Evaluator(part.tree, scope).evaluate(),
  );
  const [only] = values;
  if (values.length === 1 && typeof only === "object") return fromData(only);
  return values.map((value) => (typeof value === "string" ? value : value.coerceString())).join("");
}

/** A value as it stands in an environment variable or a script. */
export function asText(value: Json): string {
  if (value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** The end of an expression; a `}}` within a quoted string does not count. */
function findClose(text: string, from: number): number {
  let quoted = false;
  for (let at = from; at < text.length; at++) {
    if (text[at] === "'") quoted = !quoted;
    else if (!quoted && text.startsWith(CLOSE, at)) return at;
  }
  return -1;
}

function parseExpression(source: string, contexts: readonly string[]): Expression | TemplateProblem {
  if (source.trim() === "") {
    return { kind: "syntax", name: "", message: "this expression is empty", offset: 0 };
  }
  try {
    return { tree: new Parser(new Lexer(source).lex().tokens, [...contexts], []).parse() };
  } catch (error) {
    return toProblem(error, source);
  }
}

function toProblem(error: unknown, source: string): TemplateProblem {
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof ExpressionError)) {
    const position = /position (\d+)/.exec(message)?.[1];
    return { kind: "syntax", name: "", message, offset: position === undefined ? 0 : Number(position) - 1 };
  }
  const { typ, tok, pos } = error as unknown as {
    typ: number;
    tok: { lexeme: string };
    pos: { line: number; column: number };
  };
  const lineStart = source.split("\n").slice(0, pos.line).join("\n").length + (pos.line > 0 ? 1 : 0);
  const kind = typ === UNKNOWN_CONTEXT ? "unknown-context" : typ === UNKNOWN_FUNCTION ? "unknown-function" : "syntax";
  return { kind, name: kind === "syntax" ? "" : tok.lexeme, message, offset: lineStart + pos.column };
}

function collectReferences(node: Expr, into: Reference[]): void {
  if (node instanceof IndexAccess && node.expr instanceof ContextAccess) {
    const field = node.index instanceof Literal ? node.index.literal.coerceString() : null;
    into.push({ context: node.expr.name.lexeme, field });
    if (field === null) collectReferences(node.index, into);
    return;
  }
  if (node instanceof ContextAccess) into.push({ context: node.name.lexeme, field: null });
  else if (node instanceof FunctionCall) for (const arg of node.args) collectReferences(arg, into);
  else for (const child of Object.values(node)) collectChildren(child, into);
}

function collectChildren(child: unknown, into: Reference[]): void {
  if (Array.isArray(child)) for (const item of child) collectChildren(item, into);
  else if (typeof child === "object" && child !== null && "accept" in child) collectReferences(child as Expr, into);
}

function toDictionary(values: Readonly<Record<string, Json>>): data.Dictionary {
  return new data.Dictionary(...Object.entries(values).map(([key, value]) => ({ key, value: toData(value) })));
}

function toData(value: Json): data.ExpressionData {
  if (value === null) return new data.Null();
  if (typeof value === "string") return new data.StringData(value);
  if (typeof value === "number") return new data.NumberData(value);
  if (typeof value === "boolean") return new data.BooleanData(value);
  if (Array.isArray(value)) return new data.Array(...value.map(toData));
  return toDictionary(value as Readonly<Record<string, Json>>);
}

function fromData(value: data.ExpressionData): Json {
  return JSON.parse(JSON.stringify(value, data.replacer)) as Json;
}
