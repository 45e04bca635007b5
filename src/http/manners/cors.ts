/** Cross-origin calls of browsers, for the origins that an operator names. Source: https://fetch.spec.whatwg.org/#cors-protocol */
import type { Middleware } from "koa";
import type { RequestState } from "../request/state.ts";

/** `*`: every origin. */
export type AllowedOrigins = readonly string[] | "*";

const METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE";
const SENT = "Authorization, Content-Type, If-Match, If-None-Match, If-Range, Range, Idempotency-Key, X-Request-Id";
const READ =
  "Accept-Ranges, Allow, Content-Disposition, Content-Range, ETag, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id";
/** How long a browser may remember the answer to a preflight request. */
const REMEMBER_SECONDS = 600;

/**
 * Lets pages of these origins call the API with a token that they hold. No header lets a browser send cookies along, so a
 * page of a foreign origin never acts with the session of the user. Answers preflight requests.
 */
export function allowOrigins(origins: AllowedOrigins): Middleware<RequestState> {
  const allowed = new Set(origins);
  return async (ctx, next) => {
    ctx.vary("Origin");
    const origin = ctx.get("origin");
    if (origin === "" || (origins !== "*" && !allowed.has(origin))) return next();
    ctx.set("Access-Control-Allow-Origin", origins === "*" ? "*" : origin);
    if (ctx.method === "OPTIONS" && ctx.get("access-control-request-method") !== "") {
      ctx.set("Access-Control-Allow-Methods", METHODS);
      ctx.set("Access-Control-Allow-Headers", SENT);
      ctx.set("Access-Control-Max-Age", `${REMEMBER_SECONDS}`);
      ctx.status = 204;
      return;
    }
    ctx.set("Access-Control-Expose-Headers", READ);
    await next();
  };
}
