/** The pages of login, device confirmation, invitation and reset. They need no script, and no token in one. */
import Router from "@koa/router";
import { type BrowserLogin, logInBrowser, logInBrowserByToken } from "../../app/identity/browser-logins.ts";
import { CodeThrottle, decideDevice, findWaitingDevice } from "../../app/identity/device-logins.ts";
import { FirstLogin } from "../../app/identity/first-login.ts";
import { logOut, type LoginPlace } from "../../app/identity/login-sessions.ts";
import type { LoginThrottle } from "../../app/identity/login-throttle.ts";
import { type LinkKind, setPasswordByLink, userOfLink } from "../../app/identity/one-time-links.ts";
import { isSafeMethod, proveRequest, type PublicUrl, requireOwnPage } from "../../app/identity/request-proof.ts";
import type { UserCaller } from "../../app/identity/access.ts";
import { provePassword } from "../../app/identity/users.ts";
import type { OidcProvider } from "../../app/oidc/providers.ts";
import type { AppContext } from "../../app/context.ts";
import type { Trail } from "../../audit/trail.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { User } from "../../stores/ports/identity.ts";
import type { AddressOf } from "../request/caller-address.ts";
import type { ApiContext, RequestState } from "../request/state.ts";
import { readForm } from "./form-body.ts";
import type { HeldRefusals } from "./held-refusals.ts";
import { Html, html } from "./html.ts";
import { localPath } from "./local-path.ts";
import { recordingLogin, traced } from "./login-trail.ts";
import { alert, sendPage, showErrors } from "./page.ts";
import { clearSessionCookie, setSessionCookie } from "./session-cookie.ts";

export interface FormOptions {
  readonly addressOf: AddressOf;
  readonly throttle: LoginThrottle;
  readonly refusals: HeldRefusals;
  readonly publicUrl: PublicUrl;
  readonly providers: readonly OidcProvider[];
}

const HOME = "/login";
const LINKS = {
  invitation: { title: "Welcome", says: "Choose a password to finish your invitation." },
  reset: { title: "New password", says: "Choose a new password. Every other login of yours ends." },
} as const;

