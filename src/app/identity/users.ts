/** Users: administrators make them; they log in with name and password. */
import type { ListPlace } from "../../stores/ports/pages.ts";
import { type WholeListRequest, type WholeListView, wholeListView } from "../lists.ts";
import { z } from "zod";
import type { Recordable } from "../../audit/entry.ts";
import { recorded } from "../../audit/trail.ts";
import { MillraceError } from "../../domain/errors.ts";
import { newId, type UserId } from "../../domain/ids.ts";
import type { User } from "../../stores/ports/identity.ts";
import { type Area, ROLES } from "../../domain/roles.ts";
import { authoriseUser, type Caller, type UserCaller } from "./access.ts";
import type { IdentityContext } from "./context.ts";
import { accessOf, beginSession, type LoginPlace } from "./login-sessions.ts";
import type { LoginThrottle } from "./login-throttle.ts";
import { hashPassword, verifyPassword } from "./passwords.ts";
import { requireRole } from "./reaching-users.ts";
import { refreshTokenOf } from "./session-secrets.ts";
import { createOnce, standInFor, type WithRequestId } from "../request-ids.ts";
import { AreaShape, id, shape, time, wholeNumber } from "../shapes.ts";
import { rfc3339 } from "../times.ts";

// The bound keeps the cost of a login the same whatever the client sends.
export const password = z.string().min(12, "must have at least 12 characters").max(1_000);

export const userName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._@-]{0,127}$/, "must have 1 to 128 letters, digits, ., _, @ or -");

/** It counts as the user's own: who verifies it at a provider becomes this user. */
export const userEmail = z.email("must be an e-mail address").max(254).toLowerCase();

export const createUserBody = z.strictObject({
  name: userName,
  /** In the whole installation; null for a user who gets roles in tenants and projects only. */
  role: z.enum(ROLES).nullable(),
  email: userEmail.optional(),
  password: password.optional(),
});
export const loginBody = z.strictObject({
  name: z.string().max(200),
  password: z.string().max(1_000),
  /** True for an answer with a refresh token. */
  refresh: z.boolean().default(false),
});

export const UserShape = shape("User", () => ({
  userId: id<UserId>(),
  name: z.string(),
  /** In the whole installation. */
  role: z.enum(ROLES).nullable(),
  hasPassword: z.boolean(),
  disabled: z.boolean(),
  createdAt: time,
  /** Absent without one. */
  email: z.string().exactOptional(),
  /** The tenant or project of a service account; absent for a person. */
  ownedBy: AreaShape.exactOptional(),
}));

export const LoginShape = shape("Login", () => ({
  accessToken: z.string(),
  /** Seconds. */
  expiresIn: wholeNumber,
  user: UserShape,
  /** Only when it was asked for. */
  refreshToken: z.string().exactOptional(),
}));

export type UserView = z.infer<typeof UserShape>;
type LoginView = z.infer<typeof LoginShape>;

/** Throws `forbidden` for a role above the caller's own, and `already_exists` for a name that is taken. */
export async function createUser(
  context: IdentityContext,
  caller: Caller,
  { requestId, ...input }: z.output<typeof createUserBody> & WithRequestId,
): Promise<UserView> {
  const maker = authoriseUser(caller, "manageUsers");
  requireRole(maker, input.role);
  const secret = input.password === undefined ? {} : { password: standInFor(context, input.password) };
  return createOnce(context, {
    caller: maker,
    scope: "createUser",
    requestId,
    body: { ...input, ...secret },
    freshId: () => newId("usr"),
    find: async (userId) => {
      const found = await context.stores.identity.findUser(userId);
      return found && userView(found);
    },
    create: (userId) => makeUser(context, maker, userId, input),
  });
}

/** What the audit log says of a new user besides the user's own fields. */
export interface UserRecord {
  /** Where the user counts; null for the installation. */
  readonly area: Area | null;
  readonly after: Recordable;
}

