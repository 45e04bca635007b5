/** The static types of what expressions read and give. */

export type ValueType =
  | { readonly kind: "any" }
  /** `words` are the only values that it can have. */
  | { readonly kind: "string"; readonly words?: readonly string[] }
  | { readonly kind: "number" }
  | { readonly kind: "boolean" }
  | { readonly kind: "null" }
  | { readonly kind: "union"; readonly of: readonly ValueType[] }
  /** `filtered`: what `.*` gives; a field of it is the list of that field of its items. */
  | { readonly kind: "array"; readonly items: ValueType; readonly filtered?: true }
  | ObjectType;

export interface ObjectType {
  readonly kind: "object";
  /** What messages call it: `the job "build"`. */
  readonly noun: string;
  readonly fields: ReadonlyMap<string, ValueType>;
  /** The type of a field that is not listed; null: there is no other. */
  readonly others: ValueType | null;
  /** What to do when a field is not there. */
  readonly hint?: string;
}

/** By the name of the context. */
export type ContextTypes = ReadonlyMap<string, ValueType>;

export const ANY: ValueType = { kind: "any" };
export const STRING: ValueType = { kind: "string" };
export const NUMBER: ValueType = { kind: "number" };
export const BOOLEAN: ValueType = { kind: "boolean" };
export const NULL: ValueType = { kind: "null" };

/** A union of more maps and lists than this says nothing that helps. */
const UNION_MAX = 20;

export function arrayOf(items: ValueType): ValueType {
  return { kind: "array", items };
}

/** A string that is one of `words`. */
export function oneOf(words: readonly string[]): ValueType {
  return { kind: "string", words };
}

export function objectOf(
  noun: string,
  fields: Readonly<Record<string, ValueType>> | ReadonlyMap<string, ValueType>,
  { others = null, hint }: { readonly others?: ValueType | null; readonly hint?: string } = {},
): ObjectType {
  const known = fields instanceof Map ? fields : new Map(Object.entries(fields));
  return { kind: "object", noun, fields: known, others, ...(hint === undefined ? {} : { hint }) };
}

/** The type of what is one of these: `any` when one is, each scalar once, strings with the words of all. */
export function unionOf(...types: readonly ValueType[]): ValueType {
  if (types.length === 1) return types[0]!;
  const members = new Set(types.flatMap(membersOf));
  if ([...members].some(({ kind }) => kind === "any")) return ANY;
  const composites = [...members].filter(isComposite);
  if (composites.length > UNION_MAX) return ANY;
  const scalars = [NUMBER, BOOLEAN, NULL].filter(({ kind }) => [...members].some((member) => member.kind === kind));
  const strings = [...members].filter((member) => member.kind === "string");
  const words = strings.flatMap((member) => member.words ?? []);
  const text = strings.every((member) => member.words !== undefined) ? oneOf([...new Set(words)]) : STRING;
  const of = [...(strings.length === 0 ? [] : [text]), ...scalars, ...composites];
  return of.length === 1 ? of[0]! : { kind: "union", of };
}

/** What a value of this type may be, one by one; unions do not nest. */
export function membersOf(type: ValueType): readonly ValueType[] {
  return type.kind === "union" ? type.of.flatMap(membersOf) : [type];
}

export function isComposite(type: ValueType): type is Extract<ValueType, { kind: "array" | "object" }> {
  return type.kind === "array" || type.kind === "object";
}

/** What messages call a value of this type: `a text`, `a list or null`. */
export function nameOf(type: ValueType): string {
  const names = membersOf(type).map(({ kind }) => NAMES[kind]);
  return [...new Set(names)].join(" or ");
}

const NAMES: Readonly<Record<ValueType["kind"], string>> = {
  any: "a value",
  string: "a text",
  number: "a number",
  boolean: "true or false",
  null: "null",
  union: "a value",
  array: "a list",
  object: "an object",
};
