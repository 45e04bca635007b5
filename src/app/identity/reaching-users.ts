/** Which users a caller reaches: the caller's own user, and, with the right operation, those with no higher role. */
import { MillraceError } from "../../domain/errors.ts";
import { asId, type UserId } from "../../domain/ids.ts";
import { highestRole, type Role, roleReaches } from "../../domain/roles.ts";
import type { FoundUser, User } from "../../stores/ports/identity.ts";
import type { WithStores } from "../context.ts";
import { authoriseUser, type Caller, type UserCaller } from "./access.ts";
import type { OperationOf } from "./operations.ts";
import type { IdentityContext } from "./context.ts";

/** The word for the caller in place of a user id. */
export const OWN = "me";

/** For what users do with their own account, and administrators with those of others. */
export const OWN_OR_MANAGED = { own: "manageOwnAccount", others: "manageUsers" } as const;

export interface Reached {
  readonly caller: UserCaller;
  readonly user: FoundUser;
  readonly isOwn: boolean;
}

/**
 * The user of that id, or the caller's for {@link OWN}. `operations`: what the caller must be allowed to do. Throws
 * `not_found`; and `forbidden`, also for a user whose role is above the caller's own.
 */
export async function reachUser(
  context: IdentityContext,
  caller: Caller,
  userId: string,
  operations: { readonly own: OperationOf<"own" | "installation">; readonly others: OperationOf<"installation"> },
): Promise<Reached> {
  const own = authoriseUser(caller, operations.own);
  const isOwn = userId === OWN || userId === own.userId;
  if (!isOwn) authoriseUser(caller, operations.others);
  const user = await requireUser(context, isOwn ? own.userId : asId<UserId>(userId));
  const highest = highestRoleOf(user);
  if (!isOwn && highest !== null && !roleReaches(own.role, highest)) {
    throw new MillraceError("forbidden", `${user.name} has the role ${highest}, above your own, ${own.role}`);
  }
  return { caller: own, user, isOwn };
}

/** The highest role that the user has anywhere; null without one. */
export function highestRoleOf({ role, bindings = [] }: FoundUser): Role | null {
  return highestRole(role, ...bindings.map((binding) => binding.role));
}

/** Throws `conflict` for a service account, which logs in nowhere. */
export function requirePerson({ name, ownedBy }: FoundUser): void {
  if (ownedBy === undefined) return;
  throw new MillraceError("conflict", `${name} is a service account, which does not log in: give it a token`);
}

/** Throws `forbidden` for a role above the caller's own, which no caller may give. */
export function requireRole(caller: UserCaller, role: Role | null): void {
  if (role !== null && !roleReaches(caller.role, role)) {
    throw new MillraceError("forbidden", `the role ${role} is above your own, ${caller.role}`);
  }
}

/** Throws `not_found`. */
export async function requireUser(context: IdentityContext, userId: UserId): Promise<FoundUser> {
  const user = await context.stores.identity.findUser(userId);
  if (user === undefined) throw noUser(userId);
  return user;
}

/** The user whom an id or a name means. Throws `not_found`. */
export async function requireUserNamed({ stores }: WithStores<"identity">, idOrName: string): Promise<User> {
  const userId = asId<UserId>(idOrName);
  const user = (await stores.identity.findUser(userId)) ?? (await stores.identity.findUserByName(idOrName));
  if (user === undefined) throw noUser(userId);
  return user;
}

export function noUser(userId: UserId): MillraceError {
  return new MillraceError("not_found", `there is no user ${JSON.stringify(userId)}`);
}
