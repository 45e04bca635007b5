/** Filters of lists that a reader has saved, kept in this browser for each user. The address is what a filter is. */
import { signal } from "@preact/signals";
import { session } from "./session.ts";

export interface SavedFilter {
  readonly path: string;
  readonly name: string;
  /** As it stands in the address, without the question mark. */
  readonly query: string;
}

/** A browser keeps 5 MB of a page. */
const MOST = 100;

export const savedFilters = signal<readonly SavedFilter[]>([]);
let loadedFor: string | undefined;

const keyOf = (userId: string): string => `millrace.filters.${userId}`;

/** Reads those of the user who is logged in, once. */
export function loadSavedFilters(): void {
  const userId = session.value?.user.userId;
  if (userId === undefined || userId === loadedFor) return;
  loadedFor = userId;
  savedFilters.value = parseFilters(localStorage.getItem(keyOf(userId)));
}

/** What was kept. What another version or another program wrote there is left out. */
export function parseFilters(text: string | null): readonly SavedFilter[] {
  try {
    const list: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(list) ? list.filter(isFilter) : [];
  } catch {
    return [];
  }
}

function isFilter(value: unknown): value is SavedFilter {
  const one = value as Partial<Record<keyof SavedFilter, unknown>> | null;
  if (typeof one?.name !== "string" || typeof one.query !== "string") return false;
  // A link to another server begins with two slashes, or with none.
  return typeof one.path === "string" && /^\/(?!\/)/.test(one.path);
}

/** A filter of the same list with this name is replaced. */
export function saveFilter(filter: SavedFilter): void {
  const others = savedFilters.value.filter(({ path, name }) => path !== filter.path || name !== filter.name);
  keep([...others, filter].slice(-MOST));
}

export function removeFilter(filter: SavedFilter): void {
  keep(savedFilters.value.filter((one) => one !== filter));
}

/** The query without the place in the list, which is no part of a filter, in one order. */
export function filterText(query: Readonly<Record<string, string>>): string {
  const kept = Object.entries(query).filter(([name, value]) => name !== "after" && value !== "");
  return new URLSearchParams(kept.toSorted(([a], [b]) => (a < b ? -1 : 1))).toString();
}

function keep(list: readonly SavedFilter[]): void {
  savedFilters.value = list;
  if (loadedFor !== undefined) localStorage.setItem(keyOf(loadedFor), JSON.stringify(list));
}