/** Adds the forms to a router without a prefix. */
export function addForms(router: Router<RequestState>, context: AppContext, options: FormOptions): void {
  const { publicUrl, providers } = options;
  const ground = { context, addressOf: options.addressOf };
  const placeOf = (ctx: ApiContext): LoginPlace => ({
    address: options.addressOf(ctx.req),
    userAgent: ctx.get("user-agent"),
  });
  const keep = (ctx: ApiContext, { secret, keptUntil }: BrowserLogin): void =>
    setSessionCookie(ctx, publicUrl, secret, keptUntil);
  const enter = async (ctx: ApiContext, user: Pick<User, "userId" | "name">, trail?: Trail): Promise<void> =>
    keep(ctx, await logInBrowser(context, user, { ...placeOf(ctx), trail }));
  const callerOf = (ctx: ApiContext): Promise<UserCaller | undefined> => browserCaller(context, ctx, publicUrl);

  router.use(showErrors(context), async (ctx, next) => {
    // Also without a cookie: a page of another site must not log a browser in as a user of its choice.
    if (!isSafeMethod(ctx.method)) requireOwnPage(ctx.headers, publicUrl);
    await next();
  });

  const firstLogin = new FirstLogin();
  router.get("/login", async (ctx) => {
    const next = localPath(queryText(ctx, "next"), HOME);
    const caller = await callerOf(ctx);
    if (caller === undefined) {
      const byToken = providers.length === 0 && (await firstLogin.isDue(context));
      sendPage(ctx, loginPage(providers, { next, byToken }));
    } else if (next === HOME) sendPage(ctx, { title: "Logged in", body: loggedIn(caller) });
    else goTo(ctx, next);
  });
  router.post("/login", (ctx) =>
    options.refusals.run(async () => {
      const { address } = placeOf(ctx);
      options.throttle.requireTry(address, context.clock.monotonic());
      const field = await readForm(ctx);
      const [name, password] = [field("name").slice(0, 200), field("password").slice(0, 1_000)];
      const token = field("token").slice(0, 1_000).trim();
      const next = localPath(field("next"), HOME);
      try {
        await recordingLogin(ground, ctx, "login", async (trail) => {
          const origin = { throttle: options.throttle, address, trail };
          if (token !== "") keep(ctx, await logInBrowserByToken(context, token, { ...placeOf(ctx), ...origin }));
          else await enter(ctx, await provePassword(context, { name, password }, origin), trail);
        });
      } catch (error) {
        if (!(error instanceof MillraceError && error.reason === "unauthenticated")) throw error;
        const byToken = token !== "";
        sendPage(ctx, { ...loginPage(providers, { next, name, byToken, message: error.message }), status: 401 });
        return;
      }
      goTo(ctx, next);
    }),
  );
  router.post("/logout", async (ctx) => {
    const caller = await callerOf(ctx);
    if (caller !== undefined) await logOut(context, traced(ground, ctx, caller, "logOut"));
    clearSessionCookie(ctx, publicUrl);
    goTo(ctx, HOME);
  });

  for (const kind of ["invitation", "reset"] as const) {
    router.get(`/${kind}`, async (ctx) => {
      const secret = queryText(ctx, "token");
      const user = await userOfLink(context, kind, secret);
      sendPage(ctx, linkPage(kind, { secret, name: user.name }));
    });
    router.post(`/${kind}`, async (ctx) => {
      const field = await readForm(ctx);
      const secret = field("token");
      try {
        const user = await recordingLogin(ground, ctx, "setPasswordByLink", (trail) =>
          setPasswordByLink(context, kind, { secret, password: field("password") }, trail),
        );
        await recordingLogin(ground, ctx, "login", (trail) => enter(ctx, user, trail));
      } catch (error) {
        if (!(error instanceof MillraceError && error.reason === "malformed_request")) throw error;
        const { name } = await userOfLink(context, kind, secret);
        sendPage(ctx, { ...linkPage(kind, { secret, name, message: error.message }), status: 400 });
        return;
      }
      goTo(ctx, HOME);
    });
  }

  const codes = new CodeThrottle();
  router.get("/device", async (ctx) => {
    const caller = await callerOf(ctx);
    const typed = queryText(ctx, "user_code").slice(0, 20);
    const query = typed === "" ? "" : `?${new URLSearchParams({ user_code: typed }).toString()}`;
    if (caller === undefined) goTo(ctx, `/login?${new URLSearchParams({ next: `/device${query}` }).toString()}`);
    else sendPage(ctx, codePage(typed));
  });
  router.post("/device", async (ctx) => {
    const caller = await callerOf(ctx);
    if (caller === undefined) {
      goTo(ctx, "/login?next=%2Fdevice");
      return;
    }
    const field = await readForm(ctx);
    const userCode = field("user_code").slice(0, 20);
    const decision = field("decision");
    if (decision === "") {
      const device = await findWaitingDevice(context, caller, userCode, codes);
      if (device === undefined) sendPage(ctx, { ...codePage(userCode, UNKNOWN_CODE), status: 400 });
      else sendPage(ctx, confirmPage(caller, device));
      return;
    }
    const isAdmitted = decision === "admit";
    const decider = traced(ground, ctx, caller, "decideDevice");
    if (!(await decideDevice(context, decider, { userCode, isAdmitted }, codes))) {
      sendPage(ctx, { ...codePage(userCode, UNKNOWN_CODE), status: 400 });
      return;
    }
    const says = isAdmitted ? "The device is logged in. You can close this page." : "The device was refused.";
    sendPage(ctx, { title: isAdmitted ? "Logged in" : "Refused", body: html`<p>${says}</p>` });
  });
}

const UNKNOWN_CODE = "The code is unknown, was used, or has expired.";

