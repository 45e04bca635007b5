/** Paging and sorting: the fields of every list request, and the shape of every list answer. */
import { z } from "zod";
import { MillraceError } from "../domain/errors.ts";
import {
  isTooDeep,
  type ListKey,
  type ListPlace,
  MAX_COUNTED,
  MAX_PASSED,
  type Page,
  type PlacedPageRequest,
} from "../stores/ports/pages.ts";

const MAX_PAGE_SIZE = 100;
/** A list that is answered as a whole has so many items at most; `next` leads to the others. */
const MAX_WHOLE = 10_000;

/** A whole number from 1 to `max`. */
export const count = (max: number) => {
  const rule = `must be a whole number from 1 to ${max}`;
  return z
    .string()
    .regex(/^[1-9]\d{0,8}$/, rule)
    .transform(Number)
    .refine((value) => value <= max, rule)
    .meta({ type: "integer", minimum: 1, maximum: max });
};

/** Fields of a list request: `page` from 1 and `pageSize` up to 100, default 20. */
export const listFields = {
  page: count(1_000_000).default(1),
  pageSize: count(MAX_PAGE_SIZE).default(20),
};

/** A `sort` field: one of `names`, ascending, or descending with a leading minus; absent, it is `byDefault`. */
export function sortField<const N extends string>(names: readonly N[], byDefault: N | `-${N}`) {
  return z.enum(names.flatMap((name) => [name, `-${name}` as const])).default(byDefault as never);
}

export interface ListRequest {
  readonly page: number;
  readonly pageSize: number;
  readonly sort: string;
}

export interface PlacedListRequest extends ListRequest {
  readonly after?: ListPlace | undefined;
}

export interface ListView<T> {
  readonly list: readonly T[];
  readonly total: number;
  readonly page: number;
  readonly pageSize: number;
}

/** A page of a list with cursors. */
export interface PlacedListView<T> extends ListView<T> {
  readonly totalIsExact: boolean;
  readonly next: string | null;
}

/** Longer than every cursor of this program. */
const MAX_CURSOR_CHARS = 500;
/** A name has up to 200 characters, each of up to four bytes or an escape. */
const MAX_PLACE_CHARS = 2_000;

/**
 * The field `after` of a list with cursors: the `next` of the page before, which is read as the place behind which the page
 * begins. A cursor is not signed: it says no more than a place in a list that the caller may read anyway.
 */
export const afterField = z
  .string()
  .max(MAX_CURSOR_CHARS)
  .transform((text, check): ListKey => {
    const place = readCursor(text);
    if (place !== undefined) return place;
    check.addIssue("must be `next` of an earlier page");
    return z.NEVER;
  });

/** The field `after` of a list that may be sorted by a time or by a text. */
export const placeField = z
  .string()
  .max(MAX_PLACE_CHARS)
  .transform((text, check): ListPlace => {
    const place = readPlace(text);
    if (place !== undefined) return place;
    check.addIssue("must be `next` of an earlier page");
    return z.NEVER;
  });

/** Fields of the request for a list with cursors. */
export const placedListFields = { ...listFields, after: placeField.optional() };

/** The cursor of the page behind a place. */
export function cursorOf({ at, id }: ListPlace): string {
  return Buffer.from(JSON.stringify([at, id])).toString("base64url");
}

function readCursor(text: string): ListKey | undefined {
  const place = readPlace(text);
  return typeof place?.at === "number" ? { at: place.at, id: place.id } : undefined;
}

function readPlace(text: string): ListPlace | undefined {
  try {
    const [at, id, ...rest] = JSON.parse(Buffer.from(text, "base64url").toString()) as readonly unknown[];
    if ((!Number.isSafeInteger(at) && typeof at !== "string") || typeof id !== "string" || rest.length > 0) {
      return undefined;
    }
    const place = { at: at as ListPlace["at"], id };
    return cursorOf(place) === text ? place : undefined;
  } catch {
    return undefined;
  }
}

