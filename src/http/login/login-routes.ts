/** Routes of logins, sessions, tickets and one-time links. */
import type { DevicePaces } from "../../app/identity/device-logins.ts";
import {
  endSession,
  listSessions,
  logOut,
  refresh,
  refreshBody,
  RenewedShape,
  SessionShape,
} from "../../app/identity/login-sessions.ts";
import type { LoginThrottle } from "../../app/identity/login-throttle.ts";
import { createResetLink, LinkShape, resetLinkBody } from "../../app/identity/one-time-links.ts";
import type { PublicUrl } from "../../app/identity/request-proof.ts";
import { createTicket, TicketShape } from "../../app/identity/tickets.ts";
import { setPassword, setPasswordBody } from "../../app/identity/user-changes.ts";
import { login, loginBody, LoginShape } from "../../app/identity/users.ts";
import type { AppContext } from "../../app/context.ts";
import { invite, inviteBody, renewInvitation, renewInvitationBody } from "../../app/rights/invitations.ts";
import { wholeListOf } from "../../app/shapes.ts";
import type { AddressOf } from "../request/caller-address.ts";
import { parseBody } from "../request/parse.ts";
import { routesFor } from "../route.ts";
import { DEVICE_ROUTES } from "./device-routes.ts";
import type { HeldRefusals } from "./held-refusals.ts";
import { recordingLogin } from "./login-trail.ts";
import { clearSessionCookie } from "./session-cookie.ts";

/** What logins work with. */
export interface LoginEdge {
  readonly context: AppContext;
  readonly clock: AppContext["clock"];
  readonly addressOf: AddressOf;
  readonly throttle: LoginThrottle;
  readonly refusals: HeldRefusals;
  readonly publicUrl: PublicUrl;
  readonly paces: DevicePaces;
}

const route = routesFor<LoginEdge>("Logins");

/** The routes below `/api/v1` that need no token. */
export const OPEN_LOGIN_ROUTES = [
  route({
    method: "POST",
    path: "/auth/login",
    name: "login",
    about: "Exchanges a name and a password for an access token.",
    body: loginBody,
    // The handler reads it: a refusal must not wait for the body.
    readBody: () => Promise.resolve(undefined as never),
    answer: LoginShape,
    errors: ["unauthenticated"],
    isOpen: true,
    handle: (edge, { ctx }) =>
      edge.refusals.run(async () => {
        const { context, throttle, clock } = edge;
        const address = edge.addressOf(ctx.req);
        throttle.requireTry(address, clock.monotonic());
        const body = await parseBody(ctx, loginBody);
        const place = { address, userAgent: ctx.get("user-agent") };
        return recordingLogin(edge, ctx, "login", (trail) => login(context, body, { throttle, ...place, trail }));
      }),
  }),
  route({
    method: "POST",
    path: "/auth/refresh",
    name: "refreshLogin",
    about: "Exchanges a refresh token for the next tokens of its session.",
    body: refreshBody,
    answer: RenewedShape,
    errors: ["unauthenticated"],
    isOpen: true,
    handle: (edge, { body, ctx }) =>
      recordingLogin(edge, ctx, "refreshLogin", (trail) => refresh(edge.context, body, trail)),
  }),
  ...DEVICE_ROUTES,
];

export const SESSION_ROUTES = [
  route({
    method: "POST",
    path: "/auth/logout",
    name: "logOut",
    about: "Ends the session of the caller.",
    answer: null,
    errors: ["conflict"],
    async handle({ context, publicUrl }, { caller, ctx }) {
      await logOut(context, caller);
      clearSessionCookie(ctx, publicUrl);
    },
  }),
  route({
    method: "POST",
    path: "/auth/tickets",
    // A ticket gives no more than the token with which it is made, for a minute.
    readsOnly: true,
    name: "createTicket",
    about: "Makes a ticket, which opens one WebSocket or one download in place of a token.",
    answer: TicketShape,
    handle: ({ context }, { caller }) => createTicket(context, caller),
  }),
  route({
    method: "GET",
    path: "/users/:userId/sessions",
    name: "listSessions",
    about: "Lists the live sessions of a user, oldest first.",
    answer: wholeListOf(SessionShape),
    errors: ["not_found"],
    handle: ({ context }, { caller, params }) => listSessions(context, caller, params),
  }),
  route({
    method: "DELETE",
    path: "/users/:userId/sessions/:sessionId",
    name: "endSession",
    about: "Ends a session, which is refused from the next call on.",
    answer: null,
    errors: ["not_found"],
    handle: ({ context }, { caller, params }) => endSession(context, caller, params),
  }),
  route({
    method: "PUT",
    path: "/users/:userId/password",
    name: "setPassword",
    about: "Sets a password, and ends every login of the user.",
    body: setPasswordBody,
    answer: null,
    errors: ["not_found", "too_many", "conflict"],
    handle({ context, addressOf, throttle }, { caller, params, body, ctx }) {
      return setPassword(context, caller, { ...params, body }, { throttle, address: addressOf(ctx.req) });
    },
  }),
  route({
    method: "POST",
    path: "/users/:userId/reset-link",
    name: "createResetLink",
    about: "Makes a link with which a user sets a new password once; only this answer shows it.",
    body: resetLinkBody,
    answer: LinkShape,
    errors: ["not_found", "conflict"],
    handle: ({ context, publicUrl }, { caller, params, body }) =>
      createResetLink(context, caller, { ...body, ...params }, publicUrl()),
  }),
  route({
    method: "POST",
    path: "/invitations",
    name: "invite",
    about:
      "Creates a user without a password, with roles in the installation, tenants and projects, and a link with which the user sets one; only this answer shows it.",
    body: inviteBody,
    answer: LinkShape,
    errors: ["already_exists", "request_id_reused", "conflict"],
    creates: true,
    handle: ({ context, publicUrl }, { caller, body, requestId }) =>
      invite(context, caller, { ...body, requestId }, publicUrl()),
  }),
  route({
    method: "POST",
    path: "/invitations/:user/link",
    name: "renewInvitation",
    about:
      "Makes a new link for a user, by id or name, who has not accepted the invitation; only this answer shows it.",
    body: renewInvitationBody,
    answer: LinkShape,
    errors: ["not_found", "conflict"],
    handle: ({ context, publicUrl }, { caller, params, body }) =>
      renewInvitation(context, caller, { ...body, ...params }, publicUrl()),
  }),
];
