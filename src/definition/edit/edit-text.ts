/** Changes values in a text and keeps the rest as it was written: comments, order, quotes, blank lines, anchors. */
import { LineCounter } from "yaml";
import { editNodes } from "./edit-nodes.ts";
import { measure } from "../text/node-checks.ts";
import { type Format, readText } from "../text/read-text.ts";
import { renderSpec } from "./render.ts";
import { isSameValue } from "./same-value.ts";

/**
 * Ways to edit, from the smallest changes to larger ones. A small change fails where the text around it gives the new text another
 * meaning; a larger change then succeeds.
 */
const ATTEMPTS = [
  { depth: Number.POSITIVE_INFINITY, blockScalars: true },
  { depth: Number.POSITIVE_INFINITY, blockScalars: false },
  { depth: 1, blockScalars: false },
] as const;

/**
 * The text of `spec`, a JSON value, that keeps as much of `text` as possible. Equal values keep their bytes; items of lists are
 * matched by their `name` or `id`. Keys keep the order of `text`, and a new key follows the key that it follows in `spec`. Parsing
 * the answer gives `spec`. A `text` that cannot be read or edited is replaced by a new text of `spec`. Never throws.
 */
export function editText(text: string, format: Format, spec: unknown): string {
  // A value that is too large or too deep could not be read again, so there is no need to keep the old text.
  if (measure(spec) !== undefined) return renderSpec(spec, format);
  const { root, value, findings } = readText(text, format, new LineCounter(), true);
  if (root === null || findings.length > 0) return renderSpec(spec, format);
  if (isSameValue(value, spec)) return text;
  // A carriage return alone is white space in JSON and text for the YAML library, whose nodes are then not those of the JSON.
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
