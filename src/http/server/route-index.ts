/**
 * Serves the routes of a router. The router itself compares a path with the pattern of every route in turn, of which the API
 * has hundreds, and makes the middleware of a route again for each request.
 */
import Router, { type RouterContext } from "@koa/router";
import type { Middleware } from "koa";
import type { RequestState } from "../request/state.ts";

type Layer = Router<RequestState>["stack"][number];
type Served = Middleware<RequestState, Partial<Pick<RouterContext, "matched" | "params" | "_matchedRoute">>>;

/** Routes in their order, as the router's own comparison takes them. */
interface Routes {
  readonly stack: readonly Layer[];
  /** False when there is nothing but middleware, which is called for its routes alone. */
  readonly hasRoute: boolean;
}

/** A part of a pattern that is more than a text. */
const VARIABLE = /[:*{}()[\]?+!\\]/;
/** Patterns that may match any number of parts. */
const OPEN_ENDED = /[*{}()[\]?+!\\]/;

/**
 * To be called when the router has all its routes. Answers what `router.routes()` would, for routes that answer each request: of
 * several that match, the first one is called. `router.match` is fast from then on, too.
 */
export function indexRoutes(router: Router<RequestState>): Served & { readonly router: Router<RequestState> } {
  const routesFor = indexOf(router);
  const match = (routes: Routes, path: string, method: string) => Router.prototype.match.call(routes, path, method);
  router.match = (path, method) => match(routesFor(path), path, method);
  const chains = new Map<Layer, Middleware<RequestState>>();
  const serve: Served = (ctx, next) => {
    const { path, method } = ctx;
    const routes = routesFor(path);
    if (!routes.hasRoute) return next();
    const found = match(routes, path, method);
    if (ctx.matched === undefined) ctx.matched = found.path;
    else ctx.matched.push(...found.path);
    const at = found.pathAndMethod.findIndex(({ methods }) => methods.length > 0);
    const route = found.pathAndMethod[at];
    if (route === undefined) return next();
    ctx.params = route.params(path, route.captures(path));
    ctx._matchedRoute = route.path;
    let chain = chains.get(route);
    if (chain === undefined) {
      chain = chained(found.pathAndMethod.slice(0, at + 1).flatMap(({ stack }) => stack as Middleware<RequestState>[]));
      chains.set(route, chain);
    }
    return chain(ctx, next);
  };
  return Object.assign(serve, { router });
}

/** Calls the steps one in another. */
function chained(steps: readonly Middleware<RequestState>[]): Middleware<RequestState> {
  return steps.reduceRight(
    (rest, step) => (ctx, next) => step(ctx, async () => rest(ctx, next)),
    (_, next) => next(),
  );
}

/** A function that answers the few routes which a path may match. */
function indexOf({ stack, opts }: Router<RequestState>): (path: string) => Routes {
  const before = partsOf(String(opts.prefix ?? "")).length;
  const names = new Set<string>();
  let longest = 0;
  for (const { path } of stack) {
    const parts = partsOf(String(path));
    longest = Math.max(longest, parts.length);
    if (isText(parts[before])) names.add(parts[before]);
  }
  const known = new Map<string, ReadonlyMap<string, Routes>[]>();
  return (path) => {
    const parts = partsOf(path);
    const name = parts[before] ?? "";
    const [group, length] = [names.has(name) ? name : "", Math.min(parts.length, longest + 1)];
    let ofGroup = known.get(group);
    if (ofGroup === undefined) known.set(group, (ofGroup = []));
    const some = (ofGroup[length] ??= byEnd(stack.filter((layer) => mayMatch(layer, before, group, length))));
    return some.get(parts.at(-1)!) ?? some.get("")!;
  };
}

/** The routes by the text at their end; by "" those for all other ends. */
function byEnd(stack: readonly Layer[]): ReadonlyMap<string, Routes> {
  const ends = new Set(["", ...stack.flatMap((layer) => endOf(layer) ?? [])]);
  const routesWith = (end: string): Routes => {
    const some = stack.filter((layer) => (endOf(layer) ?? end) === end);
    return { stack: some, hasRoute: some.some(({ methods }) => methods.length > 0) };
  };
  return new Map([...ends].map((end) => [end, routesWith(end)]));
}

/** Undefined for a route whose end may be any text. */
function endOf({ path, methods }: Layer): string | undefined {
  if (methods.length === 0 || typeof path !== "string" || path.endsWith("/") || OPEN_ENDED.test(path)) return undefined;
  const end = partsOf(path).at(-1);
  return isText(end) ? end : undefined;
}

function isText(part: string | undefined): part is string {
  return part !== undefined && !VARIABLE.test(part);
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
