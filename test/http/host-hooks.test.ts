/** Webhooks at the host of a repository over HTTP, with a real Git server and a small server of GitHub's API. */
import { expect } from "chai";
import { createHmac } from "node:crypto";
import { BareRepository } from "../support/bare-repository.ts";
import { at, DEFINITION_PATH, GitEdge, textOf } from "../support/git-edge.ts";
import { ProviderServer, TOKEN } from "../support/provider-servers.ts";

const PUBLIC = "https://ci.example.org";

describe("the webhook at the host of a repository", () => {
  let git: GitEdge;
  let host: ProviderServer;
  let pipelineId: string;
  before(async () => {
    git = await GitEdge.open();
    host = await new ProviderServer("github").start();
    git.world.server.intercept = (request, response) => {
      if (!host.isMine(request)) return false;
      void host.answer(request, response);
      return true;
    };
    await git.edge.call("POST", "/api/v1/projects/default/secrets", { body: { name: "API", value: TOKEN } });
    const origin = new BareRepository(git.world.folder, "team/app");
    origin.commit({ [DEFINITION_PATH]: textOf("echo 1") });
    const repoUrl = `${git.world.server.origin}/team/app.git`;
    const fields = { repoUrl, repoCredential: "CODE", repoApiCredential: "API", repoProvider: "github" };
    const created = await git.create(fields);
    expect(created.status, JSON.stringify(created.body)).to.equal(200);
    pipelineId = created.body.detail.pipelineId;
  });
  after(async () => {
    await git.close();
    await host.stop();
  });
  afterEach(() => {
    host.intercept = () => false;
  });

  const connect = (options: object = {}) =>
    git.edge.call("POST", at(pipelineId, "/repository/webhook"), { ...options });
  const check = async () => (await git.edge.call("POST", at(pipelineId, "/repository/webhook/check"))).body.detail;
  const codesOf = ({ problems }: { problems: readonly { code: string }[] }) => problems.map(({ code }) => code);
  const publicUrl = (url: string | undefined) => Object.assign(git.edge.context, { publicUrl: url });

  it("is not made while the address of the installation is unknown, or by an operator", async () => {
    const refused = await connect();
    expect(refused.body, JSON.stringify(refused.body)).to.include({ code: 409, reason: "conflict" });
    expect(refused.body.errMsg).to.include("MILLRACE_PUBLIC_URL");
    const { token } = await git.edge.userWithRole("operator");
    expect((await connect({ token })).status).to.equal(403);
    expect(host.hooks.stored).to.deep.equal([]);
  });

  it("is made once with the hook and its secret, and its deliveries are taken", async () => {
    publicUrl(PUBLIC);
    expect(codesOf(await check())).to.deep.equal(["missing"]);
    const both = await Promise.all([connect(), connect()]);
    const outcomes = both.map(({ body }) => body.detail.outcome);
    expect(outcomes, JSON.stringify(both.map(({ body }) => body))).to.have.members(["made", "unchanged"]);
    const { hookId, address, problems, webhook } = both[0]!.body.detail;
    expect(address).to.equal(`${PUBLIC}/api/v1/hooks/${hookId}`);
    expect(problems).to.deep.equal([]);
    expect(webhook).to.deep.include({ url: address, active: true, lastStatus: null });
    expect(host.hooks.stored).to.have.length(1);
    const { secret, url } = host.hooks.stored[0]!;
    expect(url).to.equal(address);
    const body = JSON.stringify({ zen: "Keep it logically awesome." });
    const signature = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
    const headers = { "x-hub-signature-256": signature, "x-github-delivery": "1", "x-github-event": "ping" };
    const taken = await git.edge.call("POST", `/api/v1/hooks/${hookId}`, { token: null, raw: body, headers });
    expect(taken.status, JSON.stringify(taken.body)).to.be.lessThan(300);
    expect(JSON.stringify(both.map((answer) => answer.body))).to.not.include(secret);
    const { list } = (await git.edge.call("GET", "/api/v1/audit?limit=100&operation=connectHostHook")).body.detail;
    const kinds = list.map(({ object }: { object: { kind: string } }) => object.kind);
    expect(kinds).to.include.members(["secret", "hook"]);
    expect(JSON.stringify(list)).to.not.include(secret);
  });

  it("is checked and repaired: switched off, other events, another address, refused deliveries, doubled", async () => {
    const [hook] = host.hooks.stored;
    const good = { ...hook! };
    for (const [damage, codes] of [
      [{ isActive: false }, ["inactive"]],
      [{ events: ["push"] }, ["events"]],
      [{ url: good.url.replace(PUBLIC, "https://old.example.org") }, ["address"]],
      [{ lastStatus: 401, secret: "another" }, ["failing"]],
    ] as const) {
      Object.assign(host.hooks.stored[0]!, good, damage);
      expect(codesOf(await check()), JSON.stringify(damage)).to.deep.equal(codes);
      const repaired = await connect();
      expect(repaired.body.detail, JSON.stringify(repaired.body)).to.deep.include({
        outcome: "repaired",
        problems: [],
      });
      const { lastStatus: _l, ...stored } = host.hooks.stored[0]!;
      const { lastStatus: _g, ...expected } = good;
      expect(stored).to.deep.equal(expected);
    }
    host.hooks.stored = [good, { ...good, id: "77" }, { ...good, id: "78", url: "https://other.example.org/x" }];
    expect(codesOf(await check())).to.deep.equal(["doubled"]);
    expect((await connect()).body.detail.outcome).to.equal("repaired");
    expect(host.hooks.stored.map(({ id }) => id)).to.deep.equal([good.id, "78"]);
    expect((await connect()).body.detail.outcome).to.equal("unchanged");
    // Another edge makes one at the same moment.
    host.hooks.stored = [];
    host.intercept = ({ method }) => {
      if (method === "POST") host.hooks.stored.push({ ...good, id: "90" });
      return false;
    };
    expect((await connect()).body.detail).to.deep.include({ outcome: "made", problems: [] });
    expect(host.hooks.stored.map(({ id }) => id)).to.deep.equal(["90"]);
  });

  it("tells what the host refuses, and asks its caller to wait when the host does", async () => {
    host.intercept = (_, response) => response.writeHead(403).end("{}") !== undefined;
    const refused = await connect();
    expect(refused.body).to.include({ code: 422, reason: "git_refused" });
    expect(refused.body.errors[0].pointer).to.equal("/repoApiCredential");
    expect(refused.body.errMsg).to.include("let the token read and write webhooks");
    host.intercept = (_, response) => response.writeHead(429, { "retry-after": "7" }).end("{}") !== undefined;
    const busy = await connect();
    expect(busy.body).to.include({ code: 503, reason: "unavailable" });
    expect(busy.headers.get("retry-after")).to.equal("7");
    const inline = (await git.create()).body.detail.pipelineId;
    expect((await git.edge.call("POST", at(inline, "/repository/webhook"))).status).to.equal(400);
  });
});
