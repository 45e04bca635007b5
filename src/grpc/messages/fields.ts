/** Between the fields of messages, in which nothing is absent, and the bodies and views of the use cases. */

/** Unix milliseconds of an RFC 3339 text; 0 for none. */
export function unixMs(time: string | null): bigint {
  return BigInt(time === null ? 0 : Date.parse(time));
}

export function wholeMs(value: number | null): bigint {
  return BigInt(Math.round(value ?? 0));
}

/** Undefined for the empty text, which stands for what is not nonEmpty. */
export function nonEmpty<T extends string>(value: T): T | undefined {
  return value === "" ? undefined : value;
}

/** Without what is undefined. */
export function withoutUndefined(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** The fields of a list request as queries have them, so that both keep to the same bounds; 0 stands for the default. */
export function paging({ page, pageSize }: { readonly page: number; readonly pageSize: number }) {
  const text = (value: number): string | undefined => (value === 0 ? undefined : String(value));
  return { page: text(page), pageSize: text(pageSize) };
}
