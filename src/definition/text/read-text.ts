/**
 * From characters to nodes and a plain value, with bounds on what a text can cost: the library composes nodes by
 * recursion, looks every alias up in the whole document and every key among all keys of its map.
 */
import { Composer, CST, Lexer, type LineCounter, type Node, Parser } from "yaml";
import { finding, type Finding } from "./finding.ts";
import { LIMITS } from "../schema/limits.ts";
import { findSyntaxErrors, toPlain } from "./yaml-errors.ts";

export type Format = "yaml" | "json";

export interface ReadText {
  readonly root: Node | null;
  /** Meaningless when there are findings. */
  readonly value: unknown;
  readonly findings: readonly Finding[];
}

/**
 * Reads a text of either format. Never throws; `lines` learns where the lines begin. With `keepSourceTokens` the nodes
 * know the tokens that they were made of.
 */
export function readText(text: string, format: Format, lines: LineCounter, keepSourceTokens = false): ReadText {
  if (Buffer.byteLength(text) > LIMITS.textBytes) {
    const message = `a definition may have ${LIMITS.textBytes} bytes; this one is larger`;
    return { root: null, value: undefined, findings: [finding("size-limit", message, 0)] };
  }
  addLines(text, lines);
  const excess: Finding[] = [];
  // JSON is read as YAML for its positions; what JSON does not allow is found by its own parser.
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

/** The parser itself passes over line breaks in what it cannot read. */
function addLines(text: string, lines: LineCounter): void {
  lines.addNewLine(0);
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines.addNewLine(at + 1);
}

/** A text as it may stand in a message. */
export function clip(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}...` : text;
}

/** Ends early where the text nests too deep, uses too many anchors or is more errors than text. */
function* boundedTokens(text: string, excess: Finding[]): Generator<CST.Token> {
  const parser = new Parser();
  let aliases = 0;
  let errors = 0;
  for (const lexeme of new Lexer().lex(text)) {
    const start = parser.offset;
    if (CST.tokenType(lexeme) === "alias" && ++aliases > LIMITS.aliases) {
      excess.push(finding("alias-limit", `anchors may be used ${LIMITS.aliases} times in all`, start, lexeme.length));
      return;
    }
    for (const token of parser.next(lexeme)) {
      yield token;
      if (token.type === "error" && ++errors > LIMITS.diagnostics) return;
    }
    // The stack also holds the document and the scalar at hand.
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
 * Where JSON stops being valid: the end of the longest beginning that only lacks its end. The parser's own messages
 * name the position in some cases only.
 */
function jsonErrorOffset(text: string): number {
  let good = 0;
  let bad = text.length + 1;
  while (bad - good > 1) {
    const middle = (good + bad) >>> 1;
    if (lacksOnlyItsEnd(text.slice(0, middle))) good = middle;
    else bad = middle;
  }
  return Math.min(good, text.length);
}

function lacksOnlyItsEnd(text: string): boolean {
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
