/** Serves the web page: its built files, and `index.html` for every address that the page itself knows. */
import type { RouterContext } from "@koa/router";
import type { Middleware } from "koa";
import { takesCoding } from "../manners/compression.ts";
import type { ApiContext, RequestState } from "../request/state.ts";
import { readWebFiles, type WebFile } from "./web-files.ts";

/** Everything comes from this server, and nothing is written into the page as a script or a style. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");
/** The first parts of the page's own addresses, beside `/`. */
const PAGES = new Set(["admin", "agents", "approvals", "cluster", "me", "pipelines", "plugins", "projects", "runs"]);
/** First parts of addresses that belong to programs: what is unknown there is an error of the API, also in a browser. */
const PROGRAMS = new Set(["api", ".well-known"]);
const INDEX = "/index.html";

type Matched = Partial<Pick<RouterContext, "matched">>;

/**
 * Answers `GET` and `HEAD` of addresses that no route has. An address that the page does not know is answered with the
 * page and 404 when the caller asks for HTML, and is passed on otherwise. Passes everything on when `folder` does not
 * exist.
 */
export function serveWebPage(folder: string): Middleware<RequestState, Matched> {
  let reading: Promise<ReadonlyMap<string, WebFile>> | undefined;
  return async (ctx, next) => {
    const [, first = ""] = ctx.path.split("/", 2);
    const isRead = ctx.method === "GET" || ctx.method === "HEAD";
    if (!isRead || PROGRAMS.has(first) || (ctx.matched ?? []).some(({ methods }) => methods.length > 0)) return next();
    reading ??= readWebFiles(folder);
    const files = await reading;
    const index = files.get(INDEX);
    if (index === undefined) {
      // A later build is served without a restart.
      reading = undefined;
      return next();
    }
    const file = ctx.path === INDEX ? undefined : files.get(ctx.path);
    if (file !== undefined) send(ctx, file);
    else if (ctx.path === "/" || PAGES.has(first)) send(ctx, index);
    else if (wantsHtml(ctx.get("accept"))) send(ctx, index, 404);
    else await next();
  };
}

/** A browser names HTML when a person opens an address, and not when a page loads a part of itself. */
function wantsHtml(accept: string): boolean {
  return /\btext\/html\b/i.test(accept);
}

function send(ctx: ApiContext, file: WebFile, status = 200): void {
  ctx.set("Content-Security-Policy", POLICY);
  // With `no-referrer` a browser would name no origin when it sends a form, and the form would be refused.
  ctx.set("Referrer-Policy", "same-origin");
  ctx.set("Cache-Control", file.isImmutable ? "public, max-age=31536000, immutable" : "no-cache");
  ctx.vary("Accept-Encoding");
  const [coding, bytes] = pick(file, ctx.get("accept-encoding"));
  // The compressed forms are different bytes of the same file.
  ctx.set("ETag", coding === undefined ? file.etag : file.etag.replace(/"$/, `-${coding}"`));
  ctx.status = status;
  if (status === 200 && ctx.fresh) {
    ctx.status = 304;
    return;
  }
  if (coding !== undefined) ctx.set("Content-Encoding", coding);
  ctx.body = bytes;
  ctx.type = file.type;
}

function pick(file: WebFile, accepted: string): readonly ["br" | "gzip" | undefined, Buffer] {
  if (file.br !== undefined && takesCoding(accepted, "br")) return ["br", file.br];
  if (file.gzip !== undefined && takesCoding(accepted, "gzip")) return ["gzip", file.gzip];
  return [undefined, file.plain];
}
