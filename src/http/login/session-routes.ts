/** Routes of sessions, refresh tokens and tickets. */
import { endSession, listSessions, logOut, refresh, refreshBody } from "../../app/identity/login-sessions.ts";
import type { PublicUrl } from "../../app/identity/request-proof.ts";
import { createTicket } from "../../app/identity/tickets.ts";
import type { AppContext } from "../../app/context.ts";
import { asId, type SessionId } from "../../domain/ids.ts";
import { answer } from "../answer.ts";
import { parseBody } from "../parse.ts";
import type { ApiRouter } from "../state.ts";
import { clearSessionCookie } from "./session-cookie.ts";

/** The route that needs a refresh token in place of a bearer. */
export function addRefreshRoute(router: ApiRouter, context: AppContext): void {
  router.post(
    "/auth/refresh",
    answer(context, async (ctx) => refresh(context, await parseBody(ctx, refreshBody))),
  );
}

export function addSessionRoutes(router: ApiRouter, context: AppContext, publicUrl: PublicUrl): void {
  router.post(
    "/auth/logout",
    answer(context, async (ctx) => {
      await logOut(context, ctx.state.caller);
      clearSessionCookie(ctx, publicUrl);
    }),
  );
  router.post(
    "/auth/tickets",
    answer(context, (ctx) => createTicket(context, ctx.state.caller)),
  );
  router.get(
    "/users/:userId/sessions",
    answer(context, (ctx) => listSessions(context, ctx.state.caller, { userId: ctx.params["userId"]! })),
  );
  router.delete(
    "/users/:userId/sessions/:sessionId",
    answer(context, (ctx) =>
      endSession(context, ctx.state.caller, {
        userId: ctx.params["userId"]!,
        sessionId: asId<SessionId>(ctx.params["sessionId"]!),
      }),
    ),
  );
}