export function pageRequest({ page, pageSize, sort, after }: PlacedListRequest): PlacedPageRequest {
  return { page, pageSize, descending: sort.startsWith("-"), after };
}

export function listView<T, V>(found: Page<T>, request: ListRequest, view: (item: T) => V): ListView<V> {
  return { list: found.list.map(view), total: found.total, page: request.page, pageSize: request.pageSize };
}

/**
 * A page of a list with cursors. Stores count to `COUNTED_AT_MOST`. Throws `malformed_request` for a page by number that
 * has too many items before it.
 */
export function placedListView<T, V>(
  { list, total, totalIsExact = total <= MAX_COUNTED }: Page<T> & { readonly totalIsExact?: boolean },
  request: PlacedListRequest,
  placeOf: (item: T) => ListPlace,
  view: (item: T) => V,
): PlacedListView<V> {
  if (!totalIsExact && isTooDeep(pageRequest(request))) throw tooDeep();
  const last = list.length === request.pageSize ? list.at(-1) : undefined;
  return {
    ...listView({ list, total: Math.min(total, MAX_COUNTED) }, request, view),
    totalIsExact,
    next: last === undefined ? null : cursorOf(placeOf(last)),
  };
}

/** {@link placedListView} of a list that is in memory, in its order. */
export function placedPartOf<T, V>(
  all: readonly T[],
  request: PlacedListRequest,
  placeOf: (item: T) => ListPlace,
  view: (item: T) => V,
): PlacedListView<V> {
  const { page, pageSize, sort, after } = request;
  const start =
    after === undefined ? (page - 1) * pageSize : startBehind(all, placeOf, after, sort.startsWith("-") ? -1 : 1);
  const found = { list: all.slice(start, start + pageSize), total: all.length, totalIsExact: true };
  return { ...placedListView(found, request, placeOf, view), total: all.length };
}

/** How many of the items, which are sorted, are not behind a place. */
export function startBehind<T>(
  all: readonly T[],
  placeOf: (item: T) => ListPlace,
  { at, id }: ListPlace,
  direction: 1 | -1,
): number {
  // A store may sort texts in another order than this language.
  const same = all.findIndex((item) => placeOf(item).id === id);
  if (same !== -1) return same + 1;
  const found = all.findIndex((item) => {
    const place = placeOf(item);
    return place.at === at ? place.id > id === direction > 0 : place.at > at === direction > 0;
  });
  return found === -1 ? all.length : found;
}

/** A list that is answered as a whole, unless its caller asks for pages. */
export const wholeListQuery = z.object({
  pageSize: count(MAX_WHOLE).default(MAX_WHOLE),
  after: placeField.optional(),
});

export interface WholeListRequest {
  /** Absent: the whole list. */
  readonly pageSize?: number;
  readonly after?: ListPlace | undefined;
}

export interface WholeListView<T> {
  readonly list: readonly T[];
  readonly total: number;
  readonly totalIsExact: boolean;
  readonly next: string | null;
}

/** What is asked for of a list that is in memory, in ascending order of its places. */
export function wholeListView<T>(
  all: readonly T[],
  { pageSize = all.length, after }: WholeListRequest,
  placeOf: (item: T) => ListPlace,
): WholeListView<T> {
  const { list, total, totalIsExact, next } = placedPartOf(
    all,
    { page: 1, pageSize, sort: "", after },
    placeOf,
    (item) => item,
  );
  const isLast = next === null || list.at(-1) === all.at(-1);
  return { list, total, totalIsExact, next: isLast ? null : next };
}

function tooDeep(): MillraceError {
  const message = `begins behind item ${MAX_PASSED} of the list: go on from page to page with \`after\`, the \`next\` of the page before`;
  const problems = [{ code: "too_big", pointer: "/page", message }];
  return new MillraceError("malformed_request", `/page ${message}`, { problems });
}