/** Makes a user for a caller who was authorised already. Throws `already_exists` for a name that is taken. */
export async function makeUser(
  context: IdentityContext,
  maker: UserCaller,
  userId: UserId,
  input: z.output<typeof createUserBody>,
  { area, after: more }: UserRecord = { area: null, after: {} },
): Promise<UserView> {
  const user: User = {
    userId,
    name: input.name,
    role: input.role,
    passwordHash: input.password === undefined ? "" : await hashPassword(input.password),
    createdAt: context.clock.now(),
    disabled: false,
    ...(input.email === undefined ? {} : { email: input.email }),
  };
  const after = { ...userView(user), ...more };
  await recorded(maker, { kind: "user", id: user.userId, name: user.name, area, after }, async () => {
    if ((await context.stores.identity.createUser(user)) === "nameTaken") {
      throw new MillraceError("already_exists", `there is a user named ${input.name} already`);
    }
  });
  return userView(user);
}

export async function listUsers(
  context: IdentityContext,
  caller: Caller,
  request: WholeListRequest = {},
): Promise<WholeListView<UserView>> {
  authoriseUser(caller, "manageUsers");
  const list = (await context.stores.identity.listUsers()).map(userView);
  return wholeListView(list, request, userPlace);
}

/** Users are listed in the order of their creation. */
export function userPlace({ createdAt, userId }: UserView): ListPlace {
  return { at: createdAt, id: userId };
}

/** Where logins come from, and how often each has tried. */
export interface LoginOrigin extends LoginPlace {
  readonly throttle: LoginThrottle;
}

/**
 * Answers an access token. Throws `unauthenticated` without saying whether name or password is wrong, and `too_many` for
 * an address or a name with too many wrong logins and while too many logins wait.
 */
export async function login(
  context: IdentityContext,
  input: z.output<typeof loginBody>,
  origin: LoginOrigin,
): Promise<LoginView> {
  const user = await provePassword(context, input, origin);
  const { address, userAgent, trail } = origin;
  const place = { address, userAgent, trail };
  const session = await beginSession(context, user, { kind: "api", isRenewed: input.refresh, ...place });
  const { sessionId, generation } = session;
  return {
    ...(await accessOf(context, session)),
    user: userView(user),
    ...(input.refresh ? { refreshToken: refreshTokenOf(context, sessionId, generation) } : {}),
  };
}

/** The user whom name and password prove. Throws as {@link login} does. */
export async function provePassword(
  context: IdentityContext,
  input: Pick<z.output<typeof loginBody>, "name" | "password">,
  { throttle, address, trail }: Pick<LoginOrigin, "throttle" | "address" | "trail">,
): Promise<User> {
  const attempt = throttle.take(address, input.name, context.clock.monotonic());
  try {
    const user = await compare(context, input, trail);
    attempt.giveBack();
    return user;
  } catch (error) {
    if (!(error instanceof MillraceError && error.reason === "unauthenticated")) attempt.giveNameBack();
    throw error;
  }
}

async function compare(
  context: IdentityContext,
  input: Pick<z.output<typeof loginBody>, "name" | "password">,
  trail: LoginPlace["trail"],
): Promise<User> {
  const user = await context.stores.identity.findUserByName(input.name);
  // A name that no user has may be a password in the wrong field.
  if (user !== undefined) trail?.names({ kind: "user", id: user.userId, name: user.name });
  const known = user !== undefined && !user.disabled && user.passwordHash !== "";
  // Verifying a decoy hash takes as long for an unknown name, so that the time of an answer does not tell which names
  // exist.
  const isRight = await verifyPassword(known ? user.passwordHash : await decoyHash(), input.password);
  if (!known || !isRight) throw new MillraceError("unauthenticated", "the name or the password is wrong");
  return user;
}

let decoy: Promise<string> | undefined;
function decoyHash(): Promise<string> {
  decoy ??= hashPassword("the password of no user").catch((error: unknown) => {
    decoy = undefined;
    throw error;
  });
  return decoy;
}

export function userView(user: User): UserView {
  const { userId, name, role, passwordHash, disabled, createdAt, email, ownedBy } = user;
  return {
    userId,
    name,
    role,
    hasPassword: passwordHash !== "",
    disabled,
    createdAt: rfc3339(createdAt),
    ...(email === undefined ? {} : { email }),
    ...(ownedBy === undefined ? {} : { ownedBy }),
  };
}
