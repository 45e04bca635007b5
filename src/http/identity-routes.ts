/** Routes of users, tokens and agents. */
import type { AppContext } from "../app/context.ts";
import { listAgents } from "../app/agents/inventory.ts";
import { setTrustedLabels, trustedLabelsBody } from "../app/agents/trusted-labels.ts";
import {
  createPersonalToken,
  createTokenBody,
  deletePersonalToken,
  listPersonalTokens,
} from "../app/identity/personal-tokens.ts";
import {
  createRegistrationToken,
  createRegistrationTokenBody,
  deleteRegistrationToken,
  listRegistrationTokens,
} from "../app/identity/registration-tokens.ts";
import type { LoginThrottle } from "../app/identity/login-throttle.ts";
import {
  changeUser,
  changeUserBody,
  deleteUser,
  endLogins,
  getUser,
  listRoles,
  setPassword,
  setPasswordBody,
  whoami,
} from "../app/identity/user-changes.ts";
import { createUser, createUserBody, listUsers, login, loginBody } from "../app/identity/users.ts";
import { type AgentId, asId, type TokenId } from "../domain/ids.ts";
import { answer } from "./answer.ts";
import type { AddressOf } from "./caller-address.ts";
import type { HeldRefusals } from "./login/held-refusals.ts";
import { parseBody } from "./parse.ts";
import type { ApiRouter, RouteContext } from "./state.ts";
import { deleteAgent, revokeAgentToken } from "../app/agents/agent-removal.ts";

export interface LoginRouteOptions {
  readonly addressOf: AddressOf;
  readonly throttle: LoginThrottle;
  readonly refusals: HeldRefusals;
}

/** The route of logins, which needs no token. */
export function addLoginRoute(
  router: ApiRouter,
  context: AppContext,
  { addressOf, throttle, refusals }: LoginRouteOptions,
): void {
  router.post(
    "/auth/login",
    answer(context, (ctx) =>
      refusals.run(async () => {
        const address = addressOf(ctx.req);
        throttle.requireTry(address, context.clock.monotonic());
        const userAgent = ctx.get("user-agent");
        return login(context, await parseBody(ctx, loginBody), { throttle, address, userAgent });
      }),
    ),
  );
}

export function addIdentityRoutes(
  router: ApiRouter,
  context: AppContext,
  { addressOf, throttle }: Pick<LoginRouteOptions, "addressOf" | "throttle">,
): void {
  router.post(
    "/users",
    answer(context, async (ctx) => createUser(context, ctx.state.caller, await parseBody(ctx, createUserBody))),
  );
  router.get(
    "/users",
    answer(context, (ctx) => listUsers(context, ctx.state.caller)),
  );
  const user = (ctx: RouteContext) => ({ userId: ctx.params["userId"]! });
  router.get(
    "/users/:userId",
    answer(context, (ctx) => getUser(context, ctx.state.caller, user(ctx))),
  );
  router.patch(
    "/users/:userId",
    answer(context, async (ctx) => {
      const body = await parseBody(ctx, changeUserBody);
      return changeUser(context, ctx.state.caller, { ...user(ctx), body });
    }),
  );
  router.delete(
    "/users/:userId",
    answer(context, (ctx) => deleteUser(context, ctx.state.caller, user(ctx))),
  );
  router.put(
    "/users/:userId/password",
    answer(context, async (ctx) => {
      const body = await parseBody(ctx, setPasswordBody);
      const origin = { throttle, address: addressOf(ctx.req) };
      return setPassword(context, ctx.state.caller, { ...user(ctx), body }, origin);
    }),
  );
  router.delete(
    "/users/:userId/logins",
    answer(context, (ctx) => endLogins(context, ctx.state.caller, user(ctx))),
  );
  router.get(
    "/whoami",
    answer(context, (ctx) => whoami(context, ctx.state.caller)),
  );
  router.get(
    "/roles",
    answer(context, (ctx) => Promise.resolve(listRoles(ctx.state.caller))),
  );
  router.post(
    "/users/:userId/tokens",
    answer(context, async (ctx) => {
      const body = await parseBody(ctx, createTokenBody);
      return createPersonalToken(context, ctx.state.caller, { ...body, userId: ctx.params["userId"]! });
    }),
  );
  router.get(
    "/users/:userId/tokens",
    answer(context, (ctx) => listPersonalTokens(context, ctx.state.caller, { userId: ctx.params["userId"]! })),
  );
  router.delete(
    "/users/:userId/tokens/:tokenId",
    answer(context, (ctx) =>
      deletePersonalToken(context, ctx.state.caller, {
        userId: ctx.params["userId"]!,
        tokenId: asId<TokenId>(ctx.params["tokenId"]!),
      }),
    ),
  );

  router.post(
    "/agents/registration-tokens",
    answer(context, async (ctx) =>
      createRegistrationToken(context, ctx.state.caller, await parseBody(ctx, createRegistrationTokenBody)),
    ),
  );
  router.get(
    "/agents/registration-tokens",
    answer(context, (ctx) => listRegistrationTokens(context, ctx.state.caller)),
  );
  router.delete(
    "/agents/registration-tokens/:tokenId",
    answer(context, (ctx) =>
      deleteRegistrationToken(context, ctx.state.caller, { tokenId: asId<TokenId>(ctx.params["tokenId"]!) }),
    ),
  );
  router.put(
    "/agents/:agentId/labels",
    answer(context, async (ctx) => {
      const body = await parseBody(ctx, trustedLabelsBody);
      return setTrustedLabels(context, ctx.state.caller, { ...body, agentId: asId<AgentId>(ctx.params["agentId"]!) });
    }),
  );
  router.delete(
    "/agents/:agentId/token",
    answer(context, (ctx) =>
      revokeAgentToken(context, ctx.state.caller, { agentId: asId<AgentId>(ctx.params["agentId"]!) }),
    ),
  );
  router.delete(
    "/agents/:agentId",
    answer(context, (ctx) =>
      deleteAgent(context, ctx.state.caller, { agentId: asId<AgentId>(ctx.params["agentId"]!) }),
    ),
  );
  router.get(
    "/agents",
    answer(context, (ctx) => listAgents(context, ctx.state.caller)),
  );
}
