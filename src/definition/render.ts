/** Between the structured `spec` of the API and the text that is committed. */
import { parse, stringify } from "yaml";
import type { Format } from "./read-text.ts";

/** The text of a structured definition; parsing it gives the same value again. */
export function renderSpec(spec: unknown, format: Format): string {
  if (format === "json") return `${JSON.stringify(spec, null, 2)}\n`;
  return stringify(spec, { version: "1.2", schema: "core", aliasDuplicateObjects: false, lineWidth: 0 });
}

/** The structured definition of a text that has been validated. */
export function textToSpec(text: string, format: Format): unknown {
  return format === "json" ? JSON.parse(text) : parse(text, { version: "1.2", schema: "core", merge: false });
}
