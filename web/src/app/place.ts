/** Where the reader is: the parts of the address that hold the filters of a list, and the focus after a change of page. */
import { useCallback } from "preact/hooks";
import { useLocation } from "preact-iso";

/** The filters in the address, and how to change some of them. An empty text removes a filter. */
export function useFilters(): readonly [
  filters: Readonly<Record<string, string>>,
  change: (some: Readonly<Record<string, string>>) => void,
] {
  const { path, query, route } = useLocation();
  const change = useCallback(
    (some: Readonly<Record<string, string>>) => {
      const next = new URLSearchParams(Object.entries({ ...query, ...some }).filter(([, value]) => value !== ""));
      const text = next.toString();
      route(text === "" ? path : `${path}?${text}`, true);
    },
    [path, query, route],
  );
  return [query, change];
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
