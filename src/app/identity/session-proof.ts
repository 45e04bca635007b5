/** What a caller's proof stands on, and whether that still stands. It is read with each call. */
import { MillraceError } from "../../domain/errors.ts";
import type { SessionId, TokenId } from "../../domain/ids.ts";
import type { User } from "../../stores/ports/identity.ts";
import type { LoginSession } from "../../stores/ports/logins.ts";
import type { IdentityContext } from "./context.ts";
import { noteUse } from "./recent-uses.ts";

/**
 * A login with a session, a personal token, or a login of the previous release, which has no session: then it is known
 * only when it began, in Unix milliseconds. `behind` is the token for which a browser was given its session.
 */
export type Standing =
  | { readonly session: SessionId; readonly behind?: TokenId }
  | { readonly token: TokenId }
  | { readonly loggedInAt: number };

const DAY_MS = 86_400_000;
/** How long a session lasts without a use, and at most. */
const IDLE_MS = { api: 30 * DAY_MS, device: 30 * DAY_MS, browser: 14 * DAY_MS } as const;
const LONGEST_MS = 90 * DAY_MS;

/** When a session that is used at `at` expires. */
export function expiryOf(session: Pick<LoginSession, "kind" | "createdAt" | "token">, at: number): number {
  return Math.min(at + IDLE_MS[session.kind], latestExpiryOf(session));
}

/** When a session expires that is used until then. */
export function latestExpiryOf({ createdAt, token }: Pick<LoginSession, "createdAt" | "token">): number {
  return Math.min(createdAt + LONGEST_MS, token?.expiresAt ?? Number.POSITIVE_INFINITY);
}

/** True for a session of the user that has not expired and that no end of all logins has ended. */
export function isLive(session: LoginSession, user: Pick<User, "userId" | "loginsFrom">, now: number): boolean {
  return session.userId === user.userId && session.expiresAt > now && session.createdAt >= (user.loginsFrom ?? 0);
}

/**
 * Reads a session together with its user, so that a call waits for one read. A session counts for `lateMs` after its
 * expiry. Throws `unauthenticated` when the session has ended or expired.
 */
export async function withSession<T extends Pick<User, "userId" | "loginsFrom">>(
  context: IdentityContext,
  sessionId: SessionId,
  lateMs: number,
  loading: Promise<T>,
): Promise<{ readonly user: T; readonly session: LoginSession }> {
  const [user, session] = await Promise.all([loading, context.stores.logins.findSession(sessionId)]);
  if (session === undefined || !isLive(session, user, context.clock.now() - lateMs)) {
    throw new MillraceError("unauthenticated", "the session has ended or expired: log in again");
  }
  return { user, session };
}

/** Notes that a browser uses its session, which prolongs the session. The call does not wait for it. */
export function noteBrowserUse({ stores, clock }: IdentityContext, session: LoginSession): void {
  const at = clock.now();
  noteUse(stores.logins, { id: session.sessionId, lastUsedAt: session.lastUsedAt, at }, () =>
    stores.logins.noteSessionUse(session.sessionId, { at, expiresAt: expiryOf(session, at) }),
  );
}
