/** Sessions of logins: begun, renewed with refresh tokens, listed and ended. */
import { z } from "zod";
import { recorded, type Trail } from "../../audit/trail.ts";
import { MillraceError } from "../../domain/errors.ts";
import { newId, type SessionId, type UserId } from "../../domain/ids.ts";
import type { User } from "../../stores/ports/identity.ts";
import { type LoginSession, SESSION_KINDS } from "../../stores/ports/logins.ts";
import { id, shape, time, wholeNumber } from "../shapes.ts";
import { rfc3339 } from "../times.ts";
import { ACCESS_TOKEN_SECONDS, signAccessToken } from "./access-tokens.ts";
import { authoriseUser, type Caller } from "./access.ts";
import type { IdentityContext } from "./context.ts";
import { OWN_OR_MANAGED, reachUser } from "./reaching-users.ts";
import { expiryOf, isLive } from "./session-proof.ts";
import { readRefreshToken, refreshTokenOf } from "./session-secrets.ts";

/** For this long a spent refresh token is answered with the same successor: the first answer may have been lost. */
const GRACE_MS = 10_000;
const MAX_USER_AGENT = 200;

export const refreshBody = z.strictObject({ refreshToken: z.string().max(1_000) });

/** Where a login comes from. */
export interface LoginPlace {
  readonly address: string;
  readonly userAgent: string;
  /** What the login leaves in the audit log. */
  readonly trail?: Trail | undefined;
}

interface AccessView {
  readonly accessToken: string;
  /** Seconds. */
  readonly expiresIn: number;
}

export const RenewedShape = shape("RenewedLogin", () => ({
  accessToken: z.string(),
  /** Seconds. */
  expiresIn: wholeNumber,
  refreshToken: z.string(),
  userId: id<UserId>(),
}));

export const SessionShape = shape("Session", () => ({
  sessionId: id<SessionId>(),
  kind: z.enum(SESSION_KINDS),
  createdAt: time,
  lastUsedAt: time,
  expiresAt: time,
  address: z.string(),
  userAgent: z.string(),
  /** True for the session of the caller. */
  current: z.boolean(),
}));

type RenewedView = z.infer<typeof RenewedShape>;
type SessionView = z.infer<typeof SessionShape>;

/** Begins a session. One that is not `renewed` ends with its access token, except for what that token has opened. */
export async function beginSession(
  context: IdentityContext,
  { userId, name }: Pick<User, "userId" | "name">,
  {
    kind,
    isRenewed,
    address,
    userAgent,
    trail,
    token,
  }: LoginPlace & Pick<LoginSession, "kind" | "token"> & { readonly isRenewed: boolean },
): Promise<LoginSession> {
  const now = context.clock.now();
  const behind = token === undefined ? {} : { token };
  const session: LoginSession = {
    sessionId: newId("ses"),
    userId,
    kind,
    createdAt: now,
    lastUsedAt: now,
    expiresAt: isRenewed ? expiryOf({ kind, createdAt: now, ...behind }, now) : now + ACCESS_TOKEN_SECONDS * 1_000,
    address,
    userAgent: boundedAgent(userAgent),
    generation: 0,
    rotatedAt: now,
    ...behind,
  };
  const { sessionId } = session;
  trail?.proved({ kind: "user", id: userId, name, proof: sessionId });
  await recorded(
    { trail },
    { kind: "session", id: sessionId, name, after: { kind, ...(token && { token: token.tokenId }) } },
    () => context.stores.logins.createSession(session),
  );
  return session;
}

export async function accessOf(
  context: IdentityContext,
  { userId, sessionId }: Pick<LoginSession, "userId" | "sessionId">,
): Promise<AccessView> {
  const accessToken = await signAccessToken(context, userId, { session: sessionId });
  return { accessToken, expiresIn: ACCESS_TOKEN_SECONDS };
}

/**
 * The next tokens of a session. A repeat within {@link GRACE_MS} has the same refresh token. A later one ends the session,
 * because the token is in two hands. Throws `unauthenticated`.
 */
