/** Where the reader is: the parts of the address that hold the filters of a list, and the focus after a change of page. */
import { useCallback } from "preact/hooks";
import { useLocation } from "preact-iso";

type ChangeFilters = (some: Readonly<Record<string, string>>) => void;

/**
 * The filters in the address, and how to change some of them. An empty text removes a filter. After `choose` the back button of
 * the browser leads to the filters before; `change` is for what is typed, which would need as many steps back as it has letters.
 */
export function useFilters(): readonly [
  filters: Readonly<Record<string, string>>,
  change: ChangeFilters,
  choose: ChangeFilters,
] {
  const { path, query, route } = useLocation();
  const go = useCallback(
    (some: Readonly<Record<string, string>>, replace: boolean) => {
      const next = new URLSearchParams(Object.entries({ ...query, ...some }).filter(([, value]) => value !== ""));
      const text = next.toString();
      const isSame = text === new URLSearchParams(query).toString();
      route(text === "" ? path : `${path}?${text}`, replace || isSame);
    },
    [path, query, route],
  );
  const change = useCallback<ChangeFilters>((some) => go(some, true), [go]);
  const choose = useCallback<ChangeFilters>((some) => go(some, false), [go]);
  return [query, change, choose];
}

let lastPath = location.pathname;

/** A new page begins at its top, and a reader of screens hears its title. */
export function noteRoute(url: string): void {
  const { pathname } = new URL(url, location.href);
  if (pathname === lastPath) return;
  lastPath = pathname;
  scrollTo(0, 0);
  requestAnimationFrame(() => document.querySelector<HTMLElement>("main h1")?.focus({ preventScroll: true }));
}
