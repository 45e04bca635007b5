/** Logins of browsers: by password, by a personal token, and by what else has proven a user. */
import { MillraceError } from "../../domain/errors.ts";
import type { User } from "../../stores/ports/identity.ts";
import type { LoginSession, TokenBehindSession } from "../../stores/ports/logins.ts";
import type { IdentityContext } from "./context.ts";
import { active } from "./access.ts";
import { beginSession, type LoginPlace } from "./login-sessions.ts";
import type { LoginThrottle } from "./login-throttle.ts";
import { latestExpiryOf } from "./session-proof.ts";
import { browserSecretOf } from "./session-secrets.ts";
import { findProvenToken, tokenIdOf } from "./tokens.ts";

export interface BrowserLogin {
  /** The value of the cookie. */
  readonly secret: string;
  /** The latest time at which the session may end, when it is used until then: Unix milliseconds. */
  readonly keptUntil: number;
}

/** Begins the session of a browser for a user who was proven. */
export async function logInBrowser(
  context: IdentityContext,
  user: Pick<User, "userId" | "name">,
  place: LoginPlace & Pick<LoginSession, "token">,
): Promise<BrowserLogin> {
  const session = await beginSession(context, user, { kind: "browser", isRenewed: true, ...place });
  return { secret: browserSecretOf(context, session), keptUntil: latestExpiryOf(session) };
}

/**
 * Begins the session of a browser that shows a personal token. The session ends with the token and has its scopes and
 * projects. Tries count as those of passwords do. Throws `unauthenticated` for another kind of token and for one that
 * proves no user, and `too_many`.
 */
export async function logInBrowserByToken(
  context: IdentityContext,
  text: string,
  { throttle, ...place }: LoginPlace & { readonly throttle: LoginThrottle },
): Promise<BrowserLogin> {
  // No user has a name with a line break.
  const attempt = throttle.take(place.address, `token\n${tokenIdOf(text)}`, context.clock.monotonic());
  const { user, token } = await requirePersonal(context, text).catch((error: unknown) => {
    if (!(error instanceof MillraceError && error.reason === "unauthenticated")) attempt.giveBack();
    throw error;
  });
  attempt.giveBack();
  return logInBrowser(context, user, { ...place, token });
}

async function requirePersonal(
  context: IdentityContext,
  text: string,
): Promise<{ readonly user: User; readonly token: TokenBehindSession }> {
  const found = await findProvenToken(context, text);
  if (found?.token.kind !== "personal") {
    throw new MillraceError("unauthenticated", "the token is unknown, wrong or expired, or is not that of a user");
  }
  const { tokenId, expiresAt } = found.token;
  return { user: active(found.user), token: { tokenId, expiresAt } };
}
