/**
 * The secrets of sessions: `mrr_<sessionId>_<generation>_<mac>` renews a session, `mrb_<sessionId>_<mac>` is the cookie of
 * a browser, and `mrp_<sessionId>_<mac>` that of a browser that has shown a personal token. They follow from the signing
 * key, so the store holds none of them, and the same generation always has the same token. A caller who holds an old token can be told from one who guesses: only the first has a right code.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { asId, type SessionId } from "../../domain/ids.ts";
import type { LoginSession } from "../../stores/ports/logins.ts";
import type { IdentityContext } from "./context.ts";

type WithKey = Pick<IdentityContext, "signingKey">;

const REFRESH = /^mrr_(ses_[0-9A-Z]{26})_(\d{1,9})_([0-9a-f]{64})$/;
const BROWSER = /^(mr[bp])_(ses_[0-9A-Z]{26})_([0-9a-f]{64})$/;

/**
 * A session that stands on a token has a secret of another purpose: a node of a release that knows no such session
 * refuses the secret, where it would else take the session for one with all the rights of the user.
 */
const BROWSER_PURPOSES = { mrb: "browser session", mrp: "browser session of a token" } as const;

export function refreshTokenOf(context: WithKey, sessionId: SessionId, generation: number): string {
  return `mrr_${sessionId}_${generation}_${codeOf(context, "refresh token", sessionId, `${generation}`).toString("hex")}`;
}

/** What a refresh token names; undefined for a text that this installation has not made. */
export function readRefreshToken(
  context: WithKey,
  text: string,
): { readonly sessionId: SessionId; readonly generation: number } | undefined {
  const [, id, generation, code] = REFRESH.exec(text) ?? [];
  if (code === undefined || !isCode(code, codeOf(context, "refresh token", id!, generation!))) return undefined;
  return { sessionId: asId<SessionId>(id!), generation: Number(generation) };
}

export function browserSecretOf(
  context: WithKey,
  { sessionId, token }: Pick<LoginSession, "sessionId" | "token">,
): string {
  const kind = token === undefined ? "mrb" : "mrp";
  return `${kind}_${sessionId}_${codeOf(context, BROWSER_PURPOSES[kind], sessionId).toString("hex")}`;
}

/** The session that the value of a cookie names; undefined for a text that this installation has not made. */
export function readBrowserSecret(context: WithKey, text: string): SessionId | undefined {
  const [, kind, id, code] = BROWSER.exec(text) ?? [];
  if (code === undefined) return undefined;
  if (!isCode(code, codeOf(context, BROWSER_PURPOSES[kind as "mrb" | "mrp"], id!))) return undefined;
  return asId<SessionId>(id!);
}

/** A code of `purpose`: codes of different purposes have nothing in common, although one key makes them. */
function codeOf({ signingKey }: WithKey, purpose: string, ...named: readonly string[]): Buffer {
  return createHmac("sha256", signingKey)
    .update(JSON.stringify(["millrace", purpose, ...named]))
    .digest();
}

function isCode(text: string, right: Buffer): boolean {
  return timingSafeEqual(Buffer.from(text, "hex"), right);
}
