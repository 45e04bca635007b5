/** Changes of users: by administrators, and of one's own password and logins. */
import { z } from "zod";
import { recorded } from "../../audit/trail.ts";
import { MillraceError } from "../../domain/errors.ts";
import { asId, type UserId } from "../../domain/ids.ts";
import { NO_RIGHTS, ROLES } from "../../domain/roles.ts";
import type { Expected } from "../../stores/ports/expected.ts";
import type { User, UserChange } from "../../stores/ports/identity.ts";
import { changeUnmoved, MOVED, type WithPrecondition } from "../preconditions.ts";
import { AreaShape, fields, listOf, shape } from "../shapes.ts";
import {
  authoriseUser,
  type Caller,
  isRefusedToNarrowed,
  OPERATIONS,
  operationsOf,
  type UserCaller,
} from "./access.ts";
import { operationsIn } from "./operations.ts";
import type { WithStores } from "../context.ts";
import type { IdentityContext } from "./context.ts";
import { hashPassword, verifyPassword } from "./passwords.ts";
import { dropLinks } from "./one-time-links.ts";
import { noUser, OWN, OWN_OR_MANAGED, reachUser, requirePerson, requireRole, requireUser } from "./reaching-users.ts";
import { type LoginOrigin, password, userEmail, userName, UserShape, type UserView, userView } from "./users.ts";

export const changeUserBody = z
  .strictObject({
    name: userName.optional(),
    role: z.enum(ROLES).nullable().optional(),
    disabled: z.boolean().optional(),
    email: userEmail.optional(),
  })
  .refine((body) => Object.keys(body).length > 0, "must name at least one of name, role, disabled and email");
/** `currentPassword` is needed by users who change their own password and have one. */
export const setPasswordBody = z.strictObject({ password, currentPassword: z.string().max(1_000).optional() });

const MANAGED = { own: "manageUsers", others: "manageUsers" } as const;

export const WhoamiShape = shape("Whoami", () => ({
  user: UserShape,
  /** Those of the token; empty for a token that is not narrowed, and after a login. */
  scopes: listOf(z.string()),
  /** What the role in the installation and the token permit everywhere. */
  operations: listOf(z.enum(OPERATIONS)),
  /** Roles in tenants and projects, directly and through teams, the highest of each. */
  bound: listOf(fields(() => ({ area: AreaShape, role: z.enum(ROLES), operations: listOf(z.enum(OPERATIONS)) }))),
}));

export const RoleShape = shape("Role", () => ({
  role: z.enum(ROLES),
  operations: listOf(z.enum(OPERATIONS)),
}));

type WhoamiView = z.infer<typeof WhoamiShape>;
type RoleView = z.infer<typeof RoleShape>;

/** The caller, and what the caller may do. */
export async function whoami(context: IdentityContext, caller: Caller): Promise<WhoamiView> {
  const user = authoriseUser(caller, "readOwnAccount");
  const stored = await requireUser(context, user.userId);
  const operations = operationsOf(user).filter((one) => !isRefusedToNarrowed(user, one));
  return { user: userView(stored), scopes: user.scopes, operations, bound: boundTo(user) };
}

function boundTo({ rights = NO_RIGHTS, scopes }: UserCaller): WhoamiView["bound"] {
  const tenants = [...rights.tenants].map(([tenantId, role]) => ({ area: { tenantId }, role }));
  const projects = [...rights.projects].map(([projectId, role]) => ({ area: { projectId }, role }));
  return [
    ...tenants.map((one) => ({ ...one, operations: operationsIn(["tenant", "project"], { ...one, scopes }) })),
    ...projects.map((one) => ({ ...one, operations: operationsIn(["project"], { ...one, scopes }) })),
  ];
}

/** The roles, the most powerful first, with what each may do. */
export function listRoles(caller: Caller): { readonly list: readonly RoleView[]; readonly total: number } {
  authoriseUser(caller, "readOwnAccount");
  const list = ROLES.map((role) => ({ role, operations: operationsOf({ role, scopes: [] }) }));
  return { list, total: list.length };
}

/** Throws `not_found`; and `forbidden` when the caller is no administrator and asks for another user. */
export async function getUser(
  context: IdentityContext,
  caller: Caller,
  input: { readonly userId: string },
): Promise<UserView> {
  const own = authoriseUser(caller, "readOwnAccount");
  const userId = input.userId === OWN ? own.userId : asId<UserId>(input.userId);
  if (userId !== own.userId) authoriseUser(caller, "manageUsers");
  return userView(await requireUser(context, userId));
}

/**
 * Changes a user's name, role, or whether the user is disabled. A disabled user's tokens and logins are refused from
 * the next call on, and work again when the user is enabled. Throws `not_found`; `forbidden` when the user's role, now
 * or afterwards, is above the caller's own; `already_exists` for a name that is taken; `conflict` for the last owner.
 */
export async function changeUser(
  context: IdentityContext,
  caller: Caller,
  input: { readonly userId: string; readonly body: z.output<typeof changeUserBody> } & WithPrecondition<UserView>,
): Promise<UserView> {
  return changeUnmoved(() => tryToChange(context, caller, input));
}

