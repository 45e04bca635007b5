/**
 * The text of a definition, read as the server reads it, also while it is half written: its value, and what stands at a
 * place of it. Pure.
 */
import { type Document, isMap, isPair, isScalar, isSeq, type Node, parseDocument } from "yaml";

/** Keys and indices from the root to a value. */
export type Path = readonly (string | number)[];

/** JSON is read as YAML, too. */
const OPTIONS = {
  version: "1.2",
  schema: "core",
  merge: false,
  uniqueKeys: false,
  stringKeys: true,
  resolveKnownTags: false,
  logLevel: "silent",
} as const;
/** Stands in for what is being written. */
const HERE = "__here__";
const WORD_BEFORE = /[\w.@/-]*$/;
const WORD_AFTER = /^[\w.@/-]*/;

/** The definition in the text; undefined for a text that holds none. */
export function specOf(text: string): Readonly<Record<string, unknown>> | undefined {
  const document = parseDocument(text, OPTIONS);
  if (document.errors.length > 0) return undefined;
  const value = valueOf(document);
  return isRecord(value) ? value : undefined;
}

/** What a writer begins to write. */
export interface WritingPlace {
  readonly kind: "key" | "value";
  /** To the map that gets the key, or to the value. */
  readonly path: Path;
  /** Where the word begins that is being written. */
  readonly from: number;
  /** The whole definition without the word. */
  readonly root: unknown;
  /** True inside quotation marks. */
  readonly isQuoted: boolean;
  /** True when a colon stands behind the word already. */
  readonly hasColon: boolean;
}

export function writingPlaceAt(text: string, offset: number): WritingPlace | undefined {
  const lineStart = text.lastIndexOf("\n", offset - 1) + 1;
  const from = offset - WORD_BEFORE.exec(text.slice(lineStart, offset))![0].length;
  const to = offset + WORD_AFTER.exec(text.slice(offset, offset + 100))![0].length;
  const before = text.slice(lineStart, from);
  if (/(^|\s)#/.test(before)) return undefined;
  const isQuoted = /["']$/.test(before);
  const isValue = /(?:^|[\s{,])["']?[\w.-]+["']?:\s+["']?$/.test(before);
  const hasColon = /^["']?\s*:/.test(text.slice(to, to + 10));
  const quote = isQuoted ? before.at(-1)! : "";
  const closes = quote !== "" && text.startsWith(quote, to) ? 1 : 0;
  const word = isValue || hasColon ? HERE : `${HERE}${quote}: null`;
  const rest = isValue || hasColon ? text.slice(to) : text.slice(to + closes);
  const document = parseDocument(`${text.slice(0, from)}${word}${rest}`, OPTIONS);
  const path = findHere(document.contents, []);
  if (path === undefined) return undefined;
  const kind = isValue ? "value" : "key";
  return { kind, path, from, root: valueOf(document), isQuoted, hasColon };
}

function findHere(node: unknown, path: Path): Path | undefined {
  if (isScalar(node)) return node.value === HERE ? path : undefined;
  if (isSeq(node)) return firstOf(node.items, (item, at) => findHere(item, [...path, at]));
  if (!isMap(node)) return undefined;
  return firstOf(node.items, ({ key, value }) => {
    const name = keyOf(key);
    return name === HERE ? path : findHere(value, [...path, name]);
  });
}

/** A key or a value that stands in the text. */
export interface StandingPlace {
  readonly path: Path;
  readonly from: number;
  readonly to: number;
  readonly root: unknown;
}

export function standingPlaceAt(text: string, offset: number): StandingPlace | undefined {
  const document = parseDocument(text, OPTIONS);
  const found = findAt(document.contents, offset, []);
  return found && { ...found, root: valueOf(document) };
}

function findAt(node: unknown, offset: number, path: Path): Omit<StandingPlace, "root"> | undefined {
  if (isScalar(node)) return path.length > 0 ? within(node, offset, path) : undefined;
  if (isSeq(node)) return firstOf(node.items, (item, at) => findAt(item, offset, [...path, at]));
  if (!isMap(node)) return undefined;
  return firstOf(node.items, ({ key, value }) => {
    const inner = [...path, keyOf(key)];
    return (isScalar(key) ? within(key, offset, inner) : undefined) ?? findAt(value, offset, inner);
  });
}

function within({ range }: Node, offset: number, path: Path): Omit<StandingPlace, "root"> | undefined {
  if (!range || offset < range[0] || offset > range[1]) return undefined;
  return { path, from: range[0], to: range[1] };
}

function firstOf<T, R>(items: readonly T[], find: (item: T, at: number) => R | undefined): R | undefined {
  for (const [at, item] of items.entries()) {
    const found = find(item, at);
    if (found !== undefined) return found;
  }
  return undefined;
}

function keyOf(key: unknown): string {
  if (isPair(key)) return "";
  return isScalar(key) ? String(key.value) : "";
}

function valueOf(document: Document): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch {
    // An alias without its anchor.
    return undefined;
  }
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
