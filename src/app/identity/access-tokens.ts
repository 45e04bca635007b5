/**
 * Access tokens: short-lived JWTs (HS256) that a login answers. A token names the user and what it stands on; the role is
 * read at each use.
 */
import { errors, type JWTPayload, jwtVerify, SignJWT } from "jose";
import { asId, type SessionId, type TokenId, type UserId } from "../../domain/ids.ts";
import type { IdentityContext } from "./context.ts";
import type { Standing } from "./session-proof.ts";

export const ACCESS_TOKEN_SECONDS = 15 * 60;
/** What an access token has opened may stay open for this long after the token has expired. */
export const OPEN_AFTER_EXPIRY_SECONDS = 12 * 3_600;
const ISSUER = "millrace";
/** What the tokens are for. A token of a release without audiences has none, and counts until it expires. */
const AUDIENCE = "millrace-api";

type KeyAndClock = Pick<IdentityContext, "signingKey" | "clock">;

/**
 * Signs a token that is valid for {@link ACCESS_TOKEN_SECONDS}, and only as long as what it stands on. Without
 * `standing` it stands on the login of this moment.
 */
export async function signAccessToken(context: KeyAndClock, userId: UserId, standing?: Standing): Promise<string> {
  // With milliseconds, so that a login right after its user's other logins were ended is not taken for one of those.
  const issuedAt = (standing && "loggedInAt" in standing ? standing.loggedInAt : context.clock.now()) / 1_000;
  const claims =
    standing === undefined || "loggedInAt" in standing
      ? {}
      : "session" in standing
        ? { sid: standing.session }
        : { tid: standing.token };
  return new SignJWT(claims)
    .setProtectedHeader({ alg: "HS256" })
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setSubject(userId)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + ACCESS_TOKEN_SECONDS)
    .sign(context.signingKey);
}

/**
 * The user that the token names and what the token stands on; or why it is refused. `lateSeconds` after its expiry it
 * still counts as valid.
 */
export async function verifyAccessToken(
  context: KeyAndClock,
  token: string,
  lateSeconds: number,
): Promise<{ readonly userId: UserId; readonly standing: Standing } | { readonly refused: "expired" | "invalid" }> {
  try {
    const { payload } = await jwtVerify(token, context.signingKey, {
      algorithms: ["HS256"],
      issuer: ISSUER,
      requiredClaims: ["sub", "exp", "iat"],
      clockTolerance: lateSeconds,
      currentDate: new Date(context.clock.now()),
    });
    if (payload.aud !== undefined && payload.aud !== AUDIENCE) return { refused: "invalid" };
    return { userId: asId<UserId>(payload.sub!), standing: standingOf(payload) };
  } catch (error) {
    if (error instanceof errors.JWTExpired) return { refused: "expired" };
    if (error instanceof errors.JOSEError) return { refused: "invalid" };
    throw error;
  }
}

function standingOf({ sid, tid, iat }: JWTPayload): Standing {
  if (typeof sid === "string") return { session: asId<SessionId>(sid) };
  if (typeof tid === "string") return { token: asId<TokenId>(tid) };
  return { loggedInAt: Math.round(iat! * 1_000) };
}
