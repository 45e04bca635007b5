/** Changes the texts within a value. Pure. */
import type { Json } from "../expressions/context-data.ts";

type Path = readonly (string | number)[];

/** The value with every text in it, at any depth, replaced by what `change` makes of it. `path`: where the value stands. */
export function mapTexts(value: unknown, path: Path, change: (text: string, path: Path) => Json): unknown {
  if (typeof value === "string") return change(value, path);
  if (Array.isArray(value)) return value.map((item, at) => mapTexts(item, [...path, at], change));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item, [...path, key], change)]));
}
