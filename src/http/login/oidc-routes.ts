/** The routes of logins at OpenID Connect providers. */
import type Router from "@koa/router";
import { logInBrowser } from "../../app/identity/browser-logins.ts";
import { isSecure, type PublicUrl, readCookie } from "../../app/identity/request-proof.ts";
import { LOGIN_STATE_SECONDS, type LoginState, readLoginState, signLoginState } from "../../app/oidc/login-state.ts";
import type { OidcContext } from "../../app/oidc/group-places.ts";
import { userOfIdentity } from "../../app/oidc/oidc-logins.ts";
import type { OidcProvider } from "../../app/oidc/providers.ts";
import type { AppContext } from "../../app/context.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { AddressOf } from "../request/caller-address.ts";
import type { ApiContext, RequestState, RouteContext } from "../request/state.ts";
import { html } from "./html.ts";
import { recordingLogin } from "./login-trail.ts";
import { localPath } from "./local-path.ts";
import { sendPage } from "./page.ts";
import { setSessionCookie } from "./session-cookie.ts";

export interface OidcRouteOptions {
  readonly addressOf: AddressOf;
  readonly publicUrl: PublicUrl;
  readonly providers: readonly OidcProvider[];
}

/** Adds the routes to the router of the forms, which shows errors as pages. */
export function addOidcRoutes(
  router: Router<RequestState>,
  context: AppContext,
  { addressOf, publicUrl, providers }: OidcRouteOptions,
): void {
  const providerOf = (ctx: RouteContext): OidcProvider => {
    const { provider: id = "" } = ctx.params;
    const found = providers.find(({ settings }) => settings.id === id);
    if (found === undefined) throw new MillraceError("not_found", `there is no provider ${JSON.stringify(id)}`);
    return found;
  };

  router.get("/login/oidc/:provider", async (ctx) => {
    const provider = providerOf(ctx);
    const { url, state } = await provider.begin(redirectUri(publicUrl, provider));
    const next = localPath(typeof ctx.query["next"] === "string" ? ctx.query["next"] : "", "/login");
    setStateCookie(ctx, publicUrl, await signLoginState(context, { ...state, next }));
    ctx.status = 303;
    ctx.redirect(url);
  });

  router.get("/login/oidc/:provider/callback", async (ctx) => {
    const provider = providerOf(ctx);
    const begun = await takeState(context, ctx, publicUrl, provider);
    const answered = new URL(redirectUri(publicUrl, provider));
    answered.search = ctx.search;
    const { secret, keptUntil } = await recordingLogin({ context, addressOf }, ctx, "oidcLogin", async (trail) => {
      const identity = await provider.finish(answered, begun);
      const recording: OidcContext["recording"] = (operation, change) =>
        recordingLogin({ context, addressOf }, ctx, operation, change);
      const user = await userOfIdentity({ ...context, recording }, provider.settings, identity);
      return logInBrowser(context, user, { address: addressOf(ctx.req), userAgent: ctx.get("user-agent"), trail });
    });
    setSessionCookie(ctx, publicUrl, secret, keptUntil);
    // After a redirect the browser would still be on its way from the provider, and would not send a strict cookie.
    const body = html`<p>You are logged in. <a href="${begun.next}">Go on</a></p>`;
    sendPage(ctx, { title: "Logged in", body, goOn: begun.next });
  });
}

function redirectUri(publicUrl: PublicUrl, { settings }: OidcProvider): string {
  return `${publicUrl()}/login/oidc/${settings.id}/callback`;
}

/** The state counts once: the cookie is removed with the answer. */
async function takeState(
  context: AppContext,
  ctx: ApiContext,
  publicUrl: PublicUrl,
  { settings }: OidcProvider,
): Promise<LoginState> {
  const text = readCookie(ctx.headers, stateCookieName(publicUrl)) ?? "";
  setStateCookie(ctx, publicUrl, "");
  const state = await readLoginState(context, text, settings.id);
  if (state !== undefined) return state;
  throw new MillraceError(
    "unauthenticated",
    "this browser has begun no login at this provider in the last 10 minutes: begin again",
  );
}

/** Lax: the browser comes back from another site. */
function setStateCookie(ctx: ApiContext, publicUrl: PublicUrl, value: string): void {
  const secure = isSecure(publicUrl) ? "; Secure" : "";
  const seconds = value === "" ? 0 : LOGIN_STATE_SECONDS;
  const name = stateCookieName(publicUrl);
  ctx.append("Set-Cookie", `${name}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`);
}

function stateCookieName(publicUrl: PublicUrl): string {
  return isSecure(publicUrl) ? "__Host-millrace-login" : "millrace-login";
}
