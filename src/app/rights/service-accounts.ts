/**
 * Service accounts: users for programs, without password and login. A tenant or a project owns them, and its
 * administrators make them, give them roles as to any member, and make their tokens.
 */
import { type WholeListRequest, type WholeListView, wholeListView } from "../lists.ts";
import { z } from "zod";
import { recorded } from "../../audit/trail.ts";
import { MillraceError } from "../../domain/errors.ts";
import { newId, type TokenId, type UserId } from "../../domain/ids.ts";
import { type Area, isSameArea } from "../../domain/roles.ts";
import { ownerOf } from "../../stores/ports/documents.ts";
import type { FoundUser, User } from "../../stores/ports/identity.ts";
import { ACT_AS, type ActingUser, type Caller } from "../identity/access.ts";
import {
  createTokenBody,
  dropPersonalToken,
  issuePersonalToken,
  type NewTokenView,
  personalTokensOf,
  type TokenList,
} from "../identity/personal-tokens.ts";
import { noUser } from "../identity/reaching-users.ts";
import { userName, type UserView, userView, userPlace } from "../identity/users.ts";
import { reachArea, requireRoles } from "./areas.ts";
import { createOnce, type WithRequestId } from "../request-ids.ts";
import type { RightsUseContext } from "./context.ts";

export const serviceAccountBody = z.strictObject({ name: userName });
export const serviceTokenBody = createTokenBody;

const MANAGE = { tenant: "manageTenantMembers", project: "manageProjectMembers" } as const;

interface AtAccount {
  readonly area: Area;
  readonly userId: UserId;
}

/** The account has no role yet: it gets roles as a member. Throws `not_found`, and `already_exists` for a taken name. */
export async function createServiceAccount(
  context: RightsUseContext,
  caller: Caller,
  { area, name, requestId }: z.output<typeof serviceAccountBody> & WithRequestId & { readonly area: Area },
): Promise<UserView> {
  const { user } = await reachArea(context, caller, area, MANAGE);
  return createOnce(context, {
    caller: user,
    scope: `createServiceAccount/${ownerOf(area)}`,
    requestId,
    body: { name },
    freshId: () => newId("usr"),
    find: async (userId) => {
      const found = await context.stores.identity.findUser(userId);
      return found && userView(found);
    },
    create: (userId) => makeServiceAccount(context, user, { area, name, userId }),
  });
}

async function makeServiceAccount(
  context: RightsUseContext,
  user: ActingUser,
  { area, name, userId }: AtAccount & { readonly name: string },
): Promise<UserView> {
  const account: User = {
    userId,
    name,
    role: null,
    passwordHash: "",
    createdAt: context.clock.now(),
    disabled: false,
    ownedBy: area,
  };
  await recorded(user, { kind: "serviceAccount", id: account.userId, name, area, after: { name } }, async () => {
    if ((await context.stores.identity.createUser(account)) === "nameTaken") {
      throw new MillraceError("already_exists", `there is a user named ${name} already`);
    }
  });
  context.log.info(
    { account: account.userId, ...area, by: user.name, userId: user.userId },
    "a service account was made",
  );
  return userView(account);
}

/** Oldest first. Throws `not_found` for an unknown area. */
export async function listServiceAccounts(
  context: RightsUseContext,
  caller: Caller,
  { area, ...request }: { readonly area: Area } & WholeListRequest,
): Promise<WholeListView<UserView>> {
  await reachArea(context, caller, area, MANAGE);
  const list = (await context.stores.identity.listOwnedBy(area)).map(userView);
  return wholeListView(list, request, userPlace);
}

/** Deletes an account with its tokens and roles. What it did keeps its name. Throws `not_found`. */
export async function deleteServiceAccount(context: RightsUseContext, caller: Caller, at: AtAccount): Promise<void> {
  const { user, account } = await reachAccount(context, caller, at);
  const { userId, name } = account;
  await recorded(user, { kind: "serviceAccount", id: userId, name, area: at.area, before: { name } }, () =>
    context.stores.identity.deleteUser(userId),
  );
  context.log.info({ account: at.userId, by: user.name, userId: user.userId }, "a service account was deleted");
}

/**
 * The answer is the only one that shows the token. Throws `not_found`, and `forbidden` when a role of the account is
 * above the caller's own, and for the scope `act-as`, which only administrators of the installation give.
 */
export async function createServiceToken(
  context: RightsUseContext,
  caller: Caller,
  { body, ...at }: AtAccount & { readonly body: z.output<typeof serviceTokenBody> & WithRequestId },
): Promise<NewTokenView> {
  const { user, account } = await reachAccount(context, caller, at);
  if (body.scopes.includes(ACT_AS)) {
    throw new MillraceError(
      "forbidden",
      `only administrators of the installation make tokens with the scope ${ACT_AS}`,
    );
  }
  return issuePersonalToken(context, user, account, body);
}

/** Throws `not_found`. */
export async function listServiceTokens(
  context: RightsUseContext,
  caller: Caller,
  at: AtAccount,
  request: WholeListRequest = {},
): Promise<TokenList> {
  const { account } = await reachAccount(context, caller, at);
  return personalTokensOf(context, account.userId, request);
}

/** The token is refused from the next call on. Throws `not_found`. */
export async function deleteServiceToken(
  context: RightsUseContext,
  caller: Caller,
  { tokenId, ...at }: AtAccount & { readonly tokenId: TokenId },
): Promise<void> {
  const { user, account } = await reachAccount(context, caller, at);
  if (!(await dropPersonalToken(context, user, account, tokenId))) {
    throw new MillraceError("not_found", `the account has no token ${JSON.stringify(tokenId)}`);
  }
}

/** An account that the area owns. It has no role above the caller's own. */
async function reachAccount(
  context: RightsUseContext,
  caller: Caller,
  { area, userId }: AtAccount,
): Promise<{ readonly user: ActingUser; readonly account: FoundUser }> {
  const { user } = await reachArea(context, caller, area, MANAGE);
  const account = await context.stores.identity.findUser(userId);
  if (account?.ownedBy === undefined || !isSameArea(account.ownedBy, area)) throw noUser(userId);
  if (account.role !== null) {
    throw new MillraceError(
      "forbidden",
      `${account.name} has a role in the installation: its administrators manage it`,
    );
  }
  await requireRoles(context, user, account.bindings ?? []);
  return { user, account };
}
