/** The values that expressions read: from plain JSON to the data of the evaluator, and back. */
import { data } from "@actions/expressions";

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** Stands for a value that is not known yet. */
export const UNKNOWN: unique symbol = Symbol("a value that is not known yet");
type Unknown = typeof UNKNOWN;

/** JSON in which any field of a map, at any depth, may be `UNKNOWN`, but no item of a list. */
export type PartialJson = Json | Unknown | { readonly [key: string]: PartialJson };

interface Fields<Value> {
  get(name: string): Value | undefined;
  has(name: string): boolean;
  entries(): Iterable<[string, Value]>;
}

/** The contexts of an evaluation by name. */
export type Scope = Fields<data.ExpressionData>;

/** Contexts that may be `UNKNOWN`, or have fields that are. An absent field is known: its value is null. */
export type PartialScope = Fields<data.ExpressionData | Unknown>;

/** Thrown when an evaluation needs a value that is not known yet. It is one shared object, because making a stack is costly. */
export const UNKNOWN_VALUE = new Error("this value is not known yet");

/**
 * A map whose fields are found by their exact names. The evaluator's own map ignores case, so it would keep one of two variables
 * `a` and `A`; and it finds a field `constructor` in every map. Reading a field that is not known yet throws `UNKNOWN_VALUE`.
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
    return Array.from(this.#fields.entries(), ([, value]) => requireKnown(value));
  }

  override pairs(): { key: string; value: data.ExpressionData }[] {
    return Array.from(this.#fields.entries(), ([key, value]) => ({ key, value: requireKnown(value) }));
  }
}

/** The fields of JSON, which override those of `base`. A field becomes data when it is read: expressions read few of them. */
class JsonFields implements PartialScope {
  readonly #json: Readonly<Record<string, PartialJson>>;
  readonly #base: PartialScope | undefined;
  #read: Map<string, data.ExpressionData | Unknown> | undefined;

  constructor(json: Readonly<Record<string, PartialJson>>, base?: PartialScope) {
    this.#json = json;
    this.#base = base;
  }

  get(name: string): data.ExpressionData | Unknown | undefined {
    if (!Object.hasOwn(this.#json, name)) return this.#base?.get(name);
    this.#read ??= new Map<string, data.ExpressionData | Unknown>();
    let value = this.#read.get(name);
    if (value === undefined) this.#read.set(name, (value = toData(this.#json[name]!)));
    return value;
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#json, name) || (this.#base?.has(name) ?? false);
  }

  entries(): Iterable<[string, data.ExpressionData | Unknown]> {
    const all = new Map(this.#base?.entries());
    for (const name of Object.keys(this.#json)) all.set(name, this.get(name)!);
    return all;
  }
}

/** The contexts of `base` and of `contexts`, which override those of `base`. Nothing may change them afterwards. */
export function toScope(contexts: Readonly<Record<string, Json>>, base?: Scope): Scope {
  return new JsonFields(contexts, base) as Scope;
}

/** As `toScope`, where values may be `UNKNOWN`. */
export function toPartialScope(contexts: Readonly<Record<string, PartialJson>>, base?: PartialScope): PartialScope {
  return new JsonFields(contexts, base);
}

/** False when `context` is a map that certainly has no `field`. */
export function mayHaveField(scope: PartialScope, context: string, field: string): boolean {
  const values = scope.get(context);
  if (values === UNKNOWN) return true;
  return values instanceof ExactDictionary && values.has(field);
}

/** The evaluator's data as JSON. A value that JSON does not have, such as NaN, becomes null. */
export function fromData(value: data.ExpressionData): Json {
  switch (value.kind) {
    case data.Kind.Null:
      return null;
    case data.Kind.Number:
      // Adding 0 turns the negative zero, which JSON does not have, into 0.
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

/**
 * Lists as the evaluator's data, which nothing changes: a thousand cells may read the same list of a thousand outputs in
 * one turn.
 */
const knownLists = new WeakMap<readonly Json[], data.Array>();

/** JSON as the evaluator's data. */
export function toData(value: Json): data.ExpressionData;
export function toData(value: PartialJson): data.ExpressionData | Unknown;
export function toData(value: PartialJson): data.ExpressionData | Unknown {
  if (value === UNKNOWN) return UNKNOWN;
  if (value === null) return new data.Null();
  if (typeof value === "string") return new data.StringData(value);
  if (typeof value === "number") return new data.NumberData(value);
  if (typeof value === "boolean") return new data.BooleanData(value);
  if (Array.isArray(value)) return listOf(value as readonly Json[]);
  return new ExactDictionary(new JsonFields(value as Readonly<Record<string, PartialJson>>));
}

function listOf(value: readonly Json[]): data.Array {
  let list = knownLists.get(value);
  if (list === undefined) knownLists.set(value, (list = toList(value.map((item) => toData(item)))));
  return list;
}

/** A list of the evaluator. Its own constructor takes the items as arguments, and too many of them overflow the stack. */
export function toList(items: readonly data.ExpressionData[]): data.Array {
  const list = new data.Array();
  for (const item of items) list.add(item);
  return list;
}

function requireKnown(value: data.ExpressionData | Unknown): data.ExpressionData {
  if (value === UNKNOWN) throw UNKNOWN_VALUE;
  return value;
}
