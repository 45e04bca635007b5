/** The pages that the server renders: login, invitation, reset and the confirmation of a device. */
import { createHash } from "node:crypto";
import { expect } from "chai";
import { html } from "../../src/http/login/html.ts";
import { localPath } from "../../src/http/login/local-path.ts";
import { TestBrowser } from "../support/browser.ts";
import { type Answer, openTestEdge, type TestEdge } from "../support/edge.ts";

const PASSWORD = "a password of these forms";
const COOKIE = "millrace-session";

describe("the forms", () => {
  let edge: TestEdge;
  let made = 0;
  before(async () => {
    edge = await openTestEdge({ refuseAfterMs: 20, trustedProxies: [{ address: "127.0.0.0", bits: 8 }] });
  });
  after(() => edge.close());
  afterEach(() => void (edge.skewMs = 0));

  const person = async (role = "viewer"): Promise<{ name: string; path: string; userId: string }> => {
    const name = `person-${made++}`;
    const { body } = await edge.call("POST", "/api/v1/users", { body: { name, role, password: PASSWORD } });
    return { name, userId: body.detail.userId, path: `/api/v1/users/${body.detail.userId}` };
  };
  const loggedIn = async (): Promise<{ browser: TestBrowser; name: string; path: string }> => {
    const { name, path } = await person();
    const browser = new TestBrowser(edge.origin);
    expect((await browser.post("/login", { name, password: PASSWORD })).status).to.equal(303);
    return { browser, name, path };
  };
  const whoami = (browser: TestBrowser): Promise<Answer> =>
    edge.call("GET", "/api/v1/whoami", { token: null, headers: { cookie: `${COOKIE}=${browser.cookie(COOKIE)}` } });

  it("offer the token first while the only user has no password, and tell no more afterwards", async () => {
    const fresh = await openTestEdge();
    const isOpen = async () => (await new TestBrowser(fresh.origin).get("/login")).text.includes("<details open>");
    expect(await isOpen(), "before the first password").to.equal(true);
    await fresh.call("POST", "/api/v1/users", { body: { name: "second", role: "viewer", password: PASSWORD } });
    expect(await isOpen(), "after the first password").to.equal(false);
    await fresh.close();
  });

  it("log a browser in and out, with a cookie that scripts cannot read", async () => {
    const { name } = await person();
    const browser = new TestBrowser(edge.origin);
    const wrong = await browser.post("/login", { name, password: "wrong" });
    expect(wrong.status).to.equal(401);
    expect(wrong.text).to.include("the name or the password is wrong").and.to.include(`value="${name}"`);
    expect(wrong.text).not.to.include("wrong</input>");
    expect(browser.cookie(COOKIE)).to.equal(undefined);
    const right = await browser.post("/login", { name, password: PASSWORD, next: "/device?user_code=A" });
    expect(right).to.include({ status: 303, location: "/device?user_code=A" });
    expect(right.headers.get("set-cookie")).to.match(
      /^millrace-session=mrb_\w+; Path=\/; Expires=[^;]+ GMT; HttpOnly; SameSite=Strict$/,
    );
    expect((await whoami(browser)).body.detail.user.name).to.equal(name);
    expect((await browser.get("/login")).text).to.include(`logged in as <strong>${name}</strong>`);
    const value = browser.cookie(COOKIE)!;
    expect((await browser.post("/logout", {})).status).to.equal(303);
    browser.setCookie(COOKIE, value);
    expect((await whoami(browser)).status, "the session has ended, not only the cookie").to.equal(401);
  });

  it("have no script, and load nothing", async () => {
    const { text, headers } = await new TestBrowser(edge.origin).get("/login");
    const policy = headers.get("content-security-policy")!;
    expect(policy).to.match(
      /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self'; frame-ancestors 'none'/,
    );
    const style = /<style>([^]*?)<\/style>/.exec(text)![1]!;
    expect(policy).to.include(createHash("sha256").update(style).digest("base64"));
    expect(text).not.to.match(/<script|javascript:|\son\w+=|https?:\/\//i);
    expect(headers.get("referrer-policy")).to.equal("strict-origin");
    expect(headers.get("cache-control")).to.equal("no-store");
  });

  it("are refused from pages of other sites, also without a cookie", async () => {
    const { name } = await person();
    const browser = new TestBrowser(edge.origin);
    for (const headers of [
      { origin: "https://evil.example" },
      { origin: "null" },
      { "sec-fetch-site": "cross-site" },
    ] as Record<string, string>[]) {
      const refused = await browser.post("/login", { name, password: PASSWORD }, headers);
      expect(refused.status, JSON.stringify(headers)).to.equal(403);
      expect(refused.text).to.include("must come from a page of");
    }
    expect(browser.cookie(COOKIE)).to.equal(undefined);
  });

  it("go on to no other server", async () => {
    const { browser } = await loggedIn();
    for (const next of [
      "https://evil.example",
      "//evil.example",
      "/\\evil.example",
      "\\\\evil.example",
      "/\t/evil.example",
      "/.//evil.example",
      "/a/..//evil.example",
      "javascript:alert(1)",
      "evil.example",
      " /device",
    ]) {
      const { location } = await browser.get(`/login?${new URLSearchParams({ next }).toString()}`);
      expect(location === null || /^\/(?![/\\])/.test(location), `${next} -> ${location}`).to.equal(true);
      expect(new URL(location ?? "/", "http://here").host, next).to.equal("here");
    }
    expect(localPath("/device?user_code=A#x", "/login")).to.equal("/device?user_code=A");
    expect(localPath("/\n/evil.example", "/login")).to.equal("/login");
  });

  it("escape what they show", async () => {
    const evil = `"><script>alert('1')</script>&`;
    const browser = new TestBrowser(edge.origin);
    const { text } = await browser.post("/login", { name: evil, password: "wrong", next: `/${evil}` });
    expect(text).to.include("&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;");
    expect(text).not.to.include("<script");
    expect(html`<b title="${evil}">${[html`<i>${"<"}</i>`]}${undefined}${1}</b>`.text).to.equal(
      `<b title="&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;"><i>&lt;</i>1</b>`,
    );
  });

  it("refuse other bodies, large bodies and too many wrong passwords", async () => {
    const browser = new TestBrowser(edge.origin);
    const json = await browser.post("/login", {}, { "content-type": "application/json" });
    expect(json.status).to.equal(415);
    expect((await browser.post("/login", { name: "x".repeat(20_000) })).status).to.equal(413);
    const { name } = await person();
    const address = { "x-forwarded-for": "203.0.113.50" };
    const tries = Array.from({ length: 25 }, () => browser.post("/login", { name, password: "wrong" }, address));
    const refused = (await Promise.all(tries)).filter(({ status }) => status === 429);
    expect(refused).to.have.length(5);
    expect(Number(refused[0]!.headers.get("retry-after"))).to.be.within(1, 60);
    expect(refused[0]!.text).to.include("too many wrong logins");
    expect((await browser.post("/login", { name, password: PASSWORD })).status, "from elsewhere").to.equal(303);
  });

  it("let an invited user choose a password, once", async () => {
    const body = { name: `invited-${made++}`, role: "operator" };
    const { detail } = (await edge.call("POST", "/api/v1/invitations", { body })).body;
    expect(detail.user).to.include({ ...body, hasPassword: false });
    expect(detail.link).to.match(new RegExp(`^${edge.origin}/invitation\\?token=mrl_[0-9a-f]{64}$`));
    const link = detail.link.slice(edge.origin.length);
    const token = link.split("=")[1];
    const browsers = [1, 2, 3].map(() => new TestBrowser(edge.origin));
    const page = await browsers[0]!.get(link);
    expect(page.text).to.include(body.name).and.to.include(token);
    expect((await browsers[0]!.get(link)).status, "a look does not use it").to.equal(200);
    const short = await browsers[0]!.post("/invitation", { token, password: "short" });
    expect(short.status).to.equal(400);
    expect(short.text).to.include("at least 12 characters").and.to.include(token);
    const race = await Promise.all(browsers.map((one) => one.post("/invitation", { token, password: PASSWORD })));
    expect(race.map(({ status }) => status)).to.have.members([303, 404, 404]);
    const winner = browsers[race.findIndex(({ status }) => status === 303)]!;
    expect((await whoami(winner)).body.detail.user).to.include({ ...body, hasPassword: true });
    expect((await browsers[0]!.get(link)).status).to.equal(404);
    const again = await edge.call("POST", "/api/v1/invitations", { body });
    expect(again.body).to.include({ code: 409, reason: "already_exists" });
  });

  it("let a user in who is invited into a tenant, a project and a team alone, by who manages their members", async () => {
    const create = async (path: string, body: object): Promise<Answer["body"]> =>
      (await edge.call("POST", `/api/v1${path}`, { body })).body.detail;
    const { tenantId } = await create("/tenants", { name: `Tenant ${made}` });
    const { projectId } = await create("/projects", { name: "Web", tenantId });
    const { teamId } = await create(`/tenants/${tenantId}/teams`, { name: "Builders" });
    await edge.call("PUT", `/api/v1/projects/${projectId}/members/${teamId}`, { body: { role: "operator" } });
    const elsewhere = await create("/tenants", { name: `Tenant elsewhere ${made}` });
    const admin = await create("/users", { name: `tenant-admin-${made++}`, role: null });
    await edge.call("PUT", `/api/v1/tenants/${tenantId}/members/${admin.userId}`, { body: { role: "admin" } });
    const { token } = await create(`/users/${admin.userId}/tokens`, { name: "t" });
    const ask = (body: object): Promise<Answer> =>
      edge.call("POST", "/api/v1/invitations", { token, body: { name: `member-${made}`, ...body } });
    const refusal = async (body: object): Promise<string> => {
      const answer = await ask(body);
      return `${answer.body.reason} ${answer.body.errMsg} ${JSON.stringify(answer.body.errors ?? [])}`;
    };
    const bound = (area: object, role = "viewer") => ({ bound: [{ area, role }] });
    expect(await refusal({})).to.match(/^malformed_request .*give a role/);
    expect(await refusal({ role: "viewer" })).to.match(/^forbidden /);
    expect(await refusal(bound({ tenantId }, "owner"))).to.match(/^forbidden .*above your own/);
    expect(await refusal({ ...bound({ tenantId }), email: "eve@corp.example" })).to.match(/^forbidden `email`/);
    const hidden = await refusal(bound({ tenantId: elsewhere.tenantId }));
    expect(hidden).to.include("malformed_request").and.to.include("/bound/0/area").and.to.include("there is no tenant");
    expect(hidden.replaceAll(elsewhere.tenantId, "tnt_unknown")).to.equal(
      await refusal(bound({ tenantId: "tnt_unknown" })),
    );
    expect(await refusal({ teams: ["team_unknown"] })).to.match(/^malformed_request .*there is no team/);
    const twice = { bound: [...bound({ projectId }).bound, ...bound({ projectId }).bound] };
    expect(await refusal(twice)).to.include("each project once");

    const answer = await ask({ ...bound({ tenantId }), teams: [teamId] });
    expect(answer.body, JSON.stringify(answer.body)).to.include({ code: 0 });
    const { user, link } = answer.body.detail;
    expect(user).to.include({ role: null, hasPassword: false });
    const taken = await ask({ ...bound({ projectId }, "admin") });
    expect(taken.body.reason).to.equal("already_exists");
    const browser = new TestBrowser(edge.origin);
    const renew = (name: string, by = token) =>
      edge.call("POST", `/api/v1/invitations/${name}/link`, { token: by, body: { days: 2 } });
    const renewed = await renew(user.name);
    expect(renewed.body, JSON.stringify(renewed.body)).to.include({ code: 0 });
    expect((await browser.get(`/invitation?token=${link.split("=")[1]}`)).status, "the lost link is void").to.equal(
      404,
    );
    const secret = renewed.body.detail.link.split("=")[1];
    const outsider = await create("/users", { name: `outsider-${made}`, role: null });
    const { token: ofOutsider } = await create(`/users/${outsider.userId}/tokens`, { name: "t" });
    expect((await renew(user.name, ofOutsider)).body).to.include({
      code: 404,
      errMsg: `there is no user "${user.name}"`,
    });
    const both = [bound({ tenantId }).bound[0], bound({ tenantId: elsewhere.tenantId }).bound[0]];
    const wide = await create("/invitations", { name: `wide-${made}`, bound: both });
    expect((await renew(wide.user.name)).body).to.include({ code: 403, reason: "forbidden" });
    expect((await renew(wide.user.name, edge.adminToken)).status).to.equal(200);
    expect((await renew("none-such")).body).to.include({ code: 404 });
    const plain = await create(`/tenants/${tenantId}/teams`, { name: "Readers" });
    const foreign = await create(`/tenants/${elsewhere.tenantId}/teams`, { name: "Readers" });
    const teamed = await create("/invitations", { name: `teamed-${made}`, teams: [plain.teamId] });
    expect((await renew(teamed.user.name, ofOutsider)).status).to.equal(404);
    expect((await renew(teamed.user.name)).status, "of a team without roles, which the caller manages").to.equal(200);
    const members = `/api/v1/tenants/${elsewhere.tenantId}/teams/${foreign.teamId}/members`;
    expect((await edge.call("PUT", `${members}/${teamed.user.userId}`)).status).to.equal(200);
    expect((await renew(teamed.user.name)).body, "also of another team").to.include({ code: 403, reason: "forbidden" });
    expect((await browser.post("/invitation", { token: secret, password: PASSWORD })).status).to.equal(303);
    const whoIs = (await whoami(browser)).body.detail;
    expect(whoIs.operations).to.not.include("readProjects");
    expect(whoIs.bound.map(({ area, role }: { area: object; role: string }) => ({ area, role }))).to.deep.equal([
      { area: { tenantId }, role: "viewer" },
      { area: { projectId }, role: "operator" },
    ]);
    expect((await renew(user.name)).body.errMsg).to.include("has accepted the invitation");
    const bindings = (await edge.call("GET", `/api/v1/projects/${projectId}/members`)).body.detail.list;
    expect(
      bindings.map(({ memberId }: { memberId: string }) => memberId),
      "the refused one left no role",
    ).to.deep.equal([teamId]);
    const { list } = (await edge.call("GET", `/api/v1/audit?operation=invite`, { token })).body.detail;
    const entry = list.find(({ object }: { object: { name: string } }) => object.name === user.name);
    expect(entry).to.deep.include({ tenantId, outcome: "done" });
    expect(entry.after).to.deep.include({ role: null, bound: [`viewer in ${tenantId}`], teams: [teamId] });
  });

  it("let a user set a forgotten password, which ends all other logins and links", async () => {
    const { browser, name, path } = await loggedIn();
    const make = async (): Promise<string> => {
      const { detail } = (await edge.call("POST", `${path}/reset-link`)).body;
      return detail.link.split("=")[1];
    };
    const [first, second] = [await make(), await make()];
    const other = new TestBrowser(edge.origin);
    expect((await other.get(`/reset?token=${first}`)).status, "a newer link voids the older").to.equal(404);
    expect((await other.get(`/invitation?token=${second}`)).status, "it is no invitation").to.equal(404);
    edge.skewMs = 1_000;
    const next = "the next password of it";
    expect((await other.post("/reset", { token: second, password: next })).status).to.equal(303);
    expect((await whoami(browser)).status).to.equal(401);
    expect((await whoami(other)).status).to.equal(200);
    expect((await browser.post("/login", { name, password: PASSWORD })).status).to.equal(401);
    expect((await browser.post("/login", { name, password: next })).status).to.equal(303);
    const late = await make();
    edge.skewMs += 25 * 3_600_000;
    expect((await other.get(`/reset?token=${late}`)).status).to.equal(404);
  });

  it("take no link that was made before its user got another role, a password, or was disabled", async () => {
    const { path } = await person();
    const make = async (): Promise<string> =>
      (await edge.call("POST", `${path}/reset-link`)).body.detail.link.slice(edge.origin.length);
    const browser = new TestBrowser(edge.origin);
    const promoted = await make();
    await edge.call("PATCH", path, { body: { role: "owner" } });
    expect((await browser.get(promoted)).status).to.equal(404);
    const changed = await make();
    await edge.call("PUT", `${path}/password`, { body: { password: PASSWORD } });
    expect((await browser.get(changed)).status).to.equal(404);
    const disabled = await make();
    await edge.call("PATCH", path, { body: { disabled: true } });
    expect((await browser.get(disabled)).status).to.equal(404);
  });

  it("have no link for one's own user, for a higher role, or for who is no administrator", async () => {
    const admin = await edge.userWithRole("admin");
    const owner = await person("owner");
    const refused = async (token: string, path: string): Promise<number> =>
      (await edge.call("POST", `${path}/reset-link`, { token })).status;
    expect(await refused(admin.token, "/api/v1/users/me")).to.equal(403);
    expect(await refused(admin.token, owner.path)).to.equal(403);
    expect(await refused((await edge.userWithRole("maintainer")).token, owner.path)).to.equal(403);
    const body = { name: `invited-${made++}`, role: "owner" };
    expect((await edge.call("POST", "/api/v1/invitations", { token: admin.token, body })).status).to.equal(403);
  });
});

describe("the device flow", () => {
  let edge: TestEdge;
  before(async () => void (edge = await openTestEdge({ trustedProxies: [{ address: "127.0.0.0", bits: 8 }] })));
  after(() => edge.close());
  afterEach(() => void (edge.skewMs = 0));
  const GRANT = "urn:ietf:params:oauth:grant-type:device_code";

  const browserOf = async (name: string): Promise<TestBrowser> => {
    await edge.call("POST", "/api/v1/users", { body: { name, role: "operator", password: PASSWORD } });
    const browser = new TestBrowser(edge.origin);
    await browser.post("/login", { name, password: PASSWORD });
    return browser;
  };
  const send = async (path: string, fields: Record<string, string>, address = "192.0.2.9"): Promise<Answer> => {
    const raw = new URLSearchParams(fields).toString();
    const headers = { "content-type": "application/x-www-form-urlencoded", "x-forwarded-for": address };
    return edge.call("POST", `/api/v1/auth/device/${path}`, { token: null, raw, headers });
  };
  const code = async (address?: string): Promise<Answer["body"]> =>
    (await send("code", { client_id: "a <b>cli</b>" }, address)).body;
  const ask = (device_code: string): Promise<Answer> => send("token", { grant_type: GRANT, device_code });

  it("logs a program in whose user confirms it in a browser", async () => {
    const browser = await browserOf("ann");
    const asked = await code();
    expect(asked).to.include({ expires_in: 900, interval: 5, verification_uri: `${edge.origin}/device` });
    expect(asked.user_code).to.match(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
    const waiting = await ask(asked.device_code);
    expect(waiting.status).to.equal(400);
    expect(waiting.body).to.include({ error: "authorization_pending" }).and.to.have.property("error_description");
    expect((await ask(asked.device_code)).body.error).to.equal("slow_down");

    const path = asked.verification_uri_complete.slice(edge.origin.length);
    const anonymous = await new TestBrowser(edge.origin).get(path);
    expect(anonymous.location).to.equal(`/login?next=${encodeURIComponent(`/device?user_code=${asked.user_code}`)}`);
    expect((await browser.get(path)).text).to.include(asked.user_code);
    const typed = asked.user_code.toLowerCase().replace("-", " ");
    const confirm = await browser.post("/device", { user_code: typed });
    expect(confirm.text).to.include("a &lt;b&gt;cli&lt;/b&gt;").and.to.include("192.0.2.9").and.to.include("ann");
    expect((await ask(asked.device_code)).body.error, "a look admits nothing").to.not.equal(undefined);
    const admitted = await browser.post("/device", { user_code: asked.user_code, decision: "admit" });
    expect(admitted.text).to.include("logged in");
    const answers = await Promise.all([1, 2, 3].map(() => ask(asked.device_code)));
    expect(answers.map(({ status }) => status)).to.have.members([200, 400, 400]);
    const { body, headers } = answers.find(({ status }) => status === 200)!;
    expect(body).to.have.all.keys("access_token", "token_type", "expires_in", "refresh_token");
    expect(headers.get("cache-control")).to.equal("no-store");
    const sessions = await edge.call("GET", "/api/v1/users/me/sessions", { token: body.access_token });
    const own = sessions.body.detail.list.find(({ current }: { current: boolean }) => current);
    expect(own).to.include({ kind: "device", address: "192.0.2.9" });
    const refreshed = await edge.call("POST", "/api/v1/auth/refresh", {
      token: null,
      body: { refreshToken: body.refresh_token },
    });
    expect(refreshed.status).to.equal(200);
  });

  it("answers a refusal, an expiry and wrong questions in the words of the standard", async () => {
    const browser = await browserOf("bob");
    const refused = await code();
    await browser.post("/device", { user_code: refused.user_code, decision: "refuse" });
    expect((await ask(refused.device_code)).body.error).to.equal("access_denied");
    expect((await ask(refused.device_code)).body.error).to.equal("invalid_grant");
    const late = await code();
    edge.skewMs = 901_000;
    expect((await ask(late.device_code)).body.error).to.equal("expired_token");
    const page = await browser.post("/device", { user_code: late.user_code, decision: "admit" });
    expect(page.status).to.equal(400);
    edge.skewMs = 0;
    expect((await send("token", { grant_type: "password", device_code: "x" })).body.error).to.equal(
      "unsupported_grant_type",
    );
    expect((await send("token", { grant_type: GRANT })).body.error).to.equal("invalid_request");
    const json = await edge.call("POST", "/api/v1/auth/device/token", {
      token: null,
      body: { grant_type: GRANT, device_code: "mrd_x" },
    });
    expect(json.body.error).to.equal("invalid_grant");
    const broken = await edge.call("POST", "/api/v1/auth/device/code", { token: null, raw: "{", headers: {} });
    expect(broken.body, "an error that the standard does not know").to.include({
      code: 400,
      reason: "malformed_request",
    });
  });

  it("is confirmed only by a page of this server, and lets no user guess codes", async () => {
    const browser = await browserOf("eve");
    const asked = await code();
    const forged = await browser.post(
      "/device",
      { user_code: asked.user_code, decision: "admit" },
      { origin: "https://evil.example" },
    );
    expect(forged.status).to.equal(403);
    expect((await ask(asked.device_code)).body.error).to.equal("authorization_pending");
    const guesses = [];
    for (let guess = 0; guess < 12; guess++) guesses.push(await browser.post("/device", { user_code: "BBBB-BBBB" }));
    expect(guesses.map(({ status }) => status)).to.deep.equal([...Array<number>(10).fill(400), 429, 429]);
    expect((await browser.post("/device", { user_code: asked.user_code })).status, "also with the right one").to.equal(
      429,
    );
    const decided = await browser.post("/device", { user_code: asked.user_code, decision: "admit" });
    expect(decided.status, "a decision is a guess too").to.equal(429);
  });

  it("makes no more codes for an address than a person needs", async () => {
    const answers = await Promise.all(Array.from({ length: 25 }, () => send("code", {}, "203.0.113.77")));
    expect(answers.filter(({ status }) => status === 200)).to.have.length(20);
    expect(answers.filter(({ status }) => status === 429)).to.have.length(5);
  });
});
