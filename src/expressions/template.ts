/**
 * Templates: texts with `${{ ... }}` in them. The evaluator is `@actions/expressions`; the rest of the project sees
 * only what is here. Values that are put into a text are never parsed again, so data cannot become an expression.
 */
import { type data, Evaluator, ExpressionError, Lexer, Parser } from "@actions/expressions";
import { ContextAccess, type Expr, FunctionCall, IndexAccess, Literal } from "@actions/expressions/ast";
import { ErrorType } from "@actions/expressions/errors";
import { ExactDictionary, fromData, type Json, type Scope } from "./context-data.ts";
import { BOUNDED_FUNCTIONS, FUNCTIONS, requireTextLength } from "./functions.ts";

export const OPEN = "${{";
const CLOSE = "}}";

/** Where in the text, from 0, in UTF-16 units. */
export interface TextSpan {
  readonly offset: number;
  readonly length: number;
}

/** What an expression reads: `trigger.ref` is `{ context: "trigger", field: "ref" }`; `field` is null when it is computed. */
export interface Reference extends TextSpan {
  readonly context: string;
  readonly field: string | null;
}

export interface TemplateProblem extends TextSpan {
  readonly kind: "syntax" | "unknown-context" | "unknown-function";
  /** The name that is not known, or empty. */
  readonly name: string;
  readonly message: string;
}

interface Expression {
  readonly tree: Expr;
}

export interface Template {
  readonly parts: readonly (string | Expression)[];
  readonly references: readonly Reference[];
  /** Only a template without problems may be evaluated. */
  readonly problems: readonly TemplateProblem[];
}

interface Token {
  readonly lexeme: string;
}

/** Where the tokens of one expression stand in the whole text. */
type Spans = ReadonlyMap<Token, TextSpan>;

/** Parses a text; `contexts` are the names, case and all, that its expressions may read. Never throws. */
export function parseTemplate(text: string, contexts: readonly string[]): Template {
  const parts: (string | Expression)[] = [];
  const references: Reference[] = [];
  const problems: TemplateProblem[] = [];
  let position = 0;
  for (let open = text.indexOf(OPEN); open >= 0; open = text.indexOf(OPEN, position)) {
    if (open > position) parts.push(text.slice(position, open));
    const start = open + OPEN.length;
    const close = findClose(text, start);
    if (close < 0) {
      const message = "this expression has no closing `}}`";
      problems.push({ kind: "syntax", name: "", message, offset: open, length: OPEN.length });
      return { parts, references, problems };
    }
    const tree = parseExpression(text.slice(start, close), start, contexts, references, problems);
    if (tree !== undefined) parts.push({ tree });
    position = close + CLOSE.length;
  }
  if (position < text.length) parts.push(text.slice(position));
  return { parts, references, problems };
}

/**
 * The value of a text that is one expression and nothing else, else the text with the values put in. Throws what the
 * functions throw (`fromJSON` of what is no JSON), and a RangeError for a text above the bound of `functions.ts`.
 */
