/** Paging and sorting: the fields of every list request, and the shape of every list answer. */
import { z } from "zod";
import type { ListKey, ListPlace, Page, PageRequest } from "../stores/ports/aggregates.ts";

const MAX_PAGE_SIZE = 100;

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

export interface ListView<T> {
  readonly list: readonly T[];
  readonly total: number;
  readonly page: number;
  readonly pageSize: number;
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

export function pageRequest({ page, pageSize, sort }: ListRequest): PageRequest {
  return { page, pageSize, descending: sort.startsWith("-") };
}

export function listView<T, V>(found: Page<T>, request: ListRequest, view: (item: T) => V): ListView<V> {
  return { list: found.list.map(view), total: found.total, page: request.page, pageSize: request.pageSize };
}
