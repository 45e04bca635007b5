/** Documents whose record is the field `body`. */
import type { Keyed } from "./connection.ts";

export function bodyOf<T>(document: Keyed | null): T | undefined {
  return document === null ? undefined : (document["body"] as T);
}

export function bodiesOf<T>(documents: readonly Keyed[]): readonly T[] {
  return documents.map((document) => bodyOf<T>(document)!);
}

/** The filter of documents whose body is as a reader has seen it: null finds an absent field, too. */
export function bodyAsExpected(expected: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(expected).map(([field, value]) => [`body.${field}`, value ?? null]));
}
