/** Routes of users and their tokens. */
import { wholeListQuery } from "../../app/lists.ts";
import type { AppContext } from "../../app/context.ts";
import {
  createPersonalToken,
  createTokenBody,
  deletePersonalToken,
  listPersonalTokens,
  NewTokenShape,
  TokenShape,
} from "../../app/identity/personal-tokens.ts";
import {
  changeUser,
  changeUserBody,
  deleteUser,
  endLogins,
  getUser,
  listRoles,
  RoleShape,
  whoami,
  WhoamiShape,
} from "../../app/identity/user-changes.ts";
import { createUser, createUserBody, listUsers, UserShape } from "../../app/identity/users.ts";
import { wholeListOf, wholeOrPageOf } from "../../app/shapes.ts";
import { routesFor } from "../route.ts";

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
    errors: ["already_exists", "request_id_reused", "conflict"],
    creates: true,
    handle: (context, { caller, body, requestId }) => createUser(context, caller, { ...body, requestId }),
  }),
  route({
    method: "GET",
    path: "/users",
    name: "listUsers",
    about: "Lists all users.",
    query: wholeListQuery,
    answer: wholeOrPageOf(UserShape),
    handle: (context, { caller, query }) => listUsers(context, caller, query),
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
    about: "Changes the name of a user, the role, the e-mail address, or whether the user is disabled.",
    body: changeUserBody,
    answer: UserShape,
    errors: ["not_found", "already_exists", "conflict"],
    tagged,
    changes: { tagged },
    handle: (context, { caller, params, body, match }) => changeUser(context, caller, { ...params, body, match }),
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
    errors: ["not_found", "already_exists", "request_id_reused", "conflict"],
    creates: true,
    handle: (context, { caller, params, body, requestId }) =>
      createPersonalToken(context, caller, { ...body, ...params, requestId }),
  }),
  route({
    method: "GET",
    path: "/users/:userId/tokens",
    name: "listTokens",
    about: "Lists the personal tokens of a user.",
    query: wholeListQuery,
    answer: wholeOrPageOf(TokenShape),
    errors: ["not_found"],
    handle: (context, { caller, params, query }) => listPersonalTokens(context, caller, { ...params, ...query }),
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
