/**
 * From characters to nodes and a plain value. Bounds keep the cost of a text low: the library composes nodes by recursion,
 * searches the whole document for the anchor of each alias, and searches all keys of a map for each of its keys.
 */
import { Composer, CST, Lexer, type LineCounter, type Node, Parser } from "yaml";
import { finding, type Finding } from "./finding.ts";
import { LIMITS } from "../schema/limits.ts";
import { findSyntaxErrors, toPlain } from "./yaml-errors.ts";

export type Format = "yaml" | "json";

export interface ReadText {
  /** Null for an empty text, and for a text that goes beyond a bound. */
  readonly root: Node | null;
  /** Not to be used when there are findings. */
  readonly value: unknown;
  readonly findings: readonly Finding[];
}

/**
 * Reads a text of either format. Never throws. The function adds the offsets of all lines to `lines`. With `keepSourceTokens`
 * each node has the token that it was made of.
 */
export function readText(text: string, format: Format, lines: LineCounter, keepSourceTokens = false): ReadText {
  if (Buffer.byteLength(text) > LIMITS.textBytes) {
    const message = `a definition may have ${LIMITS.textBytes} bytes; this one is larger`;
    return { root: null, value: undefined, findings: [finding("size-limit", message, 0)] };
  }
  addLines(text, lines);
  const excess: Finding[] = [];
  // JSON is also read as YAML, which gives the positions of its nodes; the JSON parser finds what JSON does not allow.
  const composer = new Composer({
    version: "1.2",
    schema: "core",
    merge: false,
    uniqueKeys: false,
    stringKeys: true,
    resolveKnownTags: false,
    keepSourceTokens,
  });
  const documents = [...composer.compose(boundedTokens(text, excess), true, text.length)];
  if (excess.length > 0) return { root: null, value: undefined, findings: excess };
  const root = documents[0]?.contents ?? null;
  if (format === "json") {
    const problem = findJsonError(text);
    return problem === undefined
      ? { root, value: JSON.parse(text), findings: [] }
      : { root, value: undefined, findings: [problem] };
  }
  const errors = findSyntaxErrors(documents, lines);
  return errors.length > 0 ? { root, value: undefined, findings: errors } : { root, ...toPlain(documents[0]!) };
}

/** The parser reports no line breaks within what it cannot read, so this function finds them all. */
function addLines(text: string, lines: LineCounter): void {
  lines.addNewLine(0);
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines.addNewLine(at + 1);
}

/** A text for a message: at most 80 characters of it. */
export function clip(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}...` : text;
}

/** Ends early where the text is nested too deep, uses too many anchors, or has more errors than are reported. */
function* boundedTokens(text: string, excess: Finding[]): Generator<CST.Token> {
  const parser = new Parser();
  let aliases = 0;
  let errors = 0;
  for (const lexeme of new Lexer().lex(text)) {
    const start = parser.offset;
    if (CST.tokenType(lexeme) === "alias" && ++aliases > LIMITS.aliases) {
      const message = `anchors may be used ${LIMITS.aliases} times in a definition; this is one use more`;
      excess.push(finding("alias-limit", message, start, lexeme.length));
      return;
    }
    for (const token of parser.next(lexeme)) {
      yield token;
      if (token.type === "error" && ++errors > LIMITS.diagnostics) return;
    }
    // The stack also holds the document and the scalar that is being read.
    if (parser.stack.length > LIMITS.depth && parser.stack.filter(CST.isCollection).length > LIMITS.depth) {
      const message = `maps and lists may be nested ${LIMITS.depth} deep; these are deeper`;
      excess.push(finding("depth-limit", message, start, lexeme.length));
      return;
    }
  }
  yield* parser.end();
}

function findJsonError(text: string): Finding | undefined {
  const raw = parseError(text);
  if (raw === undefined) return undefined;
  const words = raw.replace(/ in JSON at position.*| at position.*|, (?:"|\.{3}).* is not valid JSON/s, "");
  return finding("syntax", `this is not valid JSON: ${words}`, jsonErrorOffset(text));
}

/**
 * The offset at which a text stops being valid JSON: the end of its longest beginning that more characters could complete. The
 * parser's own messages name the position only in some cases.
 */
function jsonErrorOffset(text: string): number {
  let good = 0;
  let bad = text.length + 1;
  while (bad - good > 1) {
    const middle = (good + bad) >>> 1;
    if (isValidBeginning(text.slice(0, middle))) good = middle;
    else bad = middle;
  }
  return Math.min(good, text.length);
}

function isValidBeginning(text: string): boolean {
  const message = parseError(text);
  if (message === undefined || /end of JSON|Unterminated string/.test(message)) return true;
  return Number(/at position (\d+)/.exec(message)?.[1] ?? -1) === text.length;
}

function parseError(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