export function evaluateTemplate(template: Template, scope: Scope): Json {
  const contexts = new ExactDictionary(scope);
  const evaluate = ({ tree }: Expression): data.ExpressionData =>
    new Evaluator(tree, contexts, BOUNDED_FUNCTIONS).evaluate();
  const [only] = template.parts;
  if (template.parts.length === 1 && typeof only === "object") return fromData(evaluate(only));
  let text = "";
  for (const part of template.parts) {
    text += typeof part === "string" ? part : evaluate(part).coerceString();
    requireTextLength(text.length);
  }
  return text;
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

function parseExpression(
  source: string,
  start: number,
  contexts: readonly string[],
  references: Reference[],
  problems: TemplateProblem[],
): Expr | undefined {
  const whole: TextSpan = { offset: start, length: source.length };
  if (source.trim() === "") {
    problems.push({ kind: "syntax", name: "", message: "this expression is empty", ...whole });
    return undefined;
  }
  let spans: Spans = new Map();
  try {
    const { tokens } = new Lexer(source).lex();
    spans = locate(tokens, source, start);
    const tree = new Parser(tokens, [...contexts], []).parse();
    collectReferences(tree, contexts, spans, references, problems);
    return tree;
  } catch (error) {
    problems.push(toProblem(error, whole, spans));
    return undefined;
  }
}

/** The lexer's own columns are wrong behind a string of several lines. */
function locate(tokens: readonly Token[], source: string, start: number): Spans {
  const spans = new Map<Token, TextSpan>();
  let from = 0;
  for (const token of tokens) {
    const at = token.lexeme === "" ? source.length : source.indexOf(token.lexeme, from);
    spans.set(token, { offset: start + at, length: token.lexeme.length });
    from = at + token.lexeme.length;
  }
  return spans;
}

function toProblem(error: unknown, whole: TextSpan, spans: Spans): TemplateProblem {
  const raw = error instanceof Error ? error.message : String(error);
  if (!(error instanceof ExpressionError)) {
    const [, words, position] = /^(.*)\. Located at position (\d+) within expression/s.exec(raw) ?? [];
    if (words === undefined) {
      const isTooLarge = raw === "ErrorExceededMaxLength" || error instanceof RangeError;
      return { kind: "syntax", name: "", message: isTooLarge ? "this expression is too long" : raw, ...whole };
    }
    return { kind: "syntax", name: "", message: words, offset: whole.offset + Number(position) - 1, length: 1 };
  }
  const { typ, tok } = error as unknown as { readonly typ: ErrorType; readonly tok: Token };
  const span = spans.get(tok) ?? whole;
  if (typ === ErrorType.ErrorUnrecognizedContext) return unknown("unknown-context", tok.lexeme, span);
  if (typ === ErrorType.ErrorUnrecognizedFunction) return unknown("unknown-function", tok.lexeme, span);
  return { kind: "syntax", name: "", message: raw, ...span };
}

function unknown(kind: "unknown-context" | "unknown-function", name: string, span: TextSpan): TemplateProblem {
  return { kind, name, message: `unknown ${kind === "unknown-context" ? "context" : "function"} "${name}"`, ...span };
}

function collectReferences(
  node: Expr,
  contexts: readonly string[],
  spans: Spans,
  references: Reference[],
  problems: TemplateProblem[],
): void {
  const visit = (child: Expr): void => collectReferences(child, contexts, spans, references, problems);
  const read = ({ name }: ContextAccess, field: Literal | null): void => {
    const from = spans.get(name)!;
    // The parser ignores the case of contexts; maps do not.
    if (!contexts.includes(name.lexeme)) problems.push(unknown("unknown-context", name.lexeme, from));
    const to = (field === null ? undefined : spans.get(field.token)) ?? from;
    references.push({
      context: name.lexeme,
      field: field === null ? null : field.literal.coerceString(),
      offset: from.offset,
      length: to.offset + to.length - from.offset,
    });
  };
  if (node instanceof ContextAccess) read(node, null);
  else if (node instanceof IndexAccess && node.expr instanceof ContextAccess && node.index instanceof Literal) {
    read(node.expr, node.index);
  } else if (node instanceof FunctionCall) {
    const { lexeme } = node.functionName;
    // The parser also takes `constructor()` for a function, since it looks names up in an ordinary object.
    if (!FUNCTIONS.some((name) => name.toLowerCase() === lexeme.toLowerCase())) {
      problems.push(unknown("unknown-function", lexeme, spans.get(node.functionName)!));
    }
    node.args.forEach(visit);
  } else childrenOf(node).forEach(visit);
}

function childrenOf(node: Expr): readonly Expr[] {
  const isExpr = (value: unknown): value is Expr => typeof value === "object" && value !== null && "accept" in value;
  return Object.values(node).flat().filter(isExpr);
}