export async function refresh(
  context: IdentityContext,
  { refreshToken }: z.output<typeof refreshBody>,
  trail?: Trail,
): Promise<RenewedView> {
  const named = readRefreshToken(context, refreshToken);
  if (named === undefined) throw new MillraceError("unauthenticated", "the refresh token is wrong: log in again");
  const { sessionId, generation } = named;
  for (;;) {
    const session = await requireRenewable(context, sessionId);
    const now = context.clock.now();
    const next = session.generation + (generation === session.generation ? 1 : 0);
    if (generation === session.generation) {
      const use = { at: now, expiresAt: expiryOf(session, now) };
      // Another call has renewed the session since it was read, or ended it.
      if (!(await context.stores.logins.rotateSession(sessionId, generation, use))) continue;
    } else if (generation > session.generation) {
      throw new MillraceError("unauthenticated", "the refresh token is newer than its session: log in again");
    } else if (generation < session.generation - 1 || now - session.rotatedAt > GRACE_MS) {
      await recorded({ trail }, { kind: "session", id: sessionId, before: { kind: session.kind } }, () =>
        context.stores.logins.endSession(sessionId),
      );
      throw new MillraceError(
        "unauthenticated",
        "the refresh token was used before, so its login was ended: log in again",
      );
    }
    const { userId } = session;
    return { ...(await accessOf(context, session)), refreshToken: refreshTokenOf(context, sessionId, next), userId };
  }
}

async function requireRenewable(context: IdentityContext, sessionId: SessionId): Promise<LoginSession> {
  const session = await context.stores.logins.findSession(sessionId);
  const user = session && (await context.stores.identity.findUser(session.userId));
  if (session === undefined || user === undefined || user.disabled || !isLive(session, user, context.clock.now())) {
    throw new MillraceError("unauthenticated", "the session has ended or expired: log in again");
  }
  return session;
}

/** Ends the session of the caller. Throws `conflict` for a caller who has none. */
export async function logOut(context: IdentityContext, caller: Caller): Promise<void> {
  const user = authoriseUser(caller, "readOwnAccount");
  const { standing } = user;
  if (standing === undefined || !("session" in standing)) {
    throw new MillraceError(
      "conflict",
      "this token belongs to no session: delete a personal token, or end all logins with DELETE /users/me/logins",
    );
  }
  const { session } = standing;
  await recorded(user, { kind: "session", id: session, name: user.name }, () =>
    context.stores.logins.endSession(session),
  );
}

/** The sessions of a user that are live, oldest first. */
export async function listSessions(
  context: IdentityContext,
  caller: Caller,
  input: { readonly userId: string },
): Promise<{ readonly list: readonly SessionView[]; readonly total: number }> {
  const { user, caller: reader } = await reachUser(context, caller, input.userId, OWN_OR_MANAGED);
  const { standing } = reader;
  const own = standing !== undefined && "session" in standing ? standing.session : null;
  const now = context.clock.now();
  const sessions = await context.stores.logins.listSessions(user.userId);
  const list = sessions.filter((session) => isLive(session, user, now)).map((session) => sessionView(session, own));
  return { list, total: list.length };
}

/** Ends one session of a user. Throws `not_found` for one that is not the user's. */
export async function endSession(
  context: IdentityContext,
  caller: Caller,
  input: { readonly userId: string; readonly sessionId: SessionId },
): Promise<void> {
  const { user, caller: ender } = await reachUser(context, caller, input.userId, OWN_OR_MANAGED);
  const session = await context.stores.logins.findSession(input.sessionId);
  const end = () =>
    recorded(ender, { kind: "session", id: input.sessionId, name: user.name, before: { kind: session!.kind } }, () =>
      context.stores.logins.endSession(input.sessionId),
    );
  if (session?.userId !== user.userId || !(await end())) {
    throw new MillraceError("not_found", `the user has no session ${JSON.stringify(input.sessionId)}`);
  }
}

function sessionView(session: LoginSession, own: SessionId | null): SessionView {
  const { sessionId, kind, createdAt, lastUsedAt, expiresAt, address, userAgent } = session;
  return {
    sessionId,
    kind,
    createdAt: rfc3339(createdAt),
    lastUsedAt: rfc3339(lastUsedAt),
    expiresAt: rfc3339(expiresAt),
    address,
    userAgent,
    current: sessionId === own,
  };
}

/** A caller chooses this text, and people and terminals show it. */
export function boundedAgent(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "?").slice(0, MAX_USER_AGENT);
}
