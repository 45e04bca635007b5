/** Authentication of HTTP requests. It belongs to the routes of a router, so that a handler is reached only behind it. */
import { Readable } from "node:stream";
import type { Middleware } from "koa";
import type { AppContext } from "../../app/context.ts";
import { isSafeMethod, proveRequest, type PublicUrl } from "../../app/identity/request-proof.ts";
import type { OpenSessions } from "../../app/identity/sessions.ts";
import type { RouteFacts } from "../route.ts";
import type { ApiContext, RequestState } from "../request/state.ts";

/**
 * Sets the caller of the request. Throws `unauthenticated`. A download whose token is revoked is cut off: its status is
 * sent already, and its length shows the caller that the rest is missing. A request whose body is still coming is cut off
 * too. A call that is being worked on gets its answer, since the call itself may have ended the session.
 */
export function requireCaller(
  context: AppContext,
  sessions: OpenSessions,
  publicUrl: PublicUrl,
  routes: readonly RouteFacts[],
): Middleware<RequestState> {
  const withTicket = routes.filter(({ acceptsTicket }) => acceptsTicket).map(pathPattern);
  return async (ctx, next) => {
    const proof = await proveRequest(context, publicUrl, {
      headers: ctx.headers,
      isSafe: isSafeMethod(ctx.method),
      ticket: ticketOf(ctx, withTicket),
    });
    ctx.state.caller = proof.caller;
    let isOver = false;
    const leave = sessions.enter(proof, () => {
      isOver = true;
      if (ctx.res.headersSent || !ctx.req.complete) ctx.res.destroy();
    });
    if (ctx.res.closed) leave();
    else ctx.res.once("close", leave);
    await next();
    if (isOver && ctx.body instanceof Readable) ctx.res.destroy();
  };
}

function ticketOf(ctx: ApiContext, withTicket: readonly RegExp[]): string | undefined {
  if (ctx.method !== "GET" || !withTicket.some((path) => path.test(ctx.path))) return undefined;
  const { ticket } = ctx.query;
  return typeof ticket === "string" ? ticket : undefined;
}

/** The caller is needed before the router has found the route. */
function pathPattern({ path }: RouteFacts): RegExp {
  const parts = path.replaceAll(/:\w+/g, "[^/]+").replace(/\{\/\*\w+\}$/, "(/.*)?");
  return new RegExp(`^/api/v1${parts}$`);
}
