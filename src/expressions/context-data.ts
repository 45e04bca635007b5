/** The values that expressions read: plain JSON as the evaluator's data, and back. */
import { data } from "@actions/expressions";

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** The contexts of an evaluation by name. */
export type Scope = ReadonlyMap<string, data.ExpressionData>;

/**
 * A map whose fields are found by their exact name. The evaluator's own ignores case, so of two variables `a` and `A`
 * it would keep one, and it takes `constructor` for a field that is there.
 */
export class ExactDictionary extends data.Dictionary {
  readonly #fields: Scope;

  constructor(fields: Scope) {
    super();
    this.#fields = fields;
  }

  override get(key: string): data.ExpressionData | undefined {
    return this.#fields.get(key);
  }

  override values(): data.ExpressionData[] {
    return [...this.#fields.values()];
  }

  override pairs(): { key: string; value: data.ExpressionData }[] {
    return [...this.#fields].map(([key, value]) => ({ key, value }));
  }
}

/** The contexts of `base` and those given, which win. */
export function toScope(contexts: Readonly<Record<string, Json>>, base: Scope = new Map()): Scope {
  return new Map([...base, ...Object.entries(contexts).map(([name, value]) => [name, toData(value)] as const)]);
}

/** True when `context` is a map that has `field`. */
export function hasField(scope: Scope, context: string, field: string): boolean {
  const values = scope.get(context);
  return values instanceof data.Dictionary && values.get(field) !== undefined;
}

/** What JSON cannot say, such as NaN, becomes null. */
export function fromData(value: data.ExpressionData): Json {
  return JSON.parse(JSON.stringify(value, data.replacer)) as Json;
}

function toData(value: Json): data.ExpressionData {
  if (value === null) return new data.Null();
  if (typeof value === "string") return new data.StringData(value);
  if (typeof value === "number") return new data.NumberData(value);
  if (typeof value === "boolean") return new data.BooleanData(value);
  if (Array.isArray(value)) return new data.Array(...value.map(toData));
  return new ExactDictionary(toScope(value as Readonly<Record<string, Json>>));
}
