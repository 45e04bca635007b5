/** What the JSON Schema of definitions says about a place: the keys and words that may stand there, and their meaning. Pure. */
import { isRecord, type Path } from "./definition-text.ts";

export type JsonSchema = Readonly<Record<string, unknown>>;

export interface KeyHint {
  readonly key: string;
  readonly about: string;
  readonly isRequired: boolean;
  /** What its value is: `text`, `list`, `map` and so on. */
  readonly type: string;
}

export interface Meaning {
  readonly about: string;
  readonly type: string;
  readonly words: readonly string[];
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: "text",
  object: "map",
  array: "list",
  boolean: "true or false",
  integer: "whole number",
};

/** The keys that the map at `path` may have and has not yet. */
export function keysAt(schema: JsonSchema, root: unknown, path: Path): readonly KeyHint[] {
  const present = valueAt(root, path);
  const hints = new Map<string, KeyHint>();
  const parts = schemasAt(schema, root, path);
  const required = new Set(parts.flatMap((part) => (Array.isArray(part["required"]) ? part["required"] : [])));
  for (const { properties } of parts as readonly { readonly properties?: unknown }[]) {
    if (!isRecord(properties)) continue;
    for (const [key, of] of Object.entries(properties)) {
      // The old way of writing a key is read, and not recommended.
      if (key !== lowered(key) && lowered(key) in properties) continue;
      if (hints.has(key) || !isRecord(of) || (isRecord(present) && Object.hasOwn(present, key))) continue;
      const { about, type } = meaningOf(flatten(schema, of, undefined));
      hints.set(key, { key, about, isRequired: required.has(key), type });
    }
  }
  return [...hints.values()];
}

/** The words that may stand at `path`. */
export function wordsAt(schema: JsonSchema, root: unknown, path: Path): readonly string[] {
  return meaningOf(schemasAt(schema, root, path)).words;
}

/** What stands at `path`; undefined where the schema says nothing. */
export function meaningAt(schema: JsonSchema, root: unknown, path: Path): Meaning | undefined {
  const parts = schemasAt(schema, root, path);
  return parts.length === 0 ? undefined : meaningOf(parts);
}

/** The schemas that count for the value at `path`, with those that they refer to. */
function schemasAt(schema: JsonSchema, root: unknown, path: Path): readonly JsonSchema[] {
  let parts = flatten(schema, schema, root);
  let value = root;
  for (const part of path) {
    value = valueAt(value, [part]);
    parts = parts.flatMap((one) => childrenOf(one, part)).flatMap((one) => flatten(schema, one, value));
  }
  return [...new Set(parts)];
}

function childrenOf(schema: JsonSchema, part: string | number): readonly JsonSchema[] {
  if (typeof part === "number") return isRecord(schema["items"]) ? [schema["items"]] : [];
  const { properties, additionalProperties } = schema;
  if (isRecord(properties) && Object.hasOwn(properties, part)) {
    const child = properties[part];
    return isRecord(child) ? [child] : [];
  }
  return isRecord(additionalProperties) ? [additionalProperties] : [];
}

function flatten(root: JsonSchema, schema: unknown, value: unknown): readonly JsonSchema[] {
  if (!isRecord(schema)) return [];
  const parts: JsonSchema[] = [schema];
  const ref = schema["$ref"];
  if (typeof ref === "string") {
    const definitions = root["definitions"];
    if (isRecord(definitions)) parts.push(...flatten(root, definitions[ref.replace("#/definitions/", "")], value));
  }
  for (const word of ["allOf", "anyOf", "oneOf"]) {
    const all = schema[word];
    if (Array.isArray(all)) parts.push(...all.flatMap((one) => flatten(root, one, value)));
  }
  if (schema["then"] !== undefined && holds(schema["if"], value)) parts.push(...flatten(root, schema["then"], value));
  return parts;
}

/** Whether a condition of the schema holds, as far as it names keys and their words. */
function holds(condition: unknown, value: unknown): boolean {
  if (!isRecord(condition) || !isRecord(value)) return false;
  const { properties = {}, required = [] } = condition;
  const has = (required as readonly string[]).every((key) => Object.hasOwn(value, key));
  return has && Object.entries(properties as JsonSchema).every(([key, of]) => isAmong(of, value[key]));
}

function isAmong(of: unknown, word: unknown): boolean {
  if (!isRecord(of) || word === undefined) return true;
  if ("const" in of) return of["const"] === word;
  return !Array.isArray(of["enum"]) || of["enum"].includes(word);
}

function meaningOf(parts: readonly JsonSchema[]): Meaning {
  const texts = parts.map(({ description }) => description).filter((text) => typeof text === "string");
  const types = parts.flatMap(({ type }) => (Array.isArray(type) ? type : type === undefined ? [] : [type]));
  const words = parts.flatMap((part) => [
    ...(Array.isArray(part["enum"]) ? part["enum"] : []),
    ...("const" in part ? [part["const"]] : []),
    ...(part["type"] === "boolean" ? [true, false] : []),
  ]);
  return {
    about: texts[0] ?? "",
    type: [...new Set(types.map(String))].map((type) => TYPE_WORDS[type] ?? type).join(" or "),
    words: [...new Set(words.map(String))].filter((word) => word !== ""),
  };
}

function valueAt(root: unknown, path: Path): unknown {
  let value = root;
  for (const part of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Readonly<Record<string | number, unknown>>)[part];
  }
  return value;
}

function lowered(key: string): string {
  return `${key.slice(0, 1).toLowerCase()}${key.slice(1)}`;
}
