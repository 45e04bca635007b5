/** Changes values in a text and leaves the rest as it was written: comments, order, quotes, blank lines, anchors. */
import { LineCounter } from "yaml";
import { editNodes } from "./edit-nodes.ts";
import { measure } from "../text/node-checks.ts";
import { type Format, readText } from "../text/read-text.ts";
import { renderSpec } from "./render.ts";
import { isSameValue } from "./same-value.ts";

/** From the smallest changes to larger ones, which are right where the text around them gives new text a new meaning. */
const ATTEMPTS = [
  { depth: Number.POSITIVE_INFINITY, blockScalars: true },
  { depth: Number.POSITIVE_INFINITY, blockScalars: false },
  { depth: 1, blockScalars: false },
] as const;

/**
 * The text of `spec`, a JSON value, that keeps as much as possible of `text`: equal values keep their bytes, and items
 * of lists are known by their `name` or `id`. The order of keys is that of `text`; new keys follow those that they
 * follow in `spec`. Parsing the outcome gives `spec`; a `text` that cannot be read, or be kept, is written anew. Never
 * throws.
 */
export function editText(text: string, format: Format, spec: unknown): string {
  // What is too large or too deep to be read again is no definition either.
  if (measure(spec) !== undefined) return renderSpec(spec, format);
  const { root, value, findings } = readText(text, format, new LineCounter(), true);
  if (root === null || findings.length > 0) return renderSpec(spec, format);
  if (isSameValue(value, spec)) return text;
  // JSON takes a lone carriage return for white space, the library for text: its nodes are other ones then.
  if (format === "json" && /\r(?!\n)/.test(text)) return renderSpec(spec, format);
  for (const attempt of ATTEMPTS) {
    const edited = editNodes({ text, format, root, value }, spec, attempt);
    if (edited !== undefined && isTextOf(edited, format, spec)) return edited;
  }
  return renderSpec(spec, format);
}

function isTextOf(text: string, format: Format, spec: unknown): boolean {
  const { value, findings } = readText(text, format, new LineCounter());
  return findings.length === 0 && isSameValue(value, spec);
}
