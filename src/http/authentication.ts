/** Authentication of HTTP requests. It belongs to the routes of a router, so that a handler is reached only behind it. */
import type { Middleware } from "koa";
import type { AppContext } from "../app/context.ts";
import { isSafeMethod, proveRequest, type PublicUrl } from "../app/identity/request-proof.ts";
import type { OpenSessions } from "../app/identity/sessions.ts";
import type { ApiContext, RequestState } from "./request/state.ts";

/**
 * Downloads, which a browser begins without a script, and event streams, for which a script cannot set a header: the
 * address may hold a ticket.
 */
const WITH_TICKET = [
  /^\/api\/v1\/live\//,
  /^\/api\/v1\/pipelines\/runs\/[^/]+\/artifacts\/[^/]+\/content(\/|$)/,
  /^\/api\/v1\/pipelines\/[^/]+\/runs\/[^/]+\/(logs\/archive|steps\/[^/]+\/logs\/(text|stream))$/,
];

/**
 * Sets the caller of the request. Throws `unauthenticated`. A download whose token is revoked is cut off: its status is
 * sent already, and its length shows the caller that the rest is missing.
 */
export function requireCaller(
  context: AppContext,
  sessions: OpenSessions,
  publicUrl: PublicUrl,
): Middleware<RequestState> {
  return async (ctx, next) => {
    const proof = await proveRequest(context, publicUrl, {
      headers: ctx.headers,
      isSafe: isSafeMethod(ctx.method),
      ticket: ticketOf(ctx),
    });
    ctx.state.caller = proof.caller;
    const leave = sessions.enter(proof, () => ctx.res.destroy());
    if (ctx.res.closed) leave();
    else ctx.res.once("close", leave);
    await next();
  };
}

function ticketOf(ctx: ApiContext): string | undefined {
  if (ctx.method !== "GET" || !WITH_TICKET.some((path) => path.test(ctx.path))) return undefined;
  const { ticket } = ctx.query;
  return typeof ticket === "string" ? ticket : undefined;
}
