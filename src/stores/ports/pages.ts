/** Pages of lists, as stores read them. */

/** Totals are counted up to here. */
export const MAX_COUNTED = 10_000;
/** What a store counts to, so that its readers know whether there are more than {@link MAX_COUNTED}. */
export const COUNTED_AT_MOST = MAX_COUNTED + 1;
/** Items that are passed over for a page by its number, at most. */
export const MAX_PASSED = 100_000;

export interface Page<T> {
  readonly list: readonly T[];
  readonly total: number;
}

export interface PageRequest {
  /** From 1. */
  readonly page: number;
  /** 1 to 100. */
  readonly pageSize: number;
  readonly descending: boolean;
}

/** A place in a list that is sorted by time, with the id as tie-break: that of the item with this time and id. */
export interface ListKey {
  /** Unix milliseconds. */
  readonly at: number;
  readonly id: string;
}

/** A place in a list that is sorted by a time or by a text, with the id as tie-break. */
export interface ListPlace {
  readonly at: number | string;
  readonly id: string;
}

/** A page by its number, or behind a place, whatever `page` says: its cost does not depend on how deep the place is. */
export interface PlacedPageRequest extends PageRequest {
  readonly after?: ListPlace | undefined;
}

/** True for a page that stores answer as an empty one, because too many items are before it. */
export function isTooDeep({ page, pageSize, after }: PlacedPageRequest): boolean {
  return after === undefined && (page - 1) * pageSize > MAX_PASSED;
}
