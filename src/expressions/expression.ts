/** Parses one expression: its tree, the contexts that it reads, and its problems. */
import { type Expr, ExpressionError, Lexer, Parser } from "@actions/expressions";
import {
  Binary,
  ContextAccess,
  FunctionCall,
  Grouping,
  IndexAccess,
  Literal,
  Logical,
  Unary,
} from "@actions/expressions/ast";
import { ErrorType, MAX_PARSER_DEPTH } from "@actions/expressions/errors";
import { type Token, TokenType } from "@actions/expressions/lexer";
import { MAX_EXPRESSION_CHARS, MAX_EXPRESSION_STEPS } from "./bounds.ts";
import {
  type FunctionName,
  functionNamed,
  isStatusFunction,
  requiredArguments,
  STATUS_FUNCTIONS,
  type StatusFunction,
} from "./functions.ts";
import { type NodeSpans, spanNodes, spanTokens, type TextSpan } from "./node-spans.ts";
import { ungroup } from "./print.ts";
import { symbolMessage, syntaxMessage } from "./syntax-messages.ts";

/** A reference to a context: `trigger.ref` is `{ context: "trigger", field: "ref" }`. */
export interface Reference extends TextSpan {
  readonly context: string;
  /** Null when the expression computes the name of the field, or reads the whole context. */
  readonly field: string | null;
}

export interface TemplateProblem extends TextSpan {
  readonly kind:
    | "syntax"
    | "unknown-context"
    | "unknown-function"
    /** A status function outside of a condition. */
    | "misplaced-function"
    /** A wrong number of arguments. */
    | "invalid-call"
    /** Too long, too many nodes or nested too deeply. */
    | "limit";
  /** The name of the context or function that the problem is about; empty for other problems. */
  readonly name: string;
  readonly message: string;
}

export interface Expression {
  readonly tree: Expr;
  readonly spans: NodeSpans;
}

export interface ParseOptions {
  /** Whether `success()`, `failure()`, `always()` and `cancelled()` may be called. Default: false. */
  readonly statusFunctions?: boolean;
  /** Characters of one expression. Default: `MAX_EXPRESSION_CHARS`. */
  readonly maxChars?: number;
  /** Nodes of the tree of one expression. Default: `MAX_EXPRESSION_STEPS`. */
  readonly maxSteps?: number;
}

export interface ParsedExpression {
  /** Undefined when there is no tree; `problems` then say why. */
  readonly expression: Expression | undefined;
  readonly references: readonly Reference[];
  readonly problems: readonly TemplateProblem[];
}

/**
 * Parses `source`, which begins at the offset `start` of the whole text; `contexts` are the exact names of the contexts that it
 * may read. Never throws.
 */
export function parseExpression(
  source: string,
  start: number,
  contexts: readonly string[],
  options: ParseOptions = {},
): ParsedExpression {
  const { maxChars = MAX_EXPRESSION_CHARS, maxSteps = MAX_EXPRESSION_STEPS } = options;
  const whole: TextSpan = { offset: start, length: source.length };
  const fail = (...problems: TemplateProblem[]): ParsedExpression => ({
    expression: undefined,
    references: [],
    problems,
  });
  if (source.trim() === "") return fail(problemAt(whole, "syntax", "this expression is empty"));
  if (source.length > maxChars) {
    return fail(problemAt(whole, "limit", `this expression has ${source.length} characters; it may have ${maxChars}`));
  }
  const problems: TemplateProblem[] = [];
  let spans: ReadonlyMap<Token, TextSpan> = new Map();
  try {
    const tokens = readTokens(source);
    spans = spanTokens(tokens, source, start);
    const names = namesOf(tokens);
    problems.push(...names.flatMap((name) => nameProblem(name, spans.get(name.token)!, contexts, options)));
    const tree = parserFor(tokens, names).parse();
    const steps = countSteps(tree);
    if (steps > maxSteps) {
      const message = `this expression has ${steps} values, names, operators and calls; it may have ${maxSteps}`;
      return fail(problemAt(whole, "limit", message));
    }
    const nodeSpans = spanNodes(tree, spans);
    return { expression: { tree, spans: nodeSpans }, references: referencesIn(tree, nodeSpans), problems };
  } catch (error) {
    const problem = toProblem(error, whole, spans);
    if (problem.kind === "invalid-call") {
      const isUnknown = problems.some(({ offset }) => offset === problem.offset);
      return fail(...problems, ...(isUnknown ? [] : [problem]));
    }
    // A name after a syntax error may not be a name at all, so problems of such names are left out.
    return fail(...problems.filter(({ offset }) => offset < problem.offset), problem);
  }
}

/** The functions that are called anywhere in a tree, as the language spells them. */
export function functionsIn(tree: Expr): readonly (FunctionName | StatusFunction)[] {
  const name = tree instanceof FunctionCall ? functionNamed(tree.functionName.lexeme) : undefined;
  return [...(name === undefined ? [] : [name]), ...childrenOf(tree).flatMap(functionsIn)];
}

interface Name {
  readonly token: Token;
  readonly isCall: boolean;
}

