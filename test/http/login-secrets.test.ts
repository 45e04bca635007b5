/** What callers send at logins reaches no log, and what they choose breaks no header and no line. */
import { expect } from "chai";
import { once } from "node:events";
import { WebSocket } from "ws";
import type { Logger } from "../../src/domain/logger.ts";
import { TestBrowser } from "../support/browser.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";

const PASSWORD = "a password for no log";

describe("secrets of logins", () => {
  let edge: TestEdge;
  const lines: string[] = [];
  before(async () => {
    edge = await openTestEdge({ refuseAfterMs: 10 });
    const note = (facts: object, text: string): void => void lines.push(JSON.stringify([facts, text]));
    const log: Logger = { debug: note, info: note, warn: note, error: note };
    Object.assign(edge.context, { log });
  });
  after(() => edge.close());

  it("are in no line of the log, whatever happens to them", async () => {
    const create = { name: "ann", role: "viewer", password: PASSWORD };
    const { userId } = (await edge.call("POST", "/api/v1/users", { body: create })).body.detail;
    const wrong = "a wrong password for no log";
    const login = (password: string) =>
      edge.call("POST", "/api/v1/auth/login", { token: null, body: { name: "ann", password, refresh: true } });
    expect((await login(wrong)).status).to.equal(401);
    const { accessToken, refreshToken } = (await login(PASSWORD)).body.detail;
    const renewed = await edge.call("POST", "/api/v1/auth/refresh", { token: null, body: { refreshToken } });
    const { ticket } = (await edge.call("POST", "/api/v1/auth/tickets", { token: accessToken })).body.detail;
    for (let use = 0; use < 2; use++) {
      const socket = new WebSocket(`ws://127.0.0.1:${edge.port}/api/v1/ws?ticket=${ticket}`);
      socket.on("error", () => {});
      await Promise.race([once(socket, "open"), once(socket, "unexpected-response")]).catch(() => {});
      socket.terminate();
      await edge.call("GET", `/api/v1/pipelines/runs/r/artifacts/a/content?ticket=${ticket}`, { token: null });
    }
    const browser = new TestBrowser(edge.origin);
    await browser.post("/login", { name: "ann", password: wrong });
    await browser.post("/login", { name: "ann", password: PASSWORD });
    const cookie = browser.cookie("millrace-session")!;
    const { link } = (await edge.call("POST", `/api/v1/users/${userId}/reset-link`)).body.detail;
    const token = link.split("=")[1];
    await browser.get(link.slice(edge.origin.length));
    for (const password of ["short", PASSWORD, PASSWORD]) await browser.post("/reset", { token, password });
    const device = (await edge.call("POST", "/api/v1/auth/device/code", { token: null, body: {} })).body;
    await browser.get(device.verification_uri_complete.slice(edge.origin.length));
    await browser.get("/login/oidc/none/callback?code=a-code-for-no-log&state=x");

    expect(lines).to.have.length.above(15);
    const secrets = { wrong, PASSWORD, accessToken, refreshToken, ticket, cookie, token, code: "a-code-for-no-log" };
    const all = { ...secrets, ...renewed.body.detail, device: device.device_code, user: device.user_code };
    delete all.expiresIn;
    delete all.userId;
    for (const [name, secret] of Object.entries(all)) {
      expect(
        lines.filter((line) => line.includes(String(secret))),
        name,
      ).to.deep.equal([]);
    }
  });

  it("are asked for with any text as name and program, and none breaks a header or a line", async () => {
    const name = "ann\r\nSet-Cookie: a=b\u0000\u2028";
    const browser = new TestBrowser(edge.origin);
    const { status, headers, text } = await browser.post("/login", {
      name,
      password: "x",
      next: "/\r\nSet-Cookie: a=b",
    });
    expect(status).to.equal(401);
    expect(headers.getSetCookie()).to.deep.equal([]);
    expect(text).to.include("the name or the password is wrong");
    const forged = { "user-agent": `{"level":50}\u009b31m\u00a0` };
    const body = { name: "ann", password: PASSWORD };
    const { accessToken } = (await edge.call("POST", "/api/v1/auth/login", { token: null, body, headers: forged })).body
      .detail;
    const { list } = (await edge.call("GET", "/api/v1/users/me/sessions", { token: accessToken })).body.detail;
    expect(list.at(-1).userAgent).to.match(/^[\x20-\x7e]*$/);
    expect(lines.join("\n")).not.to.include("Set-Cookie");
  });
});
