/** A pipeline whose credential is a GitHub App: Git over HTTP and the API of the host, with a real Git server. */
import { expect } from "chai";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../src/domain/clock.ts";
import { checkoutToken } from "../../src/app/git/checkout-token.ts";
import { InstallationTokens } from "../../src/providers/installation-tokens.ts";
import { apiSender } from "../../src/node/git.ts";
import { BareRepository } from "../support/bare-repository.ts";
import { at, DEFINITION_PATH, fileOf, GitEdge, specOf, textOf } from "../support/git-edge.ts";
import { ProviderServer } from "../support/provider-servers.ts";

describe("a repository that is opened by a GitHub App", () => {
  let git: GitEdge;
  let host: ProviderServer;
  let origin: BareRepository;
  let appHost: string;
  let repoUrl: string;
  let pipelineId: string;

  const keep = (value: string, name = "APP") =>
    git.edge.call("POST", "/api/v1/projects/default/secrets", { body: { name, value } });
  const change = (value: string) => git.edge.call("PUT", "/api/v1/projects/default/secrets/APP", { body: { value } });
  const check = async () => (await git.edge.call("POST", at(pipelineId, "/repository/check"))).body.detail;

  before(async () => {
    git = await GitEdge.open();
    host = await new ProviderServer("github").start();
    const { server } = git.world;
    server.intercept = (request, response) => {
      if (!host.isMine(request)) return false;
      void host.answer(request, response);
      return true;
    };
    server.accepts = (user, password, isPush) =>
      user === "x-access-token" && host.apps.opens(password, "app", "contents", isPush ? "write" : "read");
    appHost = new URL(server.origin).host;
    await keep(host.apps.secret(appHost));
    origin = new BareRepository(git.world.folder, "team/app");
    origin.commit({ [DEFINITION_PATH]: textOf("echo 1") });
    repoUrl = `${server.origin}/team/app.git`;
    const created = await git.create({ repoUrl, repoCredential: "APP", repoProvider: "github" });
    expect(created.status, JSON.stringify(created.body)).to.equal(200);
    pipelineId = created.body.detail.pipelineId;
  });
  after(async () => {
    await git.close();
    await host.stop();
  });

  it("is read with one token, and saved to with another", async () => {
    expect((await git.spec(pipelineId)).text).to.equal(textOf("echo 1"));
    expect((await git.spec(pipelineId)).text).to.equal(textOf("echo 1"));
    expect(host.apps.issued.map(({ permissions }) => permissions["contents"])).to.deep.equal(["read"]);
    const saved = await git.save(pipelineId, { spec: specOf("echo 2") });
    expect(saved.status, JSON.stringify(saved.body)).to.equal(200);
    expect(fileOf(origin)).to.equal(textOf("echo 2"));
    expect(host.apps.issued.map(({ permissions }) => permissions["contents"])).to.deep.equal(["read", "write"]);
    expect(await check()).to.include({ canRead: true, canPush: true, canManageHooks: true });
  });

  it("is proposed to with the token for that", async () => {
    const changed = await git.edge.call("PUT", at(pipelineId), { body: { saveMode: "pr" } });
    expect(changed.status, JSON.stringify(changed.body)).to.equal(200);
    const saved = await git.save(pipelineId, { spec: specOf("echo 3") });
    expect(saved.body.detail.pullRequest, JSON.stringify(saved.body)).to.include({ number: 1 });
    await git.edge.call("PUT", at(pipelineId), { body: { saveMode: "direct" } });
  });

  it("is opened again when the host has ended the token, and with a new key from then on", async () => {
    host.apps.revokeAll();
    expect((await git.spec(pipelineId)).text).to.equal(textOf("echo 2"));
    await change(host.apps.secret(appHost, { privateKey: host.apps.foreignKey }));
    const refused = await git.edge.call("GET", at(pipelineId, "/spec"));
    expect(refused.status).to.equal(422);
    expect(refused.body.errors[0]).to.include({ code: "git_app_key", pointer: "/repoCredential" });
    await change(host.apps.secret(appHost));
    expect((await git.spec(pipelineId)).text).to.equal(textOf("echo 2"));
  });

  it("is refused with a code for what is in the way", async () => {
    host.apps.permissions = { metadata: "read", contents: "read" };
    await change(host.apps.secret(appHost, { installationId: "0678".slice(1) }));
    const { problems, ...found } = await check();
    expect(found).to.include({ canRead: true, canPush: false, canManageHooks: false });
    expect(problems[0]).to.include({ code: "git_app_permission", pointer: "/repoCredential" });
    host.apps.isSuspended = true;
    expect((await check()).problems[0]).to.include({ code: "git_app_suspended" });
    host.apps.isSuspended = false;
    host.apps.aheadMs = 3_600_000;
    await change(host.apps.secret(appHost));
    host.apps.revokeAll();
    const skewed = await git.edge.call("GET", at(pipelineId, "/spec"));
    expect([skewed.status, skewed.body.errors[0].code]).to.deep.equal([503, "git_clock_skew"]);
    host.apps.aheadMs = 0;
    host.apps.repositories = [];
    expect((await check()).problems[0]).to.include({ code: "git_app_not_installed" });
    host.apps.repositories = ["app"];
  });

  it("sends no proof of the key to another host", async () => {
    await keep(host.apps.secret("github.com"), "ELSEWHERE");
    await keep("{ no JSON", "BROKEN");
    const { calls } = host;
    for (const [fields, words] of [
      [{ repoUrl, repoCredential: "ELSEWHERE" }, `of 127.0.0.1: the App of this one is at github.com`],
      [{ repoUrl, repoCredential: "BROKEN" }, "it is no JSON"],
      [{ repoUrl: "git@127.0.0.1:team/app.git", repoCredential: "APP" }, "write its address with https://"],
    ] as const) {
      const refused = await git.create(fields);
      expect(refused.status).to.equal(400);
      expect(refused.body.errors[0].pointer).to.equal("/repoCredential");
      expect(refused.body.errors[0].message).to.include(words);
    }
    expect(host.calls).to.equal(calls);
  });

  it("is checked out by agents with a token that may only read", async () => {
    const send = apiSender({ networks: [{ address: "127.0.0.0", bits: 8 }], caFile: null });
    const appTokens = new InstallationTokens({ send, clock: systemClock });
    const context = { git: { appTokens } } as never;
    const secret = host.apps.secret(appHost);
    const token = await checkoutToken(context, { repoUrl, hasSubmodules: false, secret });
    expect(token).to.equal(`x-access-token:${host.apps.issued.at(-1)!.token}`);
    expect(host.apps.issued.at(-1)!.permissions).to.deep.equal({ metadata: "read", contents: "read" });
    expect(host.apps.issued.at(-1)!.repositories).to.deep.equal(["app"]);
    await checkoutToken(context, { repoUrl, hasSubmodules: true, secret });
    expect(host.apps.issued.at(-1)!.repositories).to.equal(undefined);
  });

  it("leaves neither key nor token in a file of Git", () => {
    const secrets = ["PRIVATE KEY", "eyJ", ...host.apps.issued.map(({ token }) => token)];
    const folder = join(git.world.folder, "cache");
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));
    const texts = files.filter((file) => statSync(file).isFile()).map((file) => readFileSync(file, "latin1"));
    expect(texts).to.not.deep.equal([]);
    for (const secret of secrets) expect(texts.filter((text) => text.includes(secret))).to.deep.equal([]);
  });
});