function readTokens(source: string): Token[] {
  return new Lexer(source).lex().tokens.map((token) => {
    if (token.type !== TokenType.STRING) return token;
    // The lexer replaces only the first doubled quote of a string.
    return { ...token, value: token.lexeme.slice(1, -1).replaceAll("''", "'") };
  });
}

function namesOf(tokens: readonly Token[]): readonly Name[] {
  return tokens.flatMap((token, index) => {
    if (token.type !== TokenType.IDENTIFIER || tokens[index - 1]?.type === TokenType.DOT) return [];
    return [{ token, isCall: tokens[index + 1]?.type === TokenType.LEFT_PAREN }];
  });
}

function nameProblem(
  { token: { lexeme: name }, isCall }: Name,
  span: TextSpan,
  contexts: readonly string[],
  { statusFunctions = false }: ParseOptions,
): readonly TemplateProblem[] {
  if (!isCall) {
    // The evaluator ignores the case of the names of contexts; the language does not.
    if (contexts.includes(name)) return [];
    return [{ kind: "unknown-context", name, message: `unknown context "${name}"`, ...span }];
  }
  const known = functionNamed(name);
  if (known === undefined) return [{ kind: "unknown-function", name, message: `unknown function "${name}"`, ...span }];
  if (!isStatusFunction(known) || statusFunctions) return [];
  const message = `\`${known}()\` can be called only in a condition`;
  return [{ kind: "misplaced-function", name: known, message, ...span }];
}

/** A parser that knows every name, because unknown names are reported already and the parser would stop at the first one. */
function parserFor(tokens: Token[], names: readonly Name[]): Parser {
  const contexts = names.filter(({ isCall }) => !isCall).map(({ token }) => token.lexeme);
  const unknown = names.filter(({ token, isCall }) => isCall && functionNamed(token.lexeme) === undefined);
  return new Parser(tokens, contexts, [
    ...STATUS_FUNCTIONS.map((name) => ({ name, minArgs: 0, maxArgs: 0 })),
    ...unknown.map(({ token }) => ({ name: token.lexeme, minArgs: 0, maxArgs: Number.POSITIVE_INFINITY })),
  ]);
}

function childrenOf(node: Expr): readonly Expr[] {
  if (node instanceof IndexAccess) return [node.expr, node.index];
  if (node instanceof Binary) return [node.left, node.right];
  if (node instanceof Logical || node instanceof FunctionCall) return node.args;
  if (node instanceof Unary) return [node.expr];
  return node instanceof Grouping ? [node.group] : NO_CHILDREN;
}

const NO_CHILDREN: readonly Expr[] = [];

function countSteps(node: Expr): number {
  return childrenOf(node).reduce((steps, child) => steps + countSteps(child), 1);
}

function referencesIn(node: Expr, spans: NodeSpans): readonly Reference[] {
  const read = ({ name }: ContextAccess, field: string | null): Reference[] => [
    { context: name.lexeme, field, ...spans.get(node)! },
  ];
  if (node instanceof ContextAccess) return read(node, null);
  if (node instanceof IndexAccess) {
    const [base, index] = [ungroup(node.expr), ungroup(node.index)];
    if (base instanceof ContextAccess && index instanceof Literal) return read(base, index.literal.coerceString());
  }
  return childrenOf(node).flatMap((child) => referencesIn(child, spans));
}

function problemAt(span: TextSpan, kind: TemplateProblem["kind"], message: string, name = ""): TemplateProblem {
  return { kind, name, message, offset: span.offset, length: span.length };
}

function toProblem(error: unknown, whole: TextSpan, spans: ReadonlyMap<Token, TextSpan>): TemplateProblem {
  const raw = error instanceof Error ? error.message : String(error);
  if (error instanceof ExpressionError) {
    const { typ, tok } = error as unknown as { readonly typ: ErrorType; readonly tok: Token };
    const span = spans.get(tok) ?? whole;
    switch (typ) {
      case ErrorType.ErrorExceededMaxDepth:
        return problemAt(span, "limit", `this expression is nested too deeply; ${MAX_PARSER_DEPTH} levels are allowed`);
      case ErrorType.ErrorTooFewParameters:
      case ErrorType.ErrorTooManyParameters:
      case ErrorType.ErrorEvenParameters:
        return problemAt(span, "invalid-call", requiredArguments(tok.lexeme), tok.lexeme);
      default:
        return problemAt(span, "syntax", syntaxMessage(typ, tok));
    }
  }
  const [, symbol, position] = LEXER_ERROR.exec(raw) ?? [];
  if (symbol === undefined) {
    const isTooLarge = raw === "ErrorExceededMaxLength" || error instanceof RangeError;
    return problemAt(whole, isTooLarge ? "limit" : "syntax", isTooLarge ? "this expression is too long" : raw);
  }
  const at = Math.min(Number(position) - 1, whole.length);
  const span = { offset: whole.offset + at, length: Math.min(symbol.length, whole.length - at) };
  return problemAt(span, "syntax", symbolMessage(symbol));
}

const LEXER_ERROR = /^.*?: '(.*?)'\. Located at position (\d+) within expression/s;
