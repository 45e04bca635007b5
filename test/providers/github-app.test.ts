/** Tokens of GitHub App installations, with a small server that verifies the proofs, checked against the published schemas. */
import { expect } from "chai";
import { generateKeyPairSync } from "node:crypto";
import { decodeJwt, decodeProtectedHeader } from "jose";
import type { GitFault } from "../../src/git/git-fault.ts";
import { apiSender } from "../../src/node/git.ts";
import { type GitHubApp, isAppOf, readApp } from "../../src/providers/github-app.ts";
import { type AppRight, type AppUse, InstallationTokens } from "../../src/providers/installation-tokens.ts";
import { openProvider } from "../../src/providers/provider-client.ts";
import { faultOf } from "../support/git-engine.ts";
import { ProviderServer } from "../support/provider-servers.ts";

const MINUTE = 60_000;
const HOST = "127.0.0.1";

describe("tokens of a GitHub App", () => {
  let server: ProviderServer;
  let tokens: InstallationTokens;
  let passedMs: number;
  let proofs: string[];
  const sender = apiSender({ networks: [{ address: "127.0.0.0", bits: 8 }], caFile: null });

  beforeEach(async () => {
    server = await new ProviderServer("github").start();
    passedMs = 0;
    proofs = [];
    tokens = new InstallationTokens({
      send: (request, signal) => {
        proofs.push(request.headers["authorization"]!.replace("Bearer ", ""));
        return sender(request, signal);
      },
      clock: { now: () => Date.now(), monotonic: () => passedMs },
    });
  });
  afterEach(() => server.stop());

  const appOf = (fields: object = {}) => readApp(server.apps.secret(HOST, fields)) as GitHubApp;
  const useOf = (fields: object = {}, more: Partial<AppUse> = {}): AppUse => ({
    app: appOf(fields),
    place: { name: "github", api: server.base, repository: ["team", "app"] },
    ...more,
  });
  const ask = (right: AppRight = "readCode", use = useOf()) => tokens.source(use).token(right);
  const plain = (token: string) => token.replace(/^x-access-token:/, "");

  async function refusal(use = useOf(), right: AppRight = "readCode"): Promise<GitFault> {
    const fault = await faultOf(ask(right, use));
    expect(fault.message).to.include("12345");
    for (const secret of [...proofs, "PRIVATE KEY", ...server.apps.issued.map(({ token }) => token)]) {
      expect(fault.message).to.not.include(secret);
    }
    return fault;
  }

  it("are made with a proof of the key for ten minutes, for one repository and the needed permissions", async () => {
    expect(plain(await ask("readCode"))).to.equal(server.apps.issued[0]!.token);
    expect(decodeProtectedHeader(proofs[0]!)).to.deep.equal({ alg: "RS256", typ: "JWT" });
    const { iss, iat = 0, exp = 0, ...others } = decodeJwt(proofs[0]!);
    expect(iss).to.equal("12345");
    expect(others).to.deep.equal({});
    expect(exp - iat).to.equal(600);
    expect(iat).to.be.closeTo(Date.now() / 1_000 - 60, 10);
    for (const right of ["writeCode", "proposals", "statuses", "webhooks"] as const) await ask(right);
    const given = server.apps.issued.map(({ repositories, permissions }) => {
      expect(repositories).to.deep.equal(["app"]);
      return permissions;
    });
    expect(given).to.deep.equal([
      { metadata: "read", contents: "read" },
      { metadata: "read", contents: "write" },
      { metadata: "read", contents: "read", pull_requests: "write" },
      { metadata: "read", statuses: "write" },
      { metadata: "read", repository_hooks: "write" },
    ]);
    await ask("readCode", useOf({}, { isWide: true }));
    expect(server.apps.issued.at(-1)!.repositories).to.equal(undefined);
  });

  it("are kept until ten minutes before their end, for those with the same key only", async () => {
    const [one, other] = await Promise.all([ask(), ask()]);
    expect(other).to.equal(one);
    passedMs = 49 * MINUTE;
    expect(await ask()).to.equal(one);
    expect(server.apps.issued).to.have.length(1);
    passedMs = 51 * MINUTE;
    const next = await ask();
    expect(next).to.not.equal(one);
    expect(await ask()).to.equal(next);
    // One who knows the App's number has nothing of what the key has opened.
    const foreign = useOf({ privateKey: server.apps.foreignKey });
    expect((await refusal(foreign)).kind).to.equal("appKey");
    // Short-lived ones are renewed halfway.
    server.apps.lifeMs = 4 * MINUTE;
    const short = await ask("statuses");
    passedMs += MINUTE;
    expect(await ask("statuses")).to.equal(short);
    passedMs += 2 * MINUTE;
    expect(await ask("statuses")).to.not.equal(short);
  });

  it("are good for as long as the host says, whatever the clock of this node shows", async () => {
    server.apps.aheadMs = 50_000;
    server.apps.lifeMs = 20 * MINUTE;
    const one = await ask();
    passedMs = 9.9 * MINUTE;
    expect(await ask()).to.equal(one);
    passedMs = 10.1 * MINUTE;
    expect(await ask()).to.not.equal(one);
  });

  it("are refused with a code and the way out", async () => {
    const { apps } = server;
    for (const [fields, kind, words] of [
      [{ privateKey: apps.foreignKey }, "appKey", "401 A JSON web token could not be decoded: make a new private key"],
      [{ appId: 999 }, "appKey", "401"],
      [{ installationId: 4 }, "appNotInstalled", "404 Not Found: correct `installationId`"],
    ] as const) {
      const fault = await faultOf(ask("readCode", useOf(fields)));
      expect(fault.kind, fault.message).to.equal(kind);
      expect(fault.message).to.include(words);
    }
    apps.aheadMs = 10 * MINUTE;
    const behind = await refusal();
    expect(behind.kind).to.equal("clockSkew");
    expect(behind.message).to.match(/the clock of this node is (599|600|601) s behind that of the host/);
    apps.aheadMs = -10 * MINUTE;
    expect((await refusal()).message).to.match(/(599|600|601) s ahead of that of the host: let NTP set it/);
    apps.aheadMs = 0;
    apps.isSuspended = true;
    const suspended = await refusal(useOf({}, { isOfApi: true }));
    expect(suspended).to.include({ kind: "appSuspended", isOfApi: true });
    expect(suspended.message).to.include("403 This installation has been suspended");
    apps.isSuspended = false;
    apps.permissions = { metadata: "read", contents: "read" };
    const lacking = await refusal(useOf(), "proposals");
    expect(lacking.kind).to.equal("appPermission");
    expect(lacking.message).to.include("give the App contents: read and pull_requests: write, and accept that");
    apps.repositories = ["other"];
    const hidden = await refusal();
    expect(hidden.kind).to.equal("appNotInstalled");
    expect(hidden.message).to.include("let the installation reach the repository team/app");
    // A refusal is not kept.
    apps.repositories = ["app"];
    expect(plain(await ask())).to.equal(apps.issued.at(-1)!.token);
  });

  it("are asked for again after a fault of the host", async () => {
    let answer: readonly [status: number, headers: Readonly<Record<string, string>>, text: string];
    const flaky = new InstallationTokens({
      send: async () => ({ status: answer[0], headers: answer[1], text: answer[2] }),
      clock: { now: () => Date.now(), monotonic: () => passedMs },
    });
    for (const [given, kind, seconds] of [
      [[503, { "retry-after": "7" }, ""], "unreachable", 7],
      [[429, { "retry-after": "7" }, ""], "tooMany", 7],
      [[403, { "x-ratelimit-remaining": "0" }, ""], "tooMany", 60],
      [[403, {}, '{"message":"IP allow list"}'], "authentication", null],
      [[302, {}, ""], "redirected", null],
      [[201, {}, '{"token":'], "cutOff", null],
      [[201, {}, '{"token":"a\\nb","expires_at":"2026-01-01T00:00:00Z"}'], "cutOff", null],
    ] as const) {
      answer = given;
      const fault = await faultOf(flaky.source(useOf()).token("readCode"));
      expect(fault, fault.message).to.include({ kind, retryAfterSeconds: seconds });
    }
    const use = useOf();
    await server.stop();
    expect((await refusal(use)).kind).to.equal("unreachable");
    await server.start();
  });

  it("open the API, and are renewed when the host refuses one before its time", async () => {
    const source = tokens.source(useOf());
    const provider = openProvider(useOf().place, source, sender);
    await provider.setStatus({ commit: "a".repeat(40), name: "x", state: "success", description: "", url: null });
    expect(await provider.hooks()).to.deep.equal([]);
    const made = await provider.propose({ branch: "b", target: "main", title: "t", body: "" });
    expect(made.number).to.equal(1);
    const { length } = server.apps.issued;
    server.apps.revokeAll();
    expect(await provider.find("b", "main")).to.include({ number: 1 });
    expect(await provider.find("b", "main")).to.include({ number: 1 });
    expect([length, server.apps.issued.length]).to.deep.equal([3, 1]);
    // What its token is not for, it cannot do.
    const reads = openProvider(useOf().place, { ...source, token: () => ask("statuses") }, sender);
    const fault = await faultOf(reads.hooks());
    expect(fault.kind).to.equal("readOnly");
    expect(fault.message).to.include("Resource not accessible by integration");
  });
});