async function tryToChange(
  context: IdentityContext,
  caller: Caller,
  { userId, body, match }: Parameters<typeof changeUser>[2],
): Promise<UserView | typeof MOVED> {
  const { user, caller: maker } = await reachUser(context, caller, userId, MANAGED);
  match?.(userView(user));
  const { name, role, disabled, email } = body;
  if (role !== undefined) requireRole(maker, role);
  // A provider that proves the address would log in as the user.
  if (email) requirePerson(user);
  const change = {
    ...(name && { name }),
    ...(role !== undefined && { role }),
    ...(disabled !== undefined && { disabled }),
    ...(email && { email }),
  };
  const seen = { name: user.name, role: user.role, disabled: user.disabled, email: user.email };
  const view = await applyChange(context, maker, user, change, match && seen);
  if (view === MOVED) return MOVED;
  // A link of before the change was made for a user whom its maker reached then.
  if (role !== undefined) await dropLinks(context, user.userId);
  return view;
}

/**
 * Removes a user with all personal tokens. What the user did keeps the user's name. Throws `not_found`; `forbidden` for
 * a role above the caller's own; `conflict` for the last owner.
 */
export async function deleteUser(
  context: IdentityContext & WithStores<"documents">,
  caller: Caller,
  input: { readonly userId: string },
): Promise<void> {
  const { user, caller: remover } = await reachUser(context, caller, input.userId, MANAGED);
  const { userId, name } = user;
  await recorded(remover, { kind: "user", id: userId, name, before: userView(user) }, async () => {
    const outcome = await context.stores.identity.deleteUser(userId);
    if (outcome === "missing") throw noUser(userId);
    if (outcome === "lastOwner") throw lastOwner(user);
  });
  // The choices of a user who is gone reach no reader.
  await context.stores.documents.deleteOf(`user/${userId}`);
}

/**
 * Sets a password: one's own, or, by an administrator, that of a user with no higher role. Every login of the user ends;
 * personal tokens stay. Throws `forbidden` when the current password is missing or wrong, and `too_many` as a login does.
 */
export async function setPassword(
  context: IdentityContext,
  caller: Caller,
  input: { readonly userId: string; readonly body: z.output<typeof setPasswordBody> },
  origin: Pick<LoginOrigin, "throttle" | "address">,
): Promise<void> {
  const { user, isOwn, caller: changer } = await reachUser(context, caller, input.userId, OWN_OR_MANAGED);
  requirePerson(user);
  if (isOwn && user.passwordHash !== "") {
    const { currentPassword } = input.body;
    const isRight = currentPassword !== undefined && (await isPassword(context, user, currentPassword, origin));
    if (!isRight) throw new MillraceError("forbidden", "currentPassword is missing or wrong");
  }
  const passwordHash = await hashPassword(input.body.password);
  await applyChange(context, changer, user, { passwordHash, loginsFrom: context.clock.now() });
  await dropLinks(context, user.userId);
  await context.stores.logins.endSessionsOf(user.userId);
}

/** Compares a password of the caller. A wrong one counts as a wrong login: a stolen token must not serve to guess it. */
async function isPassword(
  context: IdentityContext,
  { name, passwordHash }: User,
  guess: string,
  { throttle, address }: Pick<LoginOrigin, "throttle" | "address">,
): Promise<boolean> {
  const attempt = throttle.take(address, name, context.clock.monotonic());
  try {
    const isRight = await verifyPassword(passwordHash, guess);
    if (isRight) attempt.giveBack();
    return isRight;
  } catch (error) {
    attempt.giveNameBack();
    throw error;
  }
}

/** Ends every login of a user, one's own or, by an administrator, that of a user with no higher role. */
export async function endLogins(
  context: IdentityContext,
  caller: Caller,
  input: { readonly userId: string },
): Promise<void> {
  const { user, caller: changer } = await reachUser(context, caller, input.userId, OWN_OR_MANAGED);
  // Sessions of before this moment count no more, even if the process ends before they are removed.
  await applyChange(context, changer, user, { loginsFrom: context.clock.now() });
  await context.stores.logins.endSessionsOf(user.userId);
}

async function applyChange(
  context: IdentityContext,
  changer: UserCaller,
  user: User,
  change: UserChange,
  expected?: Expected<User>,
): Promise<UserView | typeof MOVED> {
  const { userId, name } = user;
  const [before, after] = [userView(user), userView({ ...user, ...change })];
  const isChanged = await recorded(changer, { kind: "user", id: userId, name, before, after }, async () => {
    switch (await context.stores.identity.changeUser(userId, change, expected)) {
      case "missing":
        throw noUser(userId);
      case "nameTaken":
        throw new MillraceError("already_exists", `there is a user named ${change.name} already`);
      case "lastOwner":
        throw lastOwner(user);
      case "moved":
        return false;
      case "changed":
        return true;
    }
  });
  return isChanged ? after : MOVED;
}

function lastOwner({ name }: User): MillraceError {
  return new MillraceError("conflict", `${name} is the last owner: make another user an owner first`);
}
