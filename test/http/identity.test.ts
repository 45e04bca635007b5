import { expect } from "chai";
import { asId, type AgentId } from "../../src/domain/ids.ts";
import { authenticate } from "../../src/app/identity/access.ts";
import { redeemTicket } from "../../src/app/identity/tickets.ts";
import { issueToken } from "../../src/app/identity/tokens.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";

const PASSWORD = "correct horse battery";

describe("users, tokens and agents over HTTP", () => {
  let edge: TestEdge;
  before(async () => {
    edge = await openTestEdge();
  });
  after(() => edge.close());

  it("creates users who can log in with their password and use the token of the answer", async () => {
    const created = await edge.call("POST", "/api/v1/users", {
      body: { name: "ann", role: "operator", password: PASSWORD },
    });
    expect(created.body.detail).to.include({ name: "ann", role: "operator", hasPassword: true, disabled: false });
    expect(JSON.stringify(created.body)).not.to.include("argon2").and.not.to.include(PASSWORD);
    const answer = await edge.call("POST", "/api/v1/auth/login", {
      token: null,
      body: { name: "ann", password: PASSWORD },
    });
    expect(answer.body.detail).to.deep.include({ expiresIn: 900, user: created.body.detail });
    const token = answer.body.detail.accessToken;
    expect((await edge.call("GET", "/api/v1/pipelines", { token })).status).to.equal(200);
    expect((await edge.call("GET", "/api/v1/users", { token })).status).to.equal(403);
    edge.skewMs = 901_000;
    const expired = await edge.call("GET", "/api/v1/pipelines", { token });
    edge.skewMs = 0;
    expect(expired.body.errMsg).to.include("expired");
  });

  it("gives the same answer for a wrong password, an unknown name and a user without a password", async () => {
    await edge.call("POST", "/api/v1/users", { body: { name: "bob", role: "viewer", password: PASSWORD } });
    const texts = new Set<string>();
    for (const name of ["bob", "unknown", "admin"]) {
      const answer = await edge.call("POST", "/api/v1/auth/login", { token: null, body: { name, password: "wrong" } });
      expect(answer.body).to.include({ code: 401, reason: "unauthenticated" });
      texts.add(answer.body.errMsg);
    }
    expect(texts.size).to.equal(1);
  });

  it("refuses invalid users, taken names, and roles above the caller's own", async () => {
    const bad = await edge.call("POST", "/api/v1/users", { body: { name: "a b", role: "king", password: "short" } });
    const pointers = bad.body.errors.map(({ pointer }: { pointer: string }) => pointer);
    expect(pointers).to.have.members(["/name", "/role", "/password"]);
    const taken = await edge.call("POST", "/api/v1/users", { body: { name: "admin", role: "viewer" } });
    expect(taken.body).to.include({ code: 409, reason: "already_exists" });
    const { token } = await edge.userWithRole("admin");
    const above = await edge.call("POST", "/api/v1/users", { token, body: { name: "boss", role: "owner" } });
    expect(above.body).to.include({ code: 403, reason: "forbidden" });
    const names = (await edge.call("GET", "/api/v1/users")).body.detail.list.map(({ name }: { name: string }) => name);
    expect(names).to.include("admin").and.not.to.include("boss");
  });

  it("lets users create, list and revoke their own tokens", async () => {
    const { token } = await edge.userWithRole("viewer");
    const made = await edge.call("POST", "/api/v1/users/me/tokens", { token, body: { name: "ci", expiresIn: "1h" } });
    const { tokenId, token: ci } = made.body.detail;
    expect((await edge.call("GET", "/api/v1/pipelines", { token: ci })).status).to.equal(200);
    const listed = await edge.call("GET", "/api/v1/users/me/tokens", { token });
    expect(listed.body.detail.total).to.equal(2);
    expect(JSON.stringify(listed.body)).not.to.include(ci);
    edge.skewMs = 3_601_000;
    expect((await edge.call("GET", "/api/v1/pipelines", { token: ci })).status).to.equal(401);
    edge.skewMs = 0;
    expect((await edge.call("DELETE", `/api/v1/users/me/tokens/${tokenId}`, { token })).status).to.equal(200);
    expect((await edge.call("GET", "/api/v1/pipelines", { token: ci })).status).to.equal(401);
    expect((await edge.call("DELETE", `/api/v1/users/me/tokens/${tokenId}`, { token })).status).to.equal(404);
  });

  it("lets administrators manage the tokens of users with a lower role only", async () => {
    const users = (await edge.call("GET", "/api/v1/users")).body.detail.list;
    const owner = users.find(({ name }: { name: string }) => name === "admin").userId;
    const [admin, viewer] = [await edge.userWithRole("admin"), await edge.userWithRole("viewer")];
    const path = `/api/v1/users/${owner}/tokens`;
    expect((await edge.call("GET", path, { token: viewer.token })).status).to.equal(403);
    expect((await edge.call("POST", path, { token: admin.token, body: { name: "steal" } })).status).to.equal(403);
    const someone = (await edge.call("GET", "/api/v1/users")).body.detail.list.find(
      ({ name }: { name: string }) => name === viewer.name,
    ).userId;
    const made = await edge.call("POST", `/api/v1/users/${someone}/tokens`, {
      token: admin.token,
      body: { name: "t" },
    });
    expect(made.status).to.equal(200);
    expect((await edge.call("GET", "/api/v1/users/usr_none/tokens")).status).to.equal(404);
  });

  it("narrows a token to projects, also what is opened with it, and shows which", async () => {
    const call = async (method: string, path: string, token?: string, body?: object) =>
      (await edge.call(method, `/api/v1${path}`, { ...(token !== undefined && { token }), ...(body && { body }) }))
        .body;
    const { projectId } = (await call("POST", "/projects", undefined, { name: "Narrow" })).detail;
    const inside = (await call("POST", "/pipelines", undefined, { name: "in", projectId })).detail;
    const outside = (await call("POST", "/pipelines", undefined, { name: "out" })).detail;
    const made = await call("POST", "/users/me/tokens", undefined, {
      name: "narrow",
      projects: [projectId, projectId],
    });
    const { token, tokenId } = made.detail;
    expect(made.detail.projects).to.deep.equal([projectId]);
    const { list } = (await call("GET", "/pipelines", token)).detail;
    expect(list.map(({ pipelineId }: { pipelineId: string }) => pipelineId)).to.deep.equal([inside.pipelineId]);
    expect((await call("PUT", `/pipelines/${inside.pipelineId}`, token, { description: "x" })).code).to.equal(0);
    expect(await call("GET", `/pipelines/${outside.pipelineId}`, token)).to.include({ reason: "not_found" });
    expect(await call("POST", "/projects", token, { name: "Another" })).to.include({ reason: "malformed_request" });
    expect(await call("POST", "/users/me/tokens", token, { name: "wide" })).to.include({ reason: "forbidden" });
    const who = (await call("GET", "/whoami", token)).detail;
    expect(who.bound).to.have.length(1);
    expect(who.bound[0]).to.deep.include({ area: { projectId }, role: "owner" });
    expect(who.operations).to.deep.equal(["readOwnAccount"]);
    const { ticket } = (await call("POST", "/auth/tickets", token)).detail;
    const { caller } = await redeemTicket(edge.context, ticket);
    expect(caller).to.include({ role: null, isNarrowed: true });

    const shown = (await call("GET", "/users/me/tokens")).detail.list;
    expect(shown.find((one: { tokenId: string }) => one.tokenId === tokenId).projects).to.deep.equal([projectId]);
    for (const projects of [[], ["prj_unknown"]]) {
      const refused = await call("POST", "/users/me/tokens", undefined, { name: "t", projects });
      expect(refused, projects.join()).to.include({ reason: "malformed_request" });
    }
    const entries = (await call("GET", `/audit?object=${tokenId}`)).detail.list;
    expect(entries[0].after).to.deep.include({ projects: [projectId] });
  });

  it("gives the scope act-as only to administrators, and knows no other scope", async () => {
    const { token } = await edge.userWithRole("maintainer");
    const body = { name: "t", scopes: ["act-as"] };
    expect((await edge.call("POST", "/api/v1/users/me/tokens", { token, body })).status).to.equal(403);
    expect((await edge.call("POST", "/api/v1/users/me/tokens", { body })).status).to.equal(200);
    for (const bad of [{ scopes: ["root"] }, { expiresIn: "soon" }, { expiresIn: "0s" }, { name: "" }]) {
      const answer = await edge.call("POST", "/api/v1/users/me/tokens", { body: { name: "t", ...bad } });
      expect(answer.body).to.include({ code: 400, reason: "malformed_request" });
    }
  });

  it("creates registration tokens that cannot call operations of users", async () => {
    const made = await edge.call("POST", "/api/v1/agents/registration-tokens", { body: { name: "fleet" } });
    const { token } = made.body.detail;
    expect(await authenticate(edge.context, token)).to.include({ kind: "registration" });
    expect((await edge.call("GET", "/api/v1/pipelines", { token })).body).to.include({
      code: 403,
      reason: "forbidden",
    });
  });

  it("lets administrators list registration tokens with their uses, and revoke them", async () => {
    const path = "/api/v1/agents/registration-tokens";
    const made = await edge.call("POST", path, { body: { name: "rack 4", expiresIn: "1h", maxUses: 2 } });
    const { tokenId, token } = made.body.detail;
    expect(made.body.detail).to.include({ name: "rack 4", maxUses: 2, uses: 0, usable: true });
    const listed = async () => {
      const { body } = await edge.call("GET", path);
      expect(JSON.stringify(body)).not.to.include(token);
      return body.detail.list.find((one: { tokenId: string }) => one.tokenId === tokenId);
    };
    await edge.context.stores.identity.countUse({ tokenId, maxUses: 2 });
    expect(await listed()).to.include({ uses: 1, usable: true });
    await edge.context.stores.identity.countUse({ tokenId, maxUses: 2 });
    expect(await listed()).to.include({ uses: 2, usable: false });
    edge.skewMs = 3_601_000;
    expect(await refusalOf(token)).to.include({ reason: "unauthenticated" });
    edge.skewMs = 0;
    const { token: maintainer } = await edge.userWithRole("maintainer");
    for (const [method, at] of [
      ["GET", path],
      ["POST", path],
      ["DELETE", `${path}/${tokenId}`],
    ] as const) {
      const answer = await edge.call(method, at, {
        token: maintainer,
        ...(method === "POST" ? { body: { name: "x" } } : {}),
      });
      expect(answer.status, method).to.equal(403);
    }
    expect((await edge.call("DELETE", `${path}/${tokenId}`)).status).to.equal(200);
    expect(await refusalOf(token)).to.include({ reason: "unauthenticated" });
    expect((await edge.call("DELETE", `${path}/${tokenId}`)).status).to.equal(404);
    const mine = (await edge.call("POST", "/api/v1/users/me/tokens", { body: { name: "mine" } })).body.detail;
    expect((await edge.call("DELETE", `${path}/${mine.tokenId}`)).status, "a token of another kind").to.equal(404);
    for (const maxUses of [0, 1.5, -1, "2", 1_000_001]) {
      expect((await edge.call("POST", path, { body: { name: "bad", maxUses } })).status, `${maxUses}`).to.equal(400);
    }
  });

  const refusalOf = (token: string): Promise<unknown> =>
    authenticate(edge.context, token).then(
      () => undefined,
      (error: unknown) => error,
    );

  it("lets only administrators revoke the tokens of agents and remove agents", async () => {
    const agentId = asId<AgentId>("agt_gone");
    const { identity } = edge.context.stores;
    await identity.putAgent({ agentId, name: "gone", labels: {}, slots: 1, version: "", createdAt: 0 });
    const token = await issueToken(edge.context, { kind: "agent", subject: agentId, name: "gone" });
    const { token: maintainer } = await edge.userWithRole("maintainer");
    for (const path of [`/api/v1/agents/${agentId}/token`, `/api/v1/agents/${agentId}`]) {
      expect((await edge.call("DELETE", path, { token: maintainer })).status).to.equal(403);
    }
    expect(await authenticate(edge.context, token)).to.include({ kind: "agent" });
    expect((await edge.call("DELETE", `/api/v1/agents/${agentId}/token`)).status).to.equal(200);
    expect(await refusalOf(token)).to.include({ reason: "unauthenticated" });
    expect((await edge.call("DELETE", `/api/v1/agents/${agentId}`)).status).to.equal(200);
    expect(await identity.findAgent(agentId)).to.equal(undefined);
    expect((await edge.call("DELETE", `/api/v1/agents/${agentId}`)).status).to.equal(404);
    expect((await edge.call("DELETE", `/api/v1/agents/${agentId}/token`)).status).to.equal(404);
  });

  it("lists agents with the facts of their heartbeats", async () => {
    const agentId = asId<AgentId>("agt_1");
    await edge.context.stores.identity.putAgent({
      agentId,
      name: "one",
      labels: { os: "linux" },
      slots: 2,
      version: "1",
      createdAt: 0,
    });
    const agent = async () => (await edge.call("GET", "/api/v1/agents")).body.detail.list[0];
    expect(await agent()).to.deep.include({ name: "one", online: false, busy: 0, slots: 2, labels: { os: "linux" } });
    const labels = { os: "linux", gpu: "yes" };
    await edge.context.presence.beat({ agentId, bootId: "b", gatewayId: "g", labels, slots: 4, busy: 3 });
    expect(await agent()).to.deep.include({ online: true, busy: 3, slots: 4, labels });
  });
});
