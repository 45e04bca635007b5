/** The session that a browser is given for a personal token. */
import { once } from "node:events";
import { expect } from "chai";
import { WebSocket } from "ws";
import { redeemTicket } from "../../src/app/identity/tickets.ts";
import { issueToken, tokenIdOf } from "../../src/app/identity/tokens.ts";
import { TestBrowser } from "../support/browser.ts";
import { type Answer, openTestEdge, type TestEdge } from "../support/edge.ts";

const COOKIE = "millrace-session";
const CHECK_MS = 40;
const HOUR_MS = 3_600_000;

describe("a browser that shows a token", () => {
  let edge: TestEdge;
  before(async () => {
    const trustedProxies = [{ address: "127.0.0.0", bits: 8 }];
    edge = await openTestEdge({ refuseAfterMs: 20, sessionCheckMs: CHECK_MS, trustedProxies });
  });
  after(() => edge.close());
  afterEach(() => void (edge.skewMs = 0));

  const enter = async (token: string, next?: string) => {
    const browser = new TestBrowser(edge.origin);
    const answer = await browser.post("/login", { token, ...(next && { next }) });
    const call = (method: string, path: string, body?: unknown): Promise<Answer> => {
      const headers = { cookie: `${COOKIE}=${browser.cookie(COOKIE)}`, origin: edge.origin };
      return edge.call(method, `/api/v1${path}`, { token: null, headers, body });
    };
    return { browser, answer, call };
  };
  const tokenOf = async (body: object): Promise<string> =>
    (await edge.call("POST", "/api/v1/users/me/tokens", { body: { name: "page", ...body } })).body.detail.token;

  it("is its user, goes on to where it was, and leaves the token in no answer", async () => {
    const token = await tokenOf({});
    const { browser, answer, call } = await enter(` ${token}\n`, "/runs?status=failed");
    expect(answer).to.include({ status: 303, location: "/runs?status=failed" });
    expect(answer.headers.get("set-cookie")).to.match(
      /^millrace-session=mrp_\w+; Path=\/; Expires=[^;]+ GMT; HttpOnly; SameSite=Strict$/,
    );
    expect(answer.headers.get("set-cookie")).not.to.include(token.slice(-64));
    const { user } = (await edge.call("GET", "/api/v1/whoami")).body.detail;
    expect((await call("GET", "/whoami")).body.detail.user).to.deep.equal(user);
    expect((await call("POST", "/users/me/tokens", { name: "made by the session" })).status).to.equal(200);
    const { token: owner } = await edge.userWithRole("owner");
    const entries = (await edge.call("GET", "/api/v1/audit?operation=login", { token: owner })).body.detail.list;
    expect(entries[0].after).to.deep.equal({ kind: "browser", token: tokenIdOf(token) });
    expect(JSON.stringify(entries)).not.to.include(token.slice(-64));
    await browser.post("/logout", {});
    browser.setCookie(COOKIE, /mrp_\w+/.exec(answer.headers.get("set-cookie")!)![0]);
    expect((await call("GET", "/whoami")).status, "after the logout").to.equal(401);
    expect((await edge.call("GET", "/api/v1/whoami", { token })).status, "the token counts on").to.equal(200);
  });

  it("has no more rights than the token, whatever the role of its user", async () => {
    const { call } = await enter(await tokenOf({ scopes: ["read"] }));
    expect((await call("GET", "/pipelines")).status).to.equal(200);
    for (const [path, body] of [
      ["/pipelines", { name: "refused" }],
      ["/users/me/tokens", { name: "wider" }],
      ["/users", { name: "refused", role: "admin" }],
    ] as const) {
      const refused = await call("POST", path, body);
      expect(refused.status, path).to.equal(403);
      expect(refused.body.errMsg).to.include("scope");
    }
  });

  it("counts in the projects of the token alone, by cookie and by ticket", async () => {
    const { projectId } = (await edge.call("GET", "/api/v1/projects/default")).body.detail;
    const other = (await edge.call("POST", "/api/v1/projects", { body: { name: "Other", slug: "other-of-tokens" } }))
      .body.detail.projectId;
    const { call } = await enter(await tokenOf({ projects: [projectId] }));
    expect((await call("GET", `/projects/${projectId}`)).status).to.equal(200);
    expect((await call("GET", `/projects/${other}`)).status).to.equal(404);
    expect((await call("GET", "/users")).status).to.equal(403);
    expect((await call("POST", "/users/me/tokens", { name: "wider" })).status).to.equal(403);
    const { ticket } = (await call("POST", "/auth/tickets")).body.detail;
    const { caller } = await redeemTicket(edge.context, ticket);
    expect(caller).to.deep.include({ role: null, isNarrowed: true });
  });

  it("admits a device only with all rights of its user", async () => {
    const code = async (): Promise<string> =>
      (await edge.call("POST", "/api/v1/auth/device/code", { token: null, body: { client_id: "cli" } })).body.user_code;
    const narrow = await enter(await tokenOf({ scopes: ["write"] }));
    const refused = await narrow.browser.post("/device", { user_code: await code(), decision: "admit" });
    expect(refused.status).to.equal(403);
    expect(refused.text).to.include("scope");
    const whole = await enter(await tokenOf({}));
    const admitted = await whole.browser.post("/device", { user_code: await code(), decision: "admit" });
    expect(admitted.text).to.include("The device is logged in");
  });

  it("is logged out by the end of the token, and its open socket is closed", async () => {
    const token = await tokenOf({});
    const { browser, call } = await enter(token);
    const headers = { cookie: `${COOKIE}=${browser.cookie(COOKIE)}`, origin: edge.origin };
    const socket = new WebSocket(`ws://127.0.0.1:${edge.port}/api/v1/ws`, { headers });
    await once(socket, "open");
    const closed = once(socket, "close");
    await edge.call("DELETE", `/api/v1/users/me/tokens/${tokenIdOf(token)}`);
    expect((await call("GET", "/whoami")).status).to.equal(401);
    await closed;

    const short = await enter(await tokenOf({ expiresIn: "1h" }));
    const expires = Date.parse(/Expires=([^;]+)/.exec(short.answer.headers.get("set-cookie")!)![1]!);
    expect(expires - Date.now()).to.be.within(HOUR_MS - 60_000, HOUR_MS + 1_000);
    edge.skewMs = HOUR_MS - 60_000;
    expect((await short.call("GET", "/whoami")).status).to.equal(200);
    edge.skewMs = HOUR_MS + 1_000;
    expect((await short.call("GET", "/whoami")).status).to.equal(401);
  });

  it("is refused for what is no token of a user, without an echo, and is slowed down", async () => {
    const registration = await issueToken(edge.context, { kind: "registration", subject: "usr_x", name: "agents" });
    for (const token of [registration, "no-such-token", `${await tokenOf({})}0`]) {
      const { answer, browser } = await enter(token);
      expect(answer.status).to.equal(401);
      expect(answer.text).to.include("the token is unknown, wrong or expired").and.not.include(token);
      expect(browser.cookie(COOKIE)).to.equal(undefined);
    }
    const right = await tokenOf({});
    const from = { "x-forwarded-for": "203.0.113.9" };
    const browser = new TestBrowser(edge.origin);
    const post = async (token: string): Promise<number> => (await browser.post("/login", { token }, from)).status;
    const wrong = await Promise.all(Array.from({ length: 22 }, (_, at) => post(`wrong ${at}`)));
    expect(wrong.filter((status) => status === 429)).to.have.length(2);
    expect(await post(right), "also the right one waits").to.equal(429);
  });

  it("has a secret that proves no other kind of session", async () => {
    const { browser } = await enter(await tokenOf({ scopes: ["read"] }));
    const cookie = `${COOKIE}=${browser.cookie(COOKIE)!.replace("mrp_", "mrb_")}`;
    expect((await edge.call("GET", "/api/v1/whoami", { token: null, headers: { cookie } })).status).to.equal(401);
  });
});