/** The user of the session cookie; undefined without a live session. */
async function browserCaller(
  context: AppContext,
  ctx: ApiContext,
  publicUrl: PublicUrl,
): Promise<UserCaller | undefined> {
  const { authorization: _bearer, ...headers } = ctx.headers;
  try {
    const { caller } = await proveRequest(context, publicUrl, { headers, isSafe: isSafeMethod(ctx.method) });
    return caller.kind === "user" ? caller : undefined;
  } catch (error) {
    if (error instanceof MillraceError && error.reason === "unauthenticated") return undefined;
    throw error;
  }
}

function queryText(ctx: ApiContext, name: string): string {
  const value = ctx.query[name];
  return typeof value === "string" ? value : "";
}

/** A redirect after which the browser reads the page. */
function goTo(ctx: ApiContext, path: string): void {
  ctx.status = 303;
  ctx.redirect(path);
}

function loginPage(
  providers: readonly OidcProvider[],
  {
    next,
    name,
    byToken = false,
    message,
  }: { readonly next: string; readonly name?: string; readonly byToken?: boolean; readonly message?: string },
) {
  const query = new URLSearchParams({ next }).toString();
  const links = providers.map(
    ({ settings }) =>
      html`<p><a class="button" href="/login/oidc/${settings.id}?${query}">Log in with ${settings.name}</a></p>`,
  );
  const body = html`${alert(message)}
    <form method="post" action="/login">
      <input type="hidden" name="next" value="${next}" />
      <label
        >Name
        <input name="name" value="${name}" autocomplete="username" required ${new Html(byToken ? "" : "autofocus")}
      /></label>
      <label>Password <input name="password" type="password" autocomplete="current-password" required /></label>
      <button>Log in</button>
    </form>
    ${links}
    <details ${new Html(byToken ? "open" : "")}>
      <summary>Log in with a token</summary>
      <form method="post" action="/login">
        <input type="hidden" name="next" value="${next}" />
        <label
          >Token
          <input name="token" type="password" autocomplete="off" required ${new Html(byToken ? "autofocus" : "")}
        /></label>
        <p>The first start prints the token of the administrator. The login ends with the token.</p>
        <button>Log in with the token</button>
      </form>
    </details>`;
  return { title: "Log in", body };
}

function loggedIn({ name, role }: UserCaller): Html {
  const as = role === null ? "" : ` with the role ${role}`;
  return html`<p>You are logged in as <strong>${name}</strong>${as}.</p>
    <p><a href="/device">Log a device in</a></p>
    <form method="post" action="/logout"><button>Log out</button></form>`;
}

function linkPage(
  kind: LinkKind,
  { secret, name, message }: { readonly secret: string; readonly name: string; readonly message?: string },
) {
  const { title, says } = LINKS[kind];
  const body = html`${alert(message)}
    <p>Your name is <strong>${name}</strong>. ${says}</p>
    <form method="post" action="/${kind}">
      <input type="hidden" name="token" value="${secret}" />
      <label>Name <input name="name" value="${name}" autocomplete="username" readonly /></label>
      <label
        >Password, 12 characters or more
        <input name="password" type="password" autocomplete="new-password" minlength="12" required autofocus
      /></label>
      <button>Set the password</button>
    </form>`;
  return { title, body };
}

function codePage(typed: string, message?: string) {
  const body = html`${alert(message)}
    <form method="post" action="/device">
      <label
        >The code that the device shows
        <input name="user_code" value="${typed}" autocomplete="off" autocapitalize="characters" required autofocus
      /></label>
      <button>Go on</button>
    </form>`;
  return { title: "Log a device in", body };
}

function confirmPage(
  { name }: UserCaller,
  { userCode, client, address }: { readonly userCode: string; readonly client: string; readonly address: string },
) {
  const body = html`<p>Does your device show <code>${userCode}</code>?</p>
    <p>
      ${client === "" ? "A program" : client} at the address ${address} asks to act as <strong>${name}</strong>. Admit
      it only if you have started it yourself.
    </p>
    <form method="post" action="/device">
      <input type="hidden" name="user_code" value="${userCode}" />
      <button name="decision" value="admit">Admit</button>
      <button name="decision" value="refuse">Refuse</button>
    </form>`;
  return { title: "Log a device in", body };
}
