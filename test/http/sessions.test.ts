/** Sessions of logins over HTTP: refresh tokens, logout, lists, and the last use of personal tokens. */
import { expect } from "chai";
import { signAccessToken } from "../../src/app/identity/access-tokens.ts";
import { pruneRecords } from "../../src/app/upkeep/prune-records.ts";
import { asId, type SessionId } from "../../src/domain/ids.ts";
import { type Answer, openTestEdge, type TestEdge } from "../support/edge.ts";
import { until } from "../support/until.ts";

const PASSWORD = "a password of these tests";

describe("sessions of logins over HTTP", () => {
  let edge: TestEdge;
  let made = 0;
  before(async () => void (edge = await openTestEdge({ trustedProxies: [{ address: "127.0.0.0", bits: 8 }] })));
  after(() => edge.close());
  afterEach(() => void (edge.skewMs = 0));

  const person = async (): Promise<{ name: string; path: string }> => {
    const name = `person-${made++}`;
    const { body } = await edge.call("POST", "/api/v1/users", { body: { name, role: "viewer", password: PASSWORD } });
    return { name, path: `/api/v1/users/${body.detail.userId}` };
  };
  const login = async (
    name: string,
    more: object = {},
    headers: Record<string, string> = {},
  ): Promise<Answer["body"]> =>
    (
      await edge.call("POST", "/api/v1/auth/login", {
        token: null,
        body: { name, password: PASSWORD, ...more },
        headers,
      })
    ).body.detail;
  const refresh = (refreshToken: string): Promise<Answer> =>
    edge.call("POST", "/api/v1/auth/refresh", { token: null, body: { refreshToken } });
  const statusOf = async (token: string): Promise<number> =>
    (await edge.call("GET", "/api/v1/whoami", { token })).status;

  it("answer a refresh token only when it is asked for", async () => {
    const { name } = await person();
    expect(await login(name)).to.have.all.keys("accessToken", "expiresIn", "user");
    expect(await login(name, { refresh: true })).to.have.all.keys("accessToken", "expiresIn", "user", "refreshToken");
  });

  it("go on with refresh tokens, each of which is spent by its use", async () => {
    const { name } = await person();
    const first = await login(name, { refresh: true });
    edge.skewMs = 16 * 60_000;
    expect(await statusOf(first.accessToken)).to.equal(401);
    const second = (await refresh(first.refreshToken)).body.detail;
    expect(second.refreshToken).not.to.equal(first.refreshToken);
    expect(second.expiresIn).to.equal(900);
    expect(await statusOf(second.accessToken)).to.equal(200);
    edge.skewMs += 20 * 86_400_000;
    const third = (await refresh(second.refreshToken)).body.detail;
    edge.skewMs += 31 * 86_400_000;
    const late = await refresh(third.refreshToken);
    expect(late.body).to.include({ code: 401, reason: "unauthenticated" });
  });

  it("give a repeated refresh the same successor for some seconds, also at the same moment", async () => {
    const { name } = await person();
    const { refreshToken } = await login(name, { refresh: true });
    const answers = await Promise.all([refresh(refreshToken), refresh(refreshToken), refresh(refreshToken)]);
    const successors = new Set(answers.map(({ body }) => body.detail.refreshToken));
    expect([...successors]).to.have.length(1);
    edge.skewMs = 9_000;
    expect((await refresh(refreshToken)).body.detail.refreshToken).to.equal([...successors][0]);
    for (const { body } of answers) expect(await statusOf(body.detail.accessToken)).to.equal(200);
  });

  it("end when a spent refresh token is used again", async () => {
    const { name } = await person();
    const first = await login(name, { refresh: true });
    const second = (await refresh(first.refreshToken)).body.detail;
    edge.skewMs = 11_000;
    const reused = await refresh(first.refreshToken);
    expect(reused.body).to.include({ code: 401, reason: "unauthenticated" });
    expect(reused.body.errMsg).to.include("used before");
    expect(await statusOf(second.accessToken)).to.equal(401);
    expect((await refresh(second.refreshToken)).status).to.equal(401);
  });

  it("are not ended by a caller who guesses a refresh token", async () => {
    const { name } = await person();
    const { accessToken, refreshToken } = await login(name, { refresh: true });
    const [, sessionId] = /^mrr_(ses_\w+?)_0_/.exec(refreshToken)!;
    for (const guess of [
      refreshToken.replace(/.$/, (last: string) => (last === "0" ? "1" : "0")),
      refreshToken.replace("_0_", "_1_"),
      `mrr_${sessionId}_0_${"0".repeat(64)}`,
      "",
      "mrr_",
      accessToken,
    ]) {
      expect((await refresh(guess)).status, guess).to.equal(401);
    }
    expect(await statusOf(accessToken)).to.equal(200);
    expect(await statusOf(refreshToken), "a refresh token is no bearer").to.equal(401);
  });

  it("are listed with their place, and end one by one, by logout and all together", async () => {
    const { name, path } = await person();
    const agent = `curl/8 \u00ff${"x".repeat(500)}`;
    const one = await login(name, {}, { "user-agent": agent, "x-forwarded-for": "192.0.2.7" });
    const two = await login(name, { refresh: true });
    const three = await login(name);
    const list = async (token: string): Promise<Answer["body"]> =>
      (await edge.call("GET", "/api/v1/users/me/sessions", { token })).body.detail;
    const listed = await list(two.accessToken);
    expect(listed.total).to.equal(3);
    const [first, second] = listed.list;
    expect(first).to.deep.include({ kind: "api", address: "192.0.2.7", current: false });
    expect(first.userAgent)
      .to.match(/^curl\/8 \?x+$/)
      .and.to.have.length(200);
    expect(second.current).to.equal(true);
    expect((await edge.call("GET", `${path}/sessions`)).body.detail.total, "an administrator").to.equal(3);
    const another = (await person()).name;
    const other = (await login(another)).accessToken;
    expect((await edge.call("GET", `${path}/sessions`, { token: other })).status).to.equal(403);
    const foreign = `/api/v1/users/me/sessions/${first.sessionId}`;
    expect((await edge.call("DELETE", foreign, { token: other })).status).to.equal(404);

    expect((await edge.call("DELETE", foreign, { token: two.accessToken })).status).to.equal(200);
    expect(await statusOf(one.accessToken)).to.equal(401);
    expect((await edge.call("POST", "/api/v1/auth/logout", { token: three.accessToken })).status).to.equal(200);
    expect(await statusOf(three.accessToken)).to.equal(401);
    expect((await list(two.accessToken)).total).to.equal(1);
    expect((await edge.call("DELETE", `${path}/logins`)).status).to.equal(200);
    expect(await statusOf(two.accessToken)).to.equal(401);
    expect((await refresh(two.refreshToken)).status).to.equal(401);
    expect((await edge.call("GET", `${path}/sessions`)).body.detail.total).to.equal(0);
  });

  it("end with a new password, and while the user is disabled no refresh counts", async () => {
    const { name, path } = await person();
    const one = await login(name, { refresh: true });
    await edge.call("PATCH", path, { body: { disabled: true } });
    expect((await refresh(one.refreshToken)).status).to.equal(401);
    await edge.call("PATCH", path, { body: { disabled: false } });
    const two = (await refresh(one.refreshToken)).body.detail;
    const body = { password: "another password of it" };
    expect((await edge.call("PUT", `${path}/password`, { body })).status).to.equal(200);
    expect(await statusOf(two.accessToken)).to.equal(401);
    expect((await refresh(two.refreshToken)).status).to.equal(401);
  });

  it("leave access tokens of the previous release as they were, which have no session", async () => {
    const { name, path } = await person();
    const { userId } = (await edge.context.stores.identity.findUserByName(name))!;
    const token = await signAccessToken(edge.context, userId);
    expect(await statusOf(token)).to.equal(200);
    const refused = await edge.call("POST", "/api/v1/auth/logout", { token });
    expect(refused.body).to.include({ code: 409, reason: "conflict" });
    edge.skewMs = 1_000;
    await edge.call("DELETE", `${path}/logins`);
    expect(await statusOf(token)).to.equal(401);
  });

  it("cost a call one read of the session and no write", async () => {
    const { name } = await person();
    const { accessToken } = await login(name, { refresh: true });
    const { logins } = edge.context.stores;
    const calls: string[] = [];
    const original = { ...logins };
    for (const key of Object.keys(logins) as (keyof typeof logins)[]) {
      const call = logins[key] as (...args: unknown[]) => unknown;
      Object.assign(logins, {
        [key]: (...args: unknown[]) => {
          calls.push(key);
          return call(...args);
        },
      });
    }
    try {
      expect(await statusOf(accessToken)).to.equal(200);
    } finally {
      Object.assign(logins, original);
    }
    expect(calls).to.deep.equal(["findSession"]);
  });

  it("are forgotten by the upkeep once nothing can rest on them any more", async () => {
    const { name } = await person();
    await login(name);
    const { userId } = (await edge.context.stores.identity.findUserByName(name))!;
    const [session] = await edge.context.stores.logins.listSessions(userId);
    const found = () => edge.context.stores.logins.findSession(asId<SessionId>(session!.sessionId));
    const prune = async (): Promise<void> => {
      for await (const _ of pruneRecords(edge.context, 1_000 * 86_400_000, 400 * 86_400_000));
    };
    edge.skewMs = 60 * 60_000;
    await prune();
    expect(await found(), "a socket may be open").not.to.equal(undefined);
    edge.skewMs = 13 * 60 * 60_000;
    await prune();
    expect(await found()).to.equal(undefined);
  });

  it("are beside personal tokens, whose last use is noted at most once a minute", async () => {
    const { name } = await person();
    const { accessToken } = await login(name);
    const body = { name: "ci" };
    const { token } = (await edge.call("POST", "/api/v1/users/me/tokens", { token: accessToken, body })).body.detail;
    const lastUse = async (): Promise<string | null> =>
      (await edge.call("GET", "/api/v1/users/me/tokens", { token: accessToken })).body.detail.list[0].lastUsedAt;
    expect(await lastUse()).to.equal(null);
    await statusOf(token);
    const first = await until("the first use", async () => (await lastUse()) ?? undefined);
    edge.skewMs = 50_000;
    await statusOf(token);
    const { identity } = edge.context.stores;
    expect(await lastUse()).to.equal(first);
    edge.skewMs = 61_000;
    identity.noteTokenUse = ((note) => async (tokenId, at) => {
      identity.noteTokenUse = note;
      await note(tokenId, at);
      throw new Error("a fault is no fault of the call");
    })(identity.noteTokenUse);
    expect(await statusOf(token)).to.equal(200);
    await until("the next use", async () => (await lastUse()) !== first);
  });

  it("slow down who guesses a password with a token, as wrong logins are", async () => {
    const { name } = await person();
    const { accessToken: token } = await login(name);
    const guess = (currentPassword: string, address: string) =>
      edge.call("PUT", "/api/v1/users/me/password", {
        token,
        body: { currentPassword, password: PASSWORD },
        headers: { "x-forwarded-for": address },
      });
    const guesses = await Promise.all(Array.from({ length: 25 }, (_, at) => guess(`wrong ${at}`, "203.0.113.9")));
    expect(guesses.filter(({ status }) => status === 403)).to.have.length(20);
    expect(guesses.filter(({ status }) => status === 429)).to.have.length(5);
    expect((await guess(PASSWORD, "192.0.2.44")).status, "from elsewhere").to.equal(200);
  });
});
