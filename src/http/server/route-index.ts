/**
 * Lets a router compare a request with the few routes that its path may match. The router compares the path with the pattern of every
 * route in turn, and the API has hundreds.
 */
import Router from "@koa/router";
import type { RequestState } from "../request/state.ts";

type Layer = Router<RequestState>["stack"][number];

/** A part of a pattern that is more than a text. */
const VARIABLE = /[:*{}()[\]?+!\\]/;
/** Patterns that may match any number of parts. */
const OPEN_ENDED = /[*{}()[\]?+!\\]/;

/** To be called when the router has all its routes. */
export function indexRoutes(router: Router<RequestState>): void {
  const { stack } = router;
  const before = partsOf(String(router.opts.prefix ?? "")).length;
  const names = new Set<string>();
  let longest = 0;
  for (const { path } of stack) {
    const parts = partsOf(String(path));
    longest = Math.max(longest, parts.length);
    if (parts[before] !== undefined && !VARIABLE.test(parts[before])) names.add(parts[before]);
  }
  const known = new Map<string, { readonly stack: Layer[] }>();
  router.match = (path, method) => {
    const parts = partsOf(path);
    const name = parts[before] ?? "";
    const [group, length] = [names.has(name) ? name : "", Math.min(parts.length, longest + 1)];
    const key = `${length} ${group}`;
    let some = known.get(key);
    if (some === undefined) {
      some = { stack: stack.filter((layer) => mayMatch(layer, before, group, length)) };
      known.set(key, some);
    }
    return Router.prototype.match.call(some, path, method);
  };
}

function mayMatch({ path, methods }: Layer, before: number, group: string, length: number): boolean {
  // What has no method is called for all paths that begin with its own.
  if (methods.length === 0 || typeof path !== "string" || path.endsWith("/") || OPEN_ENDED.test(path)) return true;
  const parts = partsOf(path);
  const name = parts[before] ?? "";
  return parts.length === length && (VARIABLE.test(name) || name === group);
}

/** The texts between the slashes. A slash at the end counts for nothing, as for the router. */
function partsOf(path: string): readonly string[] {
  const parts = path.split("/");
  if (parts.at(-1) === "") parts.pop();
  return parts;
}
