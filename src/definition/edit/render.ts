/** Renders the structured `spec` of the API as text: as a whole, and in parts that are put into an existing text. */
import { Document, parse, Scalar, visit } from "yaml";
import type { Format } from "../text/read-text.ts";

/** The style of the collections around a new part. */
export interface BlockStyle {
  /** Columns by which the maps within a map are indented. */
  readonly indent: number;
  /** Whether the lists in a map are indented further than its keys. */
  readonly indentSeq: boolean;
  /** Whether a text of several lines may be written as a block (`|`) instead of in quotes. */
  readonly blockScalars: boolean;
}

/** How a scalar was written: plain, in quotes or as a block. Its new value is written in the same way if possible. */
export type ScalarStyle = NonNullable<Scalar["type"]>;

const READING = { version: "1.2", schema: "core", merge: false, stringKeys: true } as const;
const WRITING = {
  version: "1.2",
  schema: "core",
  // Readers of YAML 1.1 read `on`, `no` and `12:30:00` as other values than texts, so these texts get quotes.
  compat: "yaml-1.1",
  aliasDuplicateObjects: false,
  lineWidth: 0,
  doubleQuotedMinMultiLineLength: Number.POSITIVE_INFINITY,
} as const;
const DEFAULT_STYLE: BlockStyle = { indent: 2, indentSeq: true, blockScalars: true };
/** Texts that are read back changed unless these characters are escaped. */
const DELICATE = /[^\t\n\u0020-\u007e\u00a0-\u2027\u202a-\ufefe\uff00-\ufffd]|^[ \t]+$/mu;
const JSON_INDENT = "  ";

/** The text of a structured definition, which is a JSON value. Parsing the text gives the same value again. */
export function renderSpec(spec: unknown, format: Format): string {
  return format === "json" ? `${renderJson(spec, JSON_INDENT, "\n")}\n` : renderBlock(spec, DEFAULT_STYLE);
}

/** The structured definition that a text holds; the text has to be valid. */
export function textToSpec(text: string, format: Format): unknown {
  return format === "json" ? JSON.parse(text) : parse(text, READING);
}

/** The lines of `key: value`, from column 0. */
export function renderPair(key: string, value: unknown, style: BlockStyle, scalar?: ScalarStyle): readonly string[] {
  return linesOf(renderBlock({ [key]: asScalar(value, scalar) }, style));
}

/** The lines of `- value`, from column 0. */
export function renderItem(value: unknown, style: BlockStyle, scalar?: ScalarStyle): readonly string[] {
  return linesOf(renderBlock([asScalar(value, scalar)], style));
}

/** A scalar on one line, outside flow collections. */
export function renderScalar(value: unknown, scalar?: ScalarStyle): string {
  const style = { ...DEFAULT_STYLE, blockScalars: false };
  return oneLine(value, renderBlock({ k: asScalar(value, scalar) }, style).slice("k: ".length, -1));
}

/** Any value on one line, as an entry of a flow collection. */
export function renderFlow(value: unknown, scalar?: ScalarStyle): string {
  if (Array.isArray(value)) return `[${value.map((item) => renderFlow(item)).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const pairs = Object.entries(value).map(([key, item]) => `${renderFlow(key)}: ${renderFlow(item)}`);
    return pairs.length === 0 ? "{}" : `{ ${pairs.join(", ")} }`;
  }
  const document = documentOf([asScalar(value, scalar)]);
  const text = document.toString({ ...WRITING, collectionStyle: "flow", flowCollectionPadding: false });
  return oneLine(value, text.slice("[".length, -"]\n".length));
}

/**
 * A value as JSON. `unit` is the indentation of one level; when it is empty, the JSON is one line. `newline` is a line break with
 * the indentation of the place, with which each line after the first begins.
 */
export function renderJson(value: unknown, unit: string, newline: string): string {
  if (Object.is(value, -0)) return "-0";
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const inner = unit === "" ? "" : newline + unit;
  const colon = unit === "" ? ":" : ": ";
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  const items = Array.isArray(value)
    ? value.map((item) => renderJson(item, unit, inner))
    : Object.entries(value).map(([key, item]) => JSON.stringify(key) + colon + renderJson(item, unit, inner));
  if (items.length === 0) return `${open}${close}`;
  return `${open}${inner}${items.join(`,${inner}`)}${unit === "" ? "" : newline}${close}`;
}

function renderBlock(value: unknown, { indent, indentSeq, blockScalars }: BlockStyle): string {
  return documentOf(value).toString({ ...WRITING, indent, indentSeq, blockQuote: blockScalars });
}

function documentOf(value: unknown): Document {
  const document = new Document(value, WRITING);
  visit(document, {
    Scalar(_, node) {
      if (typeof node.value === "string" && DELICATE.test(node.value)) node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return document;
}

function asScalar(value: unknown, type: ScalarStyle | undefined): unknown {
  if (typeof value !== "string" || type === undefined) return value;
  return Object.assign(new Scalar(value), { type });
}

/** The text if it has one line, else the value as JSON: a plain scalar can be rendered on several lines. */
function oneLine(value: unknown, text: string): string {
  return text.includes("\n") ? JSON.stringify(value) : text;
}

function linesOf(text: string): readonly string[] {
  return text.split("\n").slice(0, -1);
}
