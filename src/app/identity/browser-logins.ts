/** Logins of browsers: by password, and by what else has proven a user. */
import type { User } from "../../stores/ports/identity.ts";
import type { IdentityContext } from "./context.ts";
import { beginSession, type LoginPlace } from "./login-sessions.ts";
import { latestExpiryOf } from "./session-proof.ts";
import { browserSecretOf } from "./session-secrets.ts";

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
  place: LoginPlace,
): Promise<BrowserLogin> {
  const session = await beginSession(context, user, { kind: "browser", isRenewed: true, ...place });
  return { secret: browserSecretOf(context, session.sessionId), keptUntil: latestExpiryOf(session) };
}
