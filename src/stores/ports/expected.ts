/** Changes that are made only while an object is as its reader has seen it. The store compares in the statement that changes. */

/** What a reader has seen in some fields of a stored object; undefined for a field that the object did not have. */
export type Expected<T extends object> = { readonly [K in keyof T]?: T[K] | undefined };

/** True when the stored object has just these values in these fields. An absent field is as one that is null. */
export function isAsExpected(stored: object, expected: object): boolean {
  const values = stored as Readonly<Record<string, unknown>>;
  return Object.entries(expected).every(([field, value]) => {
    return JSON.stringify(values[field] ?? null) === JSON.stringify(value ?? null);
  });
}
