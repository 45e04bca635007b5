/** The values that expressions read: plain JSON as the evaluator's data, and back. */
import { data } from "@actions/expressions";

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** Stands for a value that is not known yet. */
export const UNKNOWN: unique symbol = Symbol("a value that is not known yet");
type Unknown = typeof UNKNOWN;

/** JSON in which `UNKNOWN` may stand for any field of a map, however deep, but not for an item of a list. */
export type PartialJson = Json | Unknown | { readonly [key: string]: PartialJson };

/** The contexts of an evaluation by name. */
export type Scope = ReadonlyMap<string, data.ExpressionData>;

/** Contexts of which some, or some fields of some, are not known yet. A field that is not there is known: it is null. */
export type PartialScope = ReadonlyMap<string, data.ExpressionData | Unknown>;

/** Thrown when an evaluation needs what is not known yet. One for all: it says nothing else, and its stack is costly. */
export const UNKNOWN_VALUE = new Error("this value is not known yet");

/**
 * A map whose fields are found by their exact name. The evaluator's own ignores case, so of two variables `a` and `A`
 * it would keep one, and it takes `constructor` for a field that is there. Reading a field that is not known yet
 * throws `UNKNOWN_VALUE`.
 */
export class ExactDictionary extends data.Dictionary {
  readonly #fields: PartialScope;

  constructor(fields: PartialScope) {
    super();
    this.#fields = fields;
  }

  override get(key: string): data.ExpressionData | undefined {
    const value = this.#fields.get(key);
    return value === undefined ? undefined : requireKnown(value);
  }

  /** Also true for a field whose value is not known yet. */
  has(key: string): boolean {
    return this.#fields.has(key);
  }

  override values(): data.ExpressionData[] {
    return Array.from(this.#fields.values(), requireKnown);
  }

  override pairs(): { key: string; value: data.ExpressionData }[] {
    return Array.from(this.#fields, ([key, value]) => ({ key, value: requireKnown(value) }));
  }
}

/** The contexts of `base` and those given, which win. */
export function toScope(contexts: Readonly<Record<string, Json>>, base: Scope = new Map()): Scope {
  return new Map([...base, ...Object.entries(contexts).map(([name, value]) => [name, toData(value)] as const)]);
}

/** As `toScope`, with `UNKNOWN` for what is not known yet. */
export function toPartialScope(
  contexts: Readonly<Record<string, PartialJson>>,
  base: PartialScope = new Map(),
): PartialScope {
  return new Map([...base, ...Object.entries(contexts).map(([name, value]) => [name, toData(value)] as const)]);
}

/** False when `context` is a map that certainly has no `field`. */
export function mayHaveField(scope: PartialScope, context: string, field: string): boolean {
  const values = scope.get(context);
  if (values === UNKNOWN) return true;
  return values instanceof ExactDictionary && values.has(field);
}

/** What JSON cannot say, such as NaN, becomes null. */
export function fromData(value: data.ExpressionData): Json {
  switch (value.kind) {
    case data.Kind.Null:
      return null;
    case data.Kind.Number:
      // JSON knows no negative zero.
      return Number.isFinite(value.value) ? value.value + 0 : null;
    case data.Kind.String:
    case data.Kind.Boolean:
      return value.value;
    case data.Kind.Array:
      return value.values().map(fromData);
    case data.Kind.Dictionary:
      return Object.fromEntries(value.pairs().map((pair) => [pair.key, fromData(pair.value)]));
  }
}

export function toData(value: Json): data.ExpressionData;
export function toData(value: PartialJson): data.ExpressionData | Unknown;
export function toData(value: PartialJson): data.ExpressionData | Unknown {
  if (value === UNKNOWN) return UNKNOWN;
  if (value === null) return new data.Null();
  if (typeof value === "string") return new data.StringData(value);
  if (typeof value === "number") return new data.NumberData(value);
  if (typeof value === "boolean") return new data.BooleanData(value);
  if (Array.isArray(value)) return toList(value.map((item: Json) => toData(item)));
  return new ExactDictionary(toPartialScope(value as Readonly<Record<string, PartialJson>>));
}

/** The evaluator's own constructor takes the items as arguments, of which there may be too many for the stack. */
export function toList(items: readonly data.ExpressionData[]): data.Array {
  const list = new data.Array();
  for (const item of items) list.add(item);
  return list;
}

function requireKnown(value: data.ExpressionData | Unknown): data.ExpressionData {
  if (value === UNKNOWN) throw UNKNOWN_VALUE;
  return value;
}
