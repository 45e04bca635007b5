/** Authentication of HTTP requests. It belongs to the routes of a router, so that a handler is reached only behind it. */
import type { Middleware } from "koa";
import type { AppContext } from "../app/context.ts";
import { authenticate } from "../app/identity/access.ts";
import type { OpenSessions } from "../app/identity/sessions.ts";
import type { RequestState } from "./request/state.ts";

/**
 * Sets the caller of the request. Throws `unauthenticated`. A download whose token is revoked is cut off: its status is
 * sent already, and its length shows the caller that the rest is missing.
 */
export function requireBearer(context: AppContext, sessions: OpenSessions): Middleware<RequestState> {
  return async (ctx, next) => {
    const bearer = /^Bearer +(\S+) *$/i.exec(ctx.get("authorization"))?.[1] ?? "";
    const caller = await authenticate(context, bearer);
    ctx.state.caller = caller;
    const leave = sessions.enter({ bearer, caller }, () => ctx.res.destroy());
    if (ctx.res.closed) leave();
    else ctx.res.once("close", leave);
    await next();
  };
}
