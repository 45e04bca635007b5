/** The static types of the values that expressions read and give. */

export type ValueType =
  | { readonly kind: "any" }
  /** `words` are the only values that the string can have; absent: it can have any. */
  | { readonly kind: "string"; readonly words?: readonly string[] }
  | { readonly kind: "number" }
  | { readonly kind: "boolean" }
  | { readonly kind: "null" }
  | { readonly kind: "union"; readonly of: readonly ValueType[] }
  /** `filtered`: the result of `.*`, in which a field is the list of that field of all items. */
  | { readonly kind: "array"; readonly items: ValueType; readonly filtered?: true }
  | ObjectType;

export interface ObjectType {
  readonly kind: "object";
  /** What messages call the object, such as `jobs.build` in backquotes. */
  readonly noun: string;
  readonly fields: ReadonlyMap<string, ValueType>;
  /** The type of the fields that are not listed; null when the object has no other fields. */
  readonly others: ValueType | null;
  /** What to do when a field does not exist. */
  readonly hint?: string;
}

/** The types of contexts, by name. */
export type ContextTypes = ReadonlyMap<string, ValueType>;

export const ANY: ValueType = { kind: "any" };
export const STRING: ValueType = { kind: "string" };
export const NUMBER: ValueType = { kind: "number" };
export const BOOLEAN: ValueType = { kind: "boolean" };
export const NULL: ValueType = { kind: "null" };

/** A union of more maps and lists than this finds no errors, so it becomes `any`. */
const MAX_UNION = 20;

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

/** The type of a value that has one of these types: `any` if one of them is; strings have the words of all of them. */
export function unionOf(...types: readonly ValueType[]): ValueType {
  if (types.length === 1) return types[0]!;
  const members = new Set(types.flatMap(membersOf));
  if ([...members].some(({ kind }) => kind === "any")) return ANY;
  const composites = [...members].filter(isComposite);
  if (composites.length > MAX_UNION) return ANY;
  const scalars = [NUMBER, BOOLEAN, NULL].filter(({ kind }) => [...members].some((member) => member.kind === kind));
  const strings = [...members].filter((member) => member.kind === "string");
  const words = strings.flatMap((member) => member.words ?? []);
  const text = strings.every((member) => member.words !== undefined) ? oneOf([...new Set(words)]) : STRING;
  const of = [...(strings.length === 0 ? [] : [text]), ...scalars, ...composites];
  return of.length === 1 ? of[0]! : { kind: "union", of };
}

/** The members of a type: those of a union, else the type itself. No member is a union. */
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
