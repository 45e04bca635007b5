/** Logins at a real OpenID Connect provider, with fetch as the browser. */
import { expect } from "chai";
import { signLoginState } from "../../src/app/oidc/login-state.ts";
import type { OidcProviderSettings } from "../../src/app/oidc/provider-settings.ts";
import type { Role } from "../../src/domain/roles.ts";
import { type PageSeen, TestBrowser } from "../support/browser.ts";
import { type Answer, openTestEdge, type TestEdge } from "../support/edge.ts";
import { startIdentityProvider, type TestIdentityProvider } from "../support/identity-provider.ts";

const COOKIE = "millrace-session";
const STATE_COOKIE = "millrace-login";

describe("a login at an OpenID Connect provider", () => {
  let edge: TestEdge;
  let idp: TestIdentityProvider;
  /** Filled when the tests know the ids. */
  const mapped = {} as {
    readonly tenants: Record<string, Record<string, Role>>;
    readonly projects: Record<string, Record<string, Role>>;
    readonly teams: Record<string, string[]>;
  };
  before(async () => {
    idp = await startIdentityProvider();
    const { issuer, clientId, clientSecret } = idp;
    const shared = { issuer, clientId, clientSecret, groupsClaim: "groups", clockToleranceSeconds: 30 };
    const settings = (id: string, more: Partial<OidcProviderSettings>): OidcProviderSettings => ({
      id,
      name: `The ${id}`,
      scopes: ["openid", "profile", "email", "groups"],
      roles: {},
      defaultRole: "viewer",
      autoProvision: true,
      ...shared,
      ...more,
    });
    const roles: Record<string, Role> = { builders: "maintainer", chiefs: "admin" };
    Object.assign(mapped, { tenants: {}, projects: {}, teams: {} });
    const oidc = [
      settings("open", {}),
      settings("closed", { autoProvision: false }),
      settings("grouped", { roles, defaultRole: null }),
      settings("placed", { ...mapped, defaultRole: null }),
      settings("down", { issuer: "http://127.0.0.1:9" }),
    ];
    edge = await openTestEdge({ oidc });
    idp.serve(oidc.map(({ id }) => `${edge.origin}/login/oidc/${id}/callback`));
  });
  after(async () => {
    await edge.close();
    await idp.close();
  });
  afterEach(() => {
    edge.skewMs = 0;
    idp.skewMs = 0;
    idp.isDown = false;
  });

  const path = (url: string, origin: string): string => {
    expect(url.startsWith(`${origin}/`), `${url} is at ${origin}`).to.equal(true);
    return url.slice(origin.length);
  };
  /** Begins a login, and goes through the pages of the provider. Answers the address to which the provider sends back. */
  const atProvider = async (browser: TestBrowser, provider = "open", account = "", query = ""): Promise<string> => {
    idp.next = account;
    const begun = await browser.get(`/login/oidc/${provider}${query}`);
    expect(begun.status, begun.text).to.equal(303);
    const there = new TestBrowser(idp.issuer);
    let at = begun.location!;
    while (at.startsWith("/") || at.startsWith(idp.issuer)) {
      const { location, text } = await there.get(at);
      expect(location, text).not.to.equal(null);
      at = location!;
    }
    return path(at, edge.origin);
  };
  const logIn = async (
    provider: string,
    account: string,
    query = "",
  ): Promise<{ browser: TestBrowser; page: PageSeen }> => {
    const browser = new TestBrowser(edge.origin);
    const page = await browser.get(await atProvider(browser, provider, account, query));
    return { browser, page };
  };
  const whoami = async (browser: TestBrowser): Promise<Answer["body"]> =>
    (
      await edge.call("GET", "/api/v1/whoami", {
        token: null,
        headers: { cookie: `${COOKIE}=${browser.cookie(COOKIE)}` },
      })
    ).body.detail?.user;

  it("is offered on the login page, creates the user, and finds the user again", async () => {
    idp.accounts.set("a1", { email: "Ann@corp.example", email_verified: true, preferred_username: "ann" });
    expect((await new TestBrowser(edge.origin).get("/login?next=%2Fdevice")).text).to.include(
      'href="/login/oidc/open?next=%2Fdevice">Log in with The open',
    );
    const { browser, page } = await logIn("open", "a1", "?next=/device");
    expect(page.status, page.text).to.equal(200);
    expect(page.text, "a strict cookie would not be sent with a redirect").to.include('content="0; url=/device"');
    expect(page.headers.get("set-cookie")).to.include("SameSite=Strict");
    const user = await whoami(browser);
    expect(user).to.include({ name: "ann", role: "viewer", hasPassword: false, email: "ann@corp.example" });
    idp.accounts.set("a1", { preferred_username: "another name" });
    expect((await whoami((await logIn("open", "a1")).browser)).userId, "by issuer and subject").to.equal(user.userId);
    await edge.call("PATCH", `/api/v1/users/${user.userId}`, { body: { disabled: true } });
    const refused = (await logIn("open", "a1")).page;
    expect(refused.status).to.equal(403);
    expect(refused.text).to.include("is disabled");
  });

  it("asks the provider with PKCE, state and nonce, and keeps them in a cookie for 10 minutes", async () => {
    const browser = new TestBrowser(edge.origin);
    const { location, headers } = await browser.get("/login/oidc/open?next=//evil.example");
    const asked = new URL(location!).searchParams;
    expect(Object.fromEntries(asked)).to.include({ response_type: "code", code_challenge_method: "S256" });
    for (const name of ["code_challenge", "state", "nonce"]) expect(asked.get(name)).to.have.length.of.at.least(40);
    expect(asked.get("redirect_uri")).to.equal(`${edge.origin}/login/oidc/open/callback`);
    expect(headers.get("set-cookie")).to.match(
      /^millrace-login=[\w.-]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/,
    );
    const back = await atProvider(browser, "open", "a2", "?next=//evil.example");
    edge.skewMs = 601_000;
    const late = await browser.get(back);
    expect(late.status).to.equal(401);
    expect(late.text).to.include("begin again");
    edge.skewMs = 0;
    expect((await browser.get(back)).status, "the cookie is gone").to.equal(401);
    const { page } = await logIn("open", "a2", "?next=//evil.example");
    expect(page.text).to.include('content="0; url=/login"');
  });

  it("is refused without its state, with another one, with another nonce, and with a code that was used", async () => {
    const browser = new TestBrowser(edge.origin);
    const back = await atProvider(browser, "open", "a3");
    expect((await new TestBrowser(edge.origin).get(back)).status, "another browser").to.equal(401);
    const state = browser.cookie(STATE_COOKIE)!;
    const tried = async (address: string, cookie: string): Promise<PageSeen> => {
      const one = new TestBrowser(edge.origin);
      one.setCookie(STATE_COOKIE, cookie);
      const page = await one.get(address);
      expect(one.cookie(COOKIE), "no session").to.equal(undefined);
      return page;
    };
    const other = new URL(back, edge.origin);
    other.searchParams.set("state", "x".repeat(43));
    expect((await tried(other.pathname + other.search, state)).status, "wrong state").to.equal(401);
    other.searchParams.delete("state");
    expect((await tried(other.pathname + other.search, state)).status, "missing state").to.equal(401);
    expect((await tried(back, `${state}x`)).status, "a changed cookie").to.equal(401);
    expect((await tried(back.replace("/open/", "/closed/"), state)).status, "another provider").to.equal(401);
    const claims = JSON.parse(Buffer.from(state.split(".")[1]!, "base64url").toString());
    const forged = await signLoginState(edge.context, { ...claims, nonce: "another nonce" });
    expect((await tried(back, forged)).status, "wrong nonce").to.equal(401);
    const again = new TestBrowser(edge.origin);
    const good = await atProvider(again, "open", "a3");
    const kept = again.cookie(STATE_COOKIE)!;
    expect((await again.get(good)).status).to.equal(200);
    const replayed = await tried(good, kept);
    expect(replayed.status, "a replayed code").to.equal(401);
    expect(replayed.text).to.include("invalid_grant");
    const denied = `/login/oidc/open/callback?error=access_denied&error_description=<b>&state=${claims.state}&iss=${idp.issuer}`;
    const page = await tried(denied, state);
    expect(page.status).to.equal(401);
    expect(page.text).to.include("access_denied").and.not.to.include("<b>");
  });

  it("is no access token, although it is signed", async () => {
    const browser = new TestBrowser(edge.origin);
    await browser.get("/login/oidc/open");
    const token = browser.cookie(STATE_COOKIE)!;
    expect((await edge.call("GET", "/api/v1/whoami", { token })).status).to.equal(401);
  });

  it("links a user by a verified e-mail address, and never by an unverified one or by name", async () => {
    const create = async (body: object): Promise<{ userId: string }> =>
      (await edge.call("POST", "/api/v1/users", { body: { role: "operator", ...body } })).body.detail;
    const bob = await create({ name: "bob", email: "BOB@corp.example" });
    idp.accounts.set("b1", { email: "bob@corp.example", email_verified: false, preferred_username: "bob" });
    const unverified = (await logIn("closed", "b1")).page;
    expect(unverified.status).to.equal(403);
    expect(unverified.text).to.include("ask an administrator").and.to.include("autoProvision");
    const impostor = await whoami((await logIn("open", "b1")).browser);
    expect(impostor).to.include({ name: "bob-2", role: "viewer" }).and.not.to.have.property("email");
    idp.accounts.set("b2", { email: "Bob@Corp.example", email_verified: true, preferred_username: "robert" });
    expect(await whoami((await logIn("closed", "b2")).browser)).to.include({ userId: bob.userId, role: "operator" });

    const twin = { email: "twin@corp.example" };
    for (const name of ["twin-1", "twin-2"]) await create({ name, ...twin });
    idp.accounts.set("t1", { ...twin, email_verified: true });
    expect((await logIn("closed", "t1")).page.status, "two users have the address").to.equal(403);
  });

  it("gives the most powerful role of the user's groups at each login", async () => {
    idp.accounts.set("g1", { preferred_username: "gil", groups: ["builders", "others", "toString"] });
    expect(await whoami((await logIn("grouped", "g1")).browser)).to.include({ name: "gil", role: "maintainer" });
    idp.accounts.set("g1", { preferred_username: "gil", groups: ["builders", "chiefs"] });
    expect(await whoami((await logIn("grouped", "g1")).browser)).to.include({ name: "gil", role: "admin" });
    idp.accounts.set("g1", { preferred_username: "gil", groups: ["others"] });
    const { page } = await logIn("grouped", "g1");
    expect(page.status).to.equal(403);
    expect(page.text).to.include("none of your groups");
  });

  it("gives roles in tenants, projects and teams alone, takes them away, and leaves those that people gave", async () => {
    const create = async (at: string, body: object): Promise<Answer["body"]> =>
      (await edge.call("POST", `/api/v1${at}`, { body })).body.detail;
    const { tenantId } = await create("/tenants", { name: "Shop" });
    const { projectId } = await create("/projects", { name: "Web", tenantId });
    const other = await create("/projects", { name: "Other", tenantId });
    const { teamId } = await create(`/tenants/${tenantId}/teams`, { name: "Night shift" });
    await edge.call("PUT", `/api/v1/projects/${other.projectId}/members/${teamId}`, { body: { role: "operator" } });
    mapped.tenants[tenantId] = { auditors: "viewer", heads: "admin" };
    mapped.projects[projectId] = { devs: "maintainer" };
    mapped.projects["prj_gone"] = { devs: "maintainer" };
    mapped.teams[teamId] = ["night"];
    const boundOf = async (browser: TestBrowser): Promise<Record<string, string>> => {
      const headers = { cookie: `${COOKIE}=${browser.cookie(COOKIE)}` };
      const { user, bound } = (await edge.call("GET", "/api/v1/whoami", { token: null, headers })).body.detail;
      expect(user.role).to.equal(null);
      return Object.fromEntries(
        bound.map(({ area, role }: { area: Record<string, string>; role: string }) => [Object.values(area)[0], role]),
      );
    };
    const withGroups = async (...groups: string[]): Promise<PageSeen & { readonly browser: TestBrowser }> => {
      idp.accounts.set("p1", { preferred_username: "pia", groups });
      const { page, browser } = await logIn("placed", "p1");
      return { ...page, browser };
    };
    expect((await withGroups("others")).text, "a new user without a place").to.include("none of your groups");
    const { list: before } = (await edge.call("GET", "/api/v1/users")).body.detail;
    expect(before.map(({ name }: { name: string }) => name)).to.not.include("pia");
    const { browser } = await withGroups("auditors", "devs", "night");
    expect(await boundOf(browser)).to.deep.equal({
      [tenantId]: "viewer",
      [projectId]: "maintainer",
      [other.projectId]: "operator",
    });
    expect(await boundOf((await withGroups("heads")).browser)).to.deep.equal({ [tenantId]: "admin" });
    expect((await withGroups("others")).status, "no place is left").to.equal(403);
    await edge.call("PUT", `/api/v1/projects/${projectId}/members/pia`, { body: { role: "operator" } });
    const kept = { [projectId]: "operator" };
    expect(await boundOf((await withGroups("others")).browser), "a person gave it").to.deep.equal(kept);
    expect(await boundOf((await withGroups("devs")).browser)).to.deep.equal({ [projectId]: "maintainer" });

    const { userId } = await whoami(browser);
    const { list } = (await edge.call("GET", `/api/v1/audit?actor=${userId}&limit=100`)).body.detail;
    const told = list.map((entry: { operation: string; object: { kind: string } }) => {
      return `${entry.operation} ${entry.object.kind}`;
    });
    expect(told.slice(-6), "the newest first").to.deep.equal([
      "oidcLogin session",
      "applyGroups team",
      "applyGroups member",
      "applyGroups member",
      "linkIdentity user",
      "provisionUser user",
    ]);
    expect(list.at(-1).after).to.deep.include({ name: "pia", role: null, disabled: false });
    expect(list.at(-2).after).to.deep.equal({ issuer: idp.issuer, subject: "p1" });
    expect(list.at(-4)).to.deep.include({ projectId, after: { role: "maintainer" } });
    expect(list.at(-1).actor).to.include({ kind: "user", id: userId, name: "pia" });
    expect(list.at(-1).from).to.include({ door: "http", address: "127.0.0.1" });
  });

  it("does not show everything to a user who is linked with a role in a project, nor demotes one that a person raised", async () => {
    const make = async (name: string, role: Role | null): Promise<void> => {
      await edge.call("POST", "/api/v1/users", { body: { name, role, email: `${name}@corp.example` } });
      idp.accounts.set(name, { email: `${name}@corp.example`, email_verified: true, groups: ["others"] });
    };
    await make("quin", null);
    expect((await logIn("grouped", "quin")).page.status, "without any role").to.equal(403);
    await edge.call("PUT", "/api/v1/projects/default/members/quin", { body: { role: "viewer" } });
    expect(await whoami((await logIn("grouped", "quin")).browser)).to.include({ name: "quin", role: null });
    await make("otto", "owner");
    expect(await whoami((await logIn("grouped", "otto")).browser)).to.include({ role: "owner" });
  });

  it("leaves an entry in the audit log when it proves no user", async () => {
    const browser = new TestBrowser(edge.origin);
    await browser.get("/login/oidc/open/callback?code=x&state=y");
    const begun = await atProvider(browser, "open", "a5");
    idp.skewMs = -120_000;
    expect((await browser.get(begun)).status).to.equal(401);
    const { list } = (await edge.call("GET", "/api/v1/audit?operation=oidcLogin&outcome=refused")).body.detail;
    expect(list[0]).to.deep.include({ outcome: "refused" });
    expect(list[0].actor).to.include({ kind: "anonymous", name: "" });
    expect(list[0].reason).to.include("was not accepted");
  });

  it("creates one user for one identity that logs in twice at the same moment", async () => {
    idp.accounts.set("d1", { preferred_username: "dora" });
    const browsers = [new TestBrowser(edge.origin), new TestBrowser(edge.origin)];
    const backs: string[] = [];
    for (const browser of browsers) backs.push(await atProvider(browser, "open", "d1"));
    await Promise.all(browsers.map((browser, at) => browser.get(backs[at]!)));
    const [one, two] = await Promise.all(browsers.map(whoami));
    expect(one.userId).to.equal(two.userId);
    const { list } = (await edge.call("GET", "/api/v1/users")).body.detail;
    expect(list.filter(({ name }: { name: string }) => name.startsWith("dora"))).to.have.length(1);
  });

  it("bears a clock of the provider that is wrong by less than the tolerance", async () => {
    idp.skewMs = -25_000;
    expect((await logIn("open", "c1")).page.status).to.equal(200);
    idp.skewMs = -120_000;
    expect((await logIn("open", "c1")).page.status).to.equal(401);
  });

  it("says that a provider does not answer, and works again with it", async () => {
    const browser = new TestBrowser(edge.origin);
    const down = await browser.get("/login/oidc/down");
    expect(down.status).to.equal(503);
    expect(down.text).to.include("The down does not answer as it should").and.to.include('href="/login"');
    expect((await browser.get("/login/oidc/unknown")).status).to.equal(404);
    const back = await atProvider(browser, "open", "a4");
    const state = browser.cookie(STATE_COOKIE)!;
    idp.isDown = true;
    expect((await browser.get(back)).status).to.equal(503);
    idp.isDown = false;
    browser.setCookie(STATE_COOKIE, state);
    expect((await browser.get(back)).status, "the code was not used").to.equal(200);
  });
});
