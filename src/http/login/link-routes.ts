/** Routes that make one-time links. */
import { createResetLink, invite, inviteBody, resetLinkBody } from "../../app/identity/one-time-links.ts";
import type { PublicUrl } from "../../app/identity/request-proof.ts";
import type { AppContext } from "../../app/context.ts";
import { answer } from "../answer.ts";
import { parseBody } from "../parse.ts";
import type { ApiRouter } from "../state.ts";

export function addLinkRoutes(router: ApiRouter, context: AppContext, publicUrl: PublicUrl): void {
  router.post(
    "/invitations",
    answer(context, async (ctx) => invite(context, ctx.state.caller, await parseBody(ctx, inviteBody), publicUrl())),
  );
  router.post(
    "/users/:userId/reset-link",
    answer(context, async (ctx) => {
      const body = await parseBody(ctx, resetLinkBody);
      return createResetLink(context, ctx.state.caller, { ...body, userId: ctx.params["userId"]! }, publicUrl());
    }),
  );
}
