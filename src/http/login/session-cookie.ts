/** The cookie that holds the session of a browser. */
import type { PublicUrl } from "../../app/identity/request-proof.ts";
import { isSecure, sessionCookieName } from "../../app/identity/request-proof.ts";
import type { ApiContext } from "../request/state.ts";

/** Scripts cannot read it, and browsers send it with no request that a page of another site causes. */
export function setSessionCookie(ctx: ApiContext, publicUrl: PublicUrl, value: string, expiresAt: number): void {
  ctx.append("Set-Cookie", cookieText(publicUrl, value, `Expires=${new Date(expiresAt).toUTCString()}`));
}

export function clearSessionCookie(ctx: ApiContext, publicUrl: PublicUrl): void {
  ctx.append("Set-Cookie", cookieText(publicUrl, "", "Max-Age=0"));
}

function cookieText(publicUrl: PublicUrl, value: string, life: string): string {
  const secure = isSecure(publicUrl) ? "; Secure" : "";
  return `${sessionCookieName(publicUrl)}=${value}; Path=/; ${life}; HttpOnly; SameSite=Strict${secure}`;
}
