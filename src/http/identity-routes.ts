/** Routes of users, their tokens and their logins. */
import { setTimeout as sleep } from "node:timers/promises";
import type { AppContext } from "../app/context.ts";
import {
  createPersonalToken,
  createTokenBody,
  deletePersonalToken,
  listPersonalTokens,
  NewTokenShape,
  TokenShape,
} from "../app/identity/personal-tokens.ts";
import { LoginThrottle } from "../app/identity/login-throttle.ts";
import {
  changeUser,
  changeUserBody,
  deleteUser,
  endLogins,
  getUser,
  listRoles,
  RoleShape,
  setPassword,
  setPasswordBody,
  whoami,
  WhoamiShape,
} from "../app/identity/user-changes.ts";
import {
  createUser,
  createUserBody,
  listUsers,
  login,
  loginBody,
  LoginShape,
  UserShape,
} from "../app/identity/users.ts";
import { wholeListOf } from "../app/shapes.ts";
import { MillraceError } from "../domain/errors.ts";
import type { AddressOf } from "./caller-address.ts";
import { parseBody } from "./request/parse.ts";
import { addRoutes, routesFor } from "./route.ts";
import type { ApiRouter } from "./request/state.ts";

/** Refusals that wait to be sent. Each keeps a connection and a few kB. */
const MAX_HELD_REFUSALS = 5_000;

interface LoginOptions {
  readonly addressOf: AddressOf;
  readonly refuseAfterMs: number;
}

/** What a login works with. */
interface LoginEdge extends LoginOptions {
  readonly context: AppContext;
  readonly clock: AppContext["clock"];
  readonly throttle: LoginThrottle;
  /** How many refusals wait to be sent. */
  readonly held: { count: number };
}

const openRoute = routesFor<LoginEdge>("Users");

/**
 * The one route below `/api/v1` that needs no token. A refusal of too many logins is sent after `refuseAfterMs`: a caller
 * who waits for each answer then sends so few requests that the others do not notice them.
 */
export const LOGIN_ROUTES = [
  openRoute({
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
    async handle(edge, { ctx }) {
      const { context, throttle, addressOf, refuseAfterMs, held, clock } = edge;
      const address = addressOf(ctx.req);
      try {
        throttle.requireTry(address, clock.monotonic());
        return await login(context, await parseBody(ctx, loginBody), { throttle, address });
      } catch (error) {
        if (error instanceof MillraceError && error.reason === "too_many" && held.count < MAX_HELD_REFUSALS) {
          held.count++;
          await sleep(refuseAfterMs, undefined, { ref: false });
          held.count--;
        }
        throw error;
      }
    },
  }),
];

export function addLoginRoute(router: ApiRouter, context: AppContext, options: LoginOptions): void {
  const edge = { context, clock: context.clock, ...options, throttle: new LoginThrottle(), held: { count: 0 } };
  addRoutes(router, edge, LOGIN_ROUTES);
}

const route = routesFor<AppContext>("Users");

/** All of a user can be changed. */
const tagged = (user: unknown) => user;

export const IDENTITY_ROUTES = [
  route({
    method: "POST",
    path: "/users",
    name: "createUser",
    about: "Creates a user.",
    body: createUserBody,
    answer: UserShape,
    errors: ["already_exists"],
    handle: (context, { caller, body }) => createUser(context, caller, body),
  }),
  route({
    method: "GET",
    path: "/users",
    name: "listUsers",
    about: "Lists all users.",
    answer: wholeListOf(UserShape),
    handle: (context, { caller }) => listUsers(context, caller),
  }),
  route({
    method: "GET",
    path: "/users/:userId",
    name: "getUser",
    about: "Reads a user; `me` is the caller.",
    answer: UserShape,
    errors: ["not_found"],
    tagged,
    handle: (context, { caller, params }) => getUser(context, caller, params),
  }),
  route({
    method: "PATCH",
    path: "/users/:userId",
    name: "changeUser",
    about: "Changes the name of a user, the role, or whether the user is disabled.",
    body: changeUserBody,
    answer: UserShape,
    errors: ["not_found", "already_exists", "conflict"],
    tagged,
    changes: { read: (context, { caller, params }) => getUser(context, caller, params), tagged },
    handle: (context, { caller, params, body }) => changeUser(context, caller, { ...params, body }),
  }),
  route({
    method: "DELETE",
    path: "/users/:userId",
    name: "deleteUser",
    about: "Removes a user with all personal tokens.",
    answer: null,
    errors: ["not_found", "conflict"],
    handle: (context, { caller, params }) => deleteUser(context, caller, params),
  }),
  route({
    method: "PUT",
    path: "/users/:userId/password",
    name: "setPassword",
    about: "Sets a password, and ends every login of the user.",
    body: setPasswordBody,
    answer: null,
    errors: ["not_found", "conflict"],
    handle: (context, { caller, params, body }) => setPassword(context, caller, { ...params, body }),
  }),
  route({
    method: "DELETE",
    path: "/users/:userId/logins",
    name: "endLogins",
    about: "Ends every login of a user.",
    answer: null,
    errors: ["not_found"],
    handle: (context, { caller, params }) => endLogins(context, caller, params),
  }),
  route({
    method: "GET",
    path: "/whoami",
    name: "whoami",
    about: "Describes the caller, and what the caller may do.",
    answer: WhoamiShape,
    handle: (context, { caller }) => whoami(context, caller),
  }),
  route({
    method: "GET",
    path: "/roles",
    name: "listRoles",
    about: "Lists the roles, the most powerful first, with what each may do.",
    answer: wholeListOf(RoleShape),
    handle: (_, { caller }) => listRoles(caller),
  }),
  route({
    method: "POST",
    path: "/users/:userId/tokens",
    name: "createToken",
    about: "Makes a personal token, which only this answer shows.",
    body: createTokenBody,
    answer: NewTokenShape,
    errors: ["not_found"],
    handle: (context, { caller, params, body }) => createPersonalToken(context, caller, { ...body, ...params }),
  }),
  route({
    method: "GET",
    path: "/users/:userId/tokens",
    name: "listTokens",
    about: "Lists the personal tokens of a user.",
    answer: wholeListOf(TokenShape),
    errors: ["not_found"],
    handle: (context, { caller, params }) => listPersonalTokens(context, caller, params),
  }),
  route({
    method: "DELETE",
    path: "/users/:userId/tokens/:tokenId",
    name: "deleteToken",
    about: "Deletes a personal token, which is refused from the next call on.",
    answer: null,
    errors: ["not_found"],
    handle: (context, { caller, params }) => deletePersonalToken(context, caller, params),
  }),
];
