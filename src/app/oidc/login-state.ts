/**
 * What a browser keeps while its user is at a provider: the values that the answer must match. They are in a cookie, so
 * that a login that is begun and not finished costs no store write, and signed, so that no other page can choose them.
 */
import { createHmac } from "node:crypto";
import { jwtVerify, SignJWT } from "jose";
import type { IdentityContext } from "../identity/context.ts";

export const LOGIN_STATE_SECONDS = 600;
/** Not the issuer of access tokens, which the same key would otherwise make. */
const ISSUER = "millrace login state";

export interface LoginState {
  readonly provider: string;
  readonly state: string;
  readonly nonce: string;
  /** The secret of PKCE (RFC 7636). */
  readonly verifier: string;
  /** The path to go on to. */
  readonly next: string;
}

type KeyAndClock = Pick<IdentityContext, "signingKey" | "clock">;

export async function signLoginState(context: KeyAndClock, state: LoginState): Promise<string> {
  const issuedAt = Math.floor(context.clock.now() / 1_000);
  return new SignJWT({ ...state })
    .setProtectedHeader({ alg: "HS256" })
    .setIssuer(ISSUER)
    .setExpirationTime(issuedAt + LOGIN_STATE_SECONDS)
    .sign(keyOf(context));
}

/** Undefined for a text that is wrong, expired, or of another provider. */
export async function readLoginState(
  context: KeyAndClock,
  text: string,
  provider: string,
): Promise<LoginState | undefined> {
  try {
    const { payload } = await jwtVerify<LoginState>(text, keyOf(context), {
      algorithms: ["HS256"],
      issuer: ISSUER,
      requiredClaims: ["exp", "state", "nonce", "verifier", "next"],
      currentDate: new Date(context.clock.now()),
    });
    return payload.provider === provider ? payload : undefined;
  } catch {
    return undefined;
  }
}

function keyOf({ signingKey }: KeyAndClock): Uint8Array {
  return createHmac("sha256", signingKey).update(ISSUER).digest();
}
