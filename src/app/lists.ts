/** Paging and sorting: the fields of every list request, and the shape of every list answer. */
import { z } from "zod";
import type { Page, PageRequest } from "../stores/ports/aggregates.ts";

const MAX_PAGE_SIZE = 100;

const count = (max: number) => {
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

export function pageRequest({ page, pageSize, sort }: ListRequest): PageRequest {
  return { page, pageSize, descending: sort.startsWith("-") };
}

export function listView<T, V>(found: Page<T>, request: ListRequest, view: (item: T) => V): ListView<V> {
  return { list: found.list.map(view), total: found.total, page: request.page, pageSize: request.pageSize };
}
