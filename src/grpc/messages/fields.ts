/**
 * Conversions between fields of messages and fields of the use cases. A field of a message is never absent: its zero or its
 * empty text stands for an absent value.
 */
import type { PlacedListView } from "../../app/lists.ts";

/** Unix milliseconds of an RFC 3339 text; 0 for null. */
export function unixMs(time: string | null): bigint {
  return BigInt(time === null ? 0 : Date.parse(time));
}

/** Milliseconds, rounded to whole ones; 0 for null. */
export function wholeMs(value: number | null): bigint {
  return BigInt(Math.round(value ?? 0));
}

/** The text; undefined for the empty text, which stands for an absent field. */
export function nonEmpty<T extends string>(value: T): T | undefined {
  return value === "" ? undefined : value;
}

/** The fields without those that are undefined. */
export function withoutUndefined(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** {@link paging} for a list that goes on behind a place. */
export function placedPaging({ after, ...page }: Parameters<typeof paging>[0] & { readonly after: string }) {
  return { ...paging(page), after: nonEmpty(after) };
}

/** What the answer of such a list says beside its items. */
export function pageMessage({ total, totalIsExact, next }: Omit<PlacedListView<unknown>, "list">) {
  return { total: BigInt(total), totalIsExact, next: next ?? "" };
}

/** The paging fields of a list request as HTTP queries have them, so that the same bounds hold for both; 0 means the default. */
export function paging({ page, pageSize }: { readonly page: number; readonly pageSize: number }) {
  const text = (value: number): string | undefined => (value === 0 ? undefined : String(value));
  return { page: text(page), pageSize: text(pageSize) };
}
