/**
 * Access tokens: short-lived JWTs (HS256) that a login answers. A token names only the user; the role is read at each
 * use.
 */
import { errors, jwtVerify, SignJWT } from "jose";
import { asId, type UserId } from "../../domain/ids.ts";
import type { IdentityContext } from "./context.ts";

export const ACCESS_TOKEN_SECONDS = 15 * 60;
/** What an access token has opened may stay open for this long after the token has expired. */
export const OPEN_AFTER_EXPIRY_SECONDS = 12 * 3_600;
const ISSUER = "millrace";

/** Signs a token that is valid for {@link ACCESS_TOKEN_SECONDS}. */
export async function signAccessToken(context: IdentityContext, userId: UserId): Promise<string> {
  // With milliseconds, so that a login right after its user's other logins were ended is not taken for one of those.
  const issuedAt = context.clock.now() / 1_000;
  return new SignJWT()
    .setProtectedHeader({ alg: "HS256" })
    .setIssuer(ISSUER)
    .setSubject(userId)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + ACCESS_TOKEN_SECONDS)
    .sign(context.signingKey);
}

/**
 * The user that the token names and when it was issued, in Unix milliseconds; or why the token is refused. `lateSeconds`
 * after its expiry it still counts as valid.
 */
export async function verifyAccessToken(
  context: IdentityContext,
  token: string,
  lateSeconds: number,
): Promise<{ readonly userId: UserId; readonly issuedAt: number } | { readonly refused: "expired" | "invalid" }> {
  try {
    const { payload } = await jwtVerify(token, context.signingKey, {
      algorithms: ["HS256"],
      issuer: ISSUER,
      requiredClaims: ["sub", "exp", "iat"],
      clockTolerance: lateSeconds,
      currentDate: new Date(context.clock.now()),
    });
    return { userId: asId<UserId>(payload.sub!), issuedAt: Math.round(payload.iat! * 1_000) };
  } catch (error) {
    if (error instanceof errors.JWTExpired) return { refused: "expired" };
    if (error instanceof errors.JOSEError) return { refused: "invalid" };
    throw error;
  }
}
