/**
 * Who sends a request, for HTTP and the WebSocket handshake alike: a bearer, the session cookie of a browser, or a ticket.
 * A browser sends its cookie also when a page of another site makes it call, so a call by cookie that may change something
 * must come from a page of this server.
 */
import type { IncomingHttpHeaders } from "node:http";
import { MillraceError } from "../../domain/errors.ts";
import { authenticate, authenticateCookie } from "./access.ts";
import type { IdentityContext } from "./context.ts";
import type { Proof } from "./sessions.ts";
import { redeemTicket } from "./tickets.ts";

/** The address that users call, such as `https://ci.example.com`: a scheme, a host and a port, and nothing else. */
export type PublicUrl = () => string;

export interface ProvenRequest {
  readonly headers: IncomingHttpHeaders;
  /** True when the request only reads, so that a page of another site gains nothing by it. */
  readonly isSafe: boolean;
  /** The ticket in the address, where the request may have one. */
  readonly ticket?: string | undefined;
}

export function isSafeMethod(method: string): boolean {
  return ["GET", "HEAD", "OPTIONS"].includes(method);
}

/** The caller of a request. A bearer counts before a ticket, and a ticket before a cookie. Throws as its proof does. */
export async function proveRequest(
  context: IdentityContext,
  publicUrl: PublicUrl,
  { headers, isSafe, ticket }: ProvenRequest,
): Promise<Proof> {
  // A proxy may send credentials of another scheme, which are its own affair.
  if (/^Bearer\b/i.test(headers.authorization ?? "")) {
    const bearer = /^Bearer +(\S+) *$/i.exec(headers.authorization!)?.[1] ?? "";
    return { bearer, caller: await authenticate(context, bearer) };
  }
  if (ticket !== undefined) return redeemTicket(context, ticket);
  const cookie = readCookie(headers, sessionCookieName(publicUrl));
  if (cookie === undefined) return { bearer: "", caller: await authenticate(context, "") };
  if (!isSafe) requireOwnPage(headers, publicUrl);
  return { bearer: cookie, caller: await authenticateCookie(context, cookie) };
}

export function isSecure(publicUrl: PublicUrl): boolean {
  return publicUrl().startsWith("https:");
}

/** Browsers take a cookie with the prefix only over TLS, from this host and for all its paths. */
export function sessionCookieName(publicUrl: PublicUrl): string {
  return isSecure(publicUrl) ? "__Host-millrace-session" : "millrace-session";
}

/** The first cookie of that name, which is the one with the narrowest path. */
export function readCookie({ cookie }: IncomingHttpHeaders, name: string): string | undefined {
  for (const pair of (cookie ?? "").split(";")) {
    const at = pair.indexOf("=");
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return undefined;
}

/** What a browser says of a request that does not come from a page of the same origin. */
const FOREIGN_SITES: readonly string[] = ["cross-site", "same-site", "none"];

/** Throws `forbidden` unless the browser tells that a page of this server sends the request. */
export function requireOwnPage(headers: IncomingHttpHeaders, publicUrl: PublicUrl): void {
  const site = headers["sec-fetch-site"];
  const isOwn = isOwnOrigin(headers, publicUrl) && (site === undefined || site === "same-origin");
  if (isOwn) return;
  const page = headers.origin ?? "a page that names no origin";
  const from = FOREIGN_SITES.includes(site as string) ? `${page} (Sec-Fetch-Site: ${String(site)})` : page;
  throw new MillraceError(
    "forbidden",
    `a request with the session of a browser must come from a page of ${publicUrl()}, not from ${from}: check MILLRACE_PUBLIC_URL, or send a token`,
  );
}

/** True when the header `Origin` names the public address, or the host that the request itself names. */
export function isOwnOrigin({ origin, host }: IncomingHttpHeaders, publicUrl: PublicUrl): boolean {
  if (origin === undefined || !URL.canParse(origin)) return false;
  const page = new URL(origin);
  if (page.origin === publicUrl()) return true;
  return page.host === host && (page.protocol === "https:" || !isSecure(publicUrl));
}