describe("the secret of a GitHub App", () => {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }) as string;
  const good = { appId: 1, installationId: 2, privateKey: pem };

  it("has the App, the installation, the key, and the host if it is not github.com", () => {
    expect(readApp(JSON.stringify(good))).to.deep.include({ appId: "1", installationId: 2, host: "github.com" });
    const texts = { ...good, appId: "Iv23liABCDEF", installationId: "77", host: "GHE.example.com:8443" };
    const read = readApp(` ${JSON.stringify(texts)}\n`) as GitHubApp;
    expect(read).to.deep.include({ appId: "Iv23liABCDEF", installationId: 77, host: "ghe.example.com:8443" });
    for (const [host, api, isOf] of [
      ["github.com", "https://api.github.com", true],
      ["github.com", "https://evil.example/api/v3", false],
      ["github.com", "https://api.github.com.evil.example/api/v3", false],
      ["ghe.example.com", "https://ghe.example.com:443/api/v3", true],
      ["ghe.example.com", "https://ghe.example.com:8443/api/v3", false],
      ["corp.ghe.com", "https://api.corp.ghe.com", true],
    ] as const) {
      expect(isAppOf({ host }, { api }), `${host} ${api}`).to.equal(isOf);
    }
  });

  it("is refused without showing it", () => {
    const small = generateKeyPairSync("rsa", { modulusLength: 1_024 }).privateKey;
    const curve = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
    const sealed = privateKey.export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "x" });
    const pemOf = (key: typeof small) => key.export({ type: "pkcs8", format: "pem" });
    for (const [text, words] of [
      [`{"privateKey":"${pem}"}`, "no JSON; line feeds"],
      [JSON.stringify([good]), "must be an object"],
      [JSON.stringify({ ...good, appId: 0 }), "`appId` must be"],
      [JSON.stringify({ ...good, appId: "../x" }), "`appId` must be"],
      [JSON.stringify({ ...good, installationId: "1/../2" }), "`installationId` must be"],
      [JSON.stringify({ ...good, host: "https://x" }), "`host` must be"],
      [JSON.stringify({ ...good, extra: 1 }), "must be an object with"],
      [JSON.stringify({ ...good, privateKey: "no key" }), "`privateKey` must be"],
      [JSON.stringify({ ...good, privateKey: pemOf(small) }), "`privateKey` must be"],
      [JSON.stringify({ ...good, privateKey: pemOf(curve) }), "`privateKey` must be"],
      [JSON.stringify({ ...good, privateKey: sealed }), "without a passphrase"],
    ] as const) {
      const problem = readApp(text);
      expect(problem).to.be.a("string").that.includes(words);
      expect(problem).to.not.include("BEGIN");
    }
  });
});
