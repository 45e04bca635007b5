/** A router with an index answers as it does without one. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import Router from "@koa/router";
import { expect } from "chai";
import fc from "fast-check";
import Koa from "koa";
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

  it("calls the first route that matches, behind the middleware of its router", async () => {
    const calls: string[] = [];
    const answering = (name: string) => {
      const router = new Router<RequestState>({ sensitive: true, prefix: "/api" });
      router.use(async (_, next) => {
        calls.push(`before ${name}`);
        await next();
        calls.push(`after ${name}`);
      });
      return router;
    };
    const [first, second] = [answering("first"), answering("second")];
    first.get("/other", () => {});
    first.post("/runs/:id", () => {});
    second.get("/runs/:id", (ctx) => void (ctx.body = [ctx["_matchedRoute"], ctx["params"], ctx["matched"]?.length]));
    second.get("/runs/latest", () => void calls.push("never"));
    const app = new Koa<RequestState>();
    for (const router of [first, second]) app.use(indexRoutes(router));
    app.use((ctx) => void (ctx.body = `none of ${(ctx["matched"] ?? []).length}`));
    const handle = app.callback();
    const server = createServer((request, response) => void handle(request, response)).listen(0, "127.0.0.1");
    try {
      await once(server, "listening");
      const read = async (path: string, method = "GET") =>
        (await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`, { method })).text();
      expect(JSON.parse(await read("/api/runs/a%20b"))).to.deep.equal(["/api/runs/:id", { id: "a b" }, 4]);
      expect(calls).to.deep.equal(["before second", "after second"]);
      expect(await read("/api/runs/a", "DELETE")).to.equal("none of 4");
      expect(await read("/elsewhere")).to.equal("none of 0");
      expect(calls).to.have.length(2);
    } finally {
      server.close();
    }
  });
});
