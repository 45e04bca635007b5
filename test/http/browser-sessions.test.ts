/** Browsers over HTTP and WebSocket: the session cookie, pages of other sites, and tickets. */
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { expect } from "chai";
import { LIVE_ROUTES } from "../../src/http/live/live-routes.ts";
import { SESSION_ROUTES } from "../../src/http/login/login-routes.ts";
import { API_ROUTES } from "../../src/http/routes/all.ts";
import { WebSocket } from "ws";
import { beginSession, type LoginPlace } from "../../src/app/identity/login-sessions.ts";
import { browserSecretOf } from "../../src/app/identity/session-secrets.ts";
import { proveRequest, readCookie, requireOwnPage, sessionCookieName } from "../../src/app/identity/request-proof.ts";
import { type Answer, openTestEdge, type TestEdge } from "../support/edge.ts";
import { until } from "../support/until.ts";

const PLACE: LoginPlace = { address: "192.0.2.1", userAgent: "a browser" };
const CHECK_MS = 40;

describe("the session of a browser", () => {
  let edge: TestEdge;
  before(async () => void (edge = await openTestEdge({ sessionCheckMs: CHECK_MS })));
  after(() => edge.close());
  afterEach(() => void (edge.skewMs = 0));

  const browser = async (role: "viewer" | "admin" = "admin") => {
    const { name } = await edge.userWithRole(role);
    const user = (await edge.context.stores.identity.findUserByName(name))!;
    const session = await beginSession(edge.context, user, { kind: "browser", isRenewed: true, ...PLACE });
    const cookie = `millrace-session=${browserSecretOf(edge.context, session)}`;
    const call = (
      method: string,
      path: string,
      headers: Record<string, string> = {},
      body?: unknown,
    ): Promise<Answer> => edge.call(method, `/api/v1${path}`, { token: null, headers: { cookie, ...headers }, body });
    return { user, session, cookie, call };
  };
  const handshake = async (headers: Record<string, string>, query = ""): Promise<number> => {
    const socket = new WebSocket(`ws://127.0.0.1:${edge.port}/api/v1/ws${query}`, { headers });
    const opened = once(socket, "open").then(() => 101);
    const refused = new Promise<number>((resolve) => {
      socket.once("unexpected-response", (_request, response) => resolve(response.statusCode!));
    });
    socket.on("error", () => {});
    const status = await Promise.race([opened.catch(() => refused), refused]);
    socket.terminate();
    return status;
  };

  it("proves the caller of a read, with any origin or none", async () => {
    const { user, call } = await browser();
    expect((await call("GET", "/whoami")).body.detail.user.name).to.equal(user.name);
    const foreign = { origin: "https://evil.example", "sec-fetch-site": "cross-site" };
    expect((await call("GET", "/whoami", foreign)).status).to.equal(200);
  });

  it("changes something only for a page of this server", async () => {
    const { call } = await browser();
    const change = async (headers: Record<string, string>): Promise<number> =>
      (await call("POST", "/auth/tickets", headers)).status;
    const own = { origin: edge.origin };
    expect(await change(own)).to.equal(200);
    expect(await change({ ...own, "sec-fetch-site": "same-origin" })).to.equal(200);
    for (const headers of [
      {},
      { origin: "null" },
      { origin: "https://evil.example" },
      { origin: `${edge.origin}.evil.example` },
      { origin: edge.origin.replace(/:\d+$/, ":1") },
      { ...own, "sec-fetch-site": "cross-site" },
      { ...own, "sec-fetch-site": "same-site" },
      { ...own, "sec-fetch-site": "none" },
    ]) {
      expect(await change(headers), JSON.stringify(headers)).to.equal(403);
    }
    for (const [method, path] of [
      ["PUT", "/users/me/password"],
      ["PATCH", "/users/me"],
      ["DELETE", "/users/me/logins"],
    ] as const) {
      const answer = await call(method, path, { origin: "https://evil.example" }, method === "DELETE" ? undefined : {});
      expect(answer.body, path).to.include({ code: 403, reason: "forbidden" });
      expect(answer.body.errMsg).to.include("MILLRACE_PUBLIC_URL");
    }
  });

  it("gives way to a bearer, also to a wrong one", async () => {
    const { cookie } = await browser("viewer");
    const call = async (token: string): Promise<Answer> =>
      edge.call("POST", "/api/v1/auth/tickets", { token, headers: { cookie, origin: "https://evil.example" } });
    expect((await call(edge.adminToken)).status, "no cookie counts").to.equal(200);
    expect((await call("wrong")).status).to.equal(401);
    const basic = { cookie, authorization: "Basic dTpw" };
    const ofProxy = await edge.call("GET", "/api/v1/whoami", { token: null, headers: basic });
    expect(ofProxy.status, "credentials of a proxy are no bearer").to.equal(200);
    const value = cookie.split("=")[1]!;
    expect((await edge.call("GET", "/api/v1/whoami", { token: value })).status, "it is no bearer").to.equal(401);
  });

  it("is refused when it was changed, made up or ended", async () => {
    const { cookie, call } = await browser();
    const status = async (value: string): Promise<number> =>
      (await edge.call("GET", "/api/v1/whoami", { token: null, headers: { cookie: value } })).status;
    expect(await status(cookie)).to.equal(200);
    expect(await status(`other=1; ${cookie}; more`)).to.equal(200);
    expect(await status(cookie.replace(/.$/, (last) => (last === "0" ? "1" : "0")))).to.equal(401);
    expect(await status("millrace-session=")).to.equal(401);
    const out = await call("POST", "/auth/logout", { origin: edge.origin });
    expect(out.headers.get("set-cookie")).to.match(
      /^millrace-session=; Path=\/; Max-Age=0; HttpOnly; SameSite=Strict$/,
    );
    expect(await status(cookie)).to.equal(401);
  });

  it("lasts as long as it is used, and 90 days at most", async () => {
    const { call, session } = await browser();
    const found = () => edge.context.stores.logins.findSession(session.sessionId);
    let days = 0;
    for (; days + 13 < 90;) {
      days += 13;
      edge.skewMs = days * 86_400_000;
      expect((await call("GET", "/whoami")).status, `day ${days}`).to.equal(200);
      const at = edge.context.clock.now();
      await until("the use", async () => (await found())!.lastUsedAt > at - 60_000);
    }
    edge.skewMs = 91 * 86_400_000;
    expect((await call("GET", "/whoami")).status).to.equal(401);
  });

  it("opens a WebSocket from a page of this server, and the end of the session ends it", async () => {
    const { cookie, session, call } = await browser();
    expect(await handshake({ cookie, origin: edge.origin })).to.equal(101);
    for (const headers of [
      { cookie },
      { cookie, origin: "https://evil.example" },
      { cookie, origin: edge.origin, "sec-fetch-site": "cross-site" },
    ]) {
      expect(await handshake(headers as Record<string, string>), JSON.stringify(headers)).to.equal(403);
    }
    const socket = new WebSocket(`ws://127.0.0.1:${edge.port}/api/v1/ws`, { headers: { cookie, origin: edge.origin } });
    await once(socket, "open");
    const closed = once(socket, "close") as Promise<[number]>;
    const ended = await call("DELETE", `/users/me/sessions/${session.sessionId}`, { origin: edge.origin });
    expect(ended.status).to.equal(200);
    expect((await closed)[0]).to.equal(4401);
  });

  it("is answered when it ends itself, also after open calls were checked", async () => {
    const { logins } = edge.context.stores;
    const { session, call } = await browser();
    const { endSession, findSession } = logins;
    // No further check follows the one that finds the session ended, which may come before the end is confirmed.
    let isFoundEnded = false;
    logins.findSession = async (sessionId) => {
      const found = await findSession.call(logins, sessionId);
      if (sessionId === session.sessionId && found === undefined) isFoundEnded = true;
      return found;
    };
    logins.endSession = async (sessionId) => {
      const isEnded = await endSession.call(logins, sessionId);
      await until("a check of what is open", () => isFoundEnded);
      return isEnded;
    };
    try {
      const ended = await call("DELETE", `/users/me/sessions/${session.sessionId}`, { origin: edge.origin });
      expect(ended.status).to.equal(200);
    } finally {
      Object.assign(logins, { endSession, findSession });
    }
  });

  it("is not needed with a ticket, which opens one WebSocket within a minute", async () => {
    const { call, session } = await browser();
    const ticketOf = async (): Promise<string> => {
      const { detail } = (await call("POST", "/auth/tickets", { origin: edge.origin })).body;
      expect(detail.expiresIn).to.equal(60);
      return `?ticket=${detail.ticket}`;
    };
    const ticket = await ticketOf();
    const tries = await Promise.all([1, 2, 3].map(() => handshake({}, ticket)));
    expect(tries).to.have.members([101, 401, 401]);
    const late = await ticketOf();
    edge.skewMs = 61_000;
    expect(await handshake({}, late)).to.equal(401);
    edge.skewMs = 0;
    const ended = await ticketOf();
    await edge.context.stores.logins.endSession(session.sessionId);
    expect(await handshake({}, ended), "its session has ended").to.equal(401);
  });

  it("is not needed with a ticket for a download, and a ticket opens nothing else", async () => {
    const personal = (await edge.userWithRole("viewer")).token;
    const ticketOf = async (): Promise<string> =>
      (await edge.call("POST", "/api/v1/auth/tickets", { token: personal })).body.detail.ticket;
    const content = "/api/v1/pipelines/runs/run_1/artifacts/art_1/content/report.txt";
    const get = async (path: string, ticket: string, method = "GET"): Promise<number> => {
      const answer = await fetch(`${edge.origin}${path}?ticket=${ticket}`, { method });
      // A body that is left unread hides that its connection was closed, and a later call then takes that connection.
      await answer.body?.cancel();
      return answer.status;
    };
    const ticket = await ticketOf();
    expect(await get("/api/v1/whoami", ticket)).to.equal(401);
    expect(await get(content, ticket, "POST"), "not for a change").to.be.oneOf([401, 405]);
    expect(await get(content, ticket), "the caller is known, the artifact is not").to.equal(404);
    expect(await get(content, ticket), "it is used").to.equal(401);
    const opened: string[] = [];
    for (const route of [...API_ROUTES, ...LIVE_ROUTES, ...SESSION_ROUTES].filter((one) => one.method === "GET")) {
      const path = `/api/v1${route.path.replace("{/*path}", "").replaceAll(/:\w+/g, "unknown")}`;
      const status = await get(path, await ticketOf());
      if (route.path === "/ws") continue;
      if (status !== 401) opened.push(route.path);
      expect(status === 401, `${route.path}: ${status}`).to.equal(!route.acceptsTicket);
    }
    const page = await readFile("docs/http-api.md", "utf8");
    const section = page.slice(page.indexOf("A **ticket**"), page.indexOf("## Devices"));
    expect(opened.toSorted(), "those of the page").to.deep.equal(
      [...section.matchAll(/`GET ([^`]+)`/g)]
        .map(([, path]) => path!)
        .filter((path) => path !== "/ws")
        .toSorted(),
    );
    const next = await ticketOf();
    const { list } = (await edge.call("GET", "/api/v1/users/me/tokens", { token: personal })).body.detail;
    await edge.call("DELETE", `/api/v1/users/me/tokens/${list[0].tokenId}`, { token: personal });
    expect(await get(content, next), "its token was deleted").to.equal(401);
  });
});

describe("the cookie behind TLS", () => {
  const publicUrl = () => "https://ci.example.com";

  it("has the prefix that binds it to this host", () => {
    expect(sessionCookieName(publicUrl)).to.equal("__Host-millrace-session");
    expect(sessionCookieName(() => "http://127.0.0.1:8080")).to.equal("millrace-session");
    expect(readCookie({ cookie: "a=1; __Host-millrace-session=x=y" }, "__Host-millrace-session")).to.equal("x=y");
  });

  it("counts for pages of the public address, whatever host the proxy names, and for no page without TLS", () => {
    const check = (origin: string, host: string) => () => requireOwnPage({ origin, host }, publicUrl);
    expect(check("https://ci.example.com", "10.0.0.1:8080")).not.to.throw();
    expect(check("https://other.example.com", "other.example.com")).not.to.throw();
    expect(check("http://other.example.com", "other.example.com")).to.throw("must come from a page");
    expect(check("https://evil.example", "ci.example.com")).to.throw("https://evil.example");
    const headers = { origin: "https://ci.example.com", host: "10.0.0.1", "sec-fetch-site": "cross-site" };
    expect(() => requireOwnPage(headers, publicUrl)).to.throw("(Sec-Fetch-Site: cross-site)");
  });

  it("is not looked at under its other name", async () => {
    const headers = { cookie: "millrace-session=x" };
    const refusal = await proveRequest({} as never, publicUrl, { headers, isSafe: true }).catch(
      (error: unknown) => error,
    );
    expect(String(refusal)).to.include("no token");
  });
});
