/** A router with an index answers as it does without one. */
import Router from "@koa/router";
import { expect } from "chai";
import fc from "fast-check";
import type { RequestState } from "../../src/http/request/state.ts";
import { indexRoutes } from "../../src/http/server/route-index.ts";

const PATTERNS = [
  "/runs",
  "/runs/latest",
  "/runs/:id",
  "/runs/:id/logs",
  "/:kind/:id/logs",
  "/:kind",
  "/",
  "/files/*path",
  "/pages{/:page}",
  "/runs/:id/logs/:step/lines",
  "/Runs/:id",
];

function routerOf(prefix: string): Router<RequestState> {
  const router = new Router<RequestState>({ sensitive: true, ...(prefix !== "" && { prefix }) });
  router.use((_, next) => next());
  router.use("/runs", (_, next) => next());
  for (const [at, pattern] of PATTERNS.entries()) {
    router.get(pattern, (_, next) => next());
    if (at % 2 === 0) router.post(pattern, (_, next) => next());
  }
  return router;
}

describe("a router with an index", () => {
  for (const prefix of ["", "/api/v1"]) {
    it(`finds what it finds without one, ${prefix === "" ? "without a prefix" : "behind a prefix"}`, () => {
      const [indexed, plain] = [routerOf(prefix), routerOf(prefix)];
      indexRoutes(indexed);
      const part = fc.constantFrom("runs", "Runs", "latest", "logs", "files", "pages", "lines", "x", "", "%2F", "a.b");
      const path = fc.tuple(fc.constantFrom(prefix, "", "/api"), fc.array(part, { maxLength: 6 }), fc.boolean());
      const found = (router: Router<RequestState>, at: string, method: string) => {
        const { path: paths, pathAndMethod, route } = router.match(at, method);
        const places = (layers: typeof paths) => layers.map((layer) => router.stack.indexOf(layer));
        return [places(paths), places(pathAndMethod), route];
      };
      const same = ([start, parts, ends]: [string, string[], boolean], method: string): void => {
        const at = `${[start, ...parts].join("/")}${ends ? "/" : ""}`;
        expect(found(indexed, at, method), at).to.deep.equal(found(plain, at, method));
      };
      fc.assert(fc.property(path, fc.constantFrom("GET", "POST", "DELETE"), same), { numRuns: 3_000 });
    });
  }
});
