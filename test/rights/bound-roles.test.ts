/** Roles in tenants and projects, teams and service accounts, as their administrators use them and as attackers try to. */
import { once } from "node:events";
import { expect } from "chai";
import { issueToken } from "../../src/app/identity/tokens.ts";
import { asId, newId, type ProjectId, type UserId } from "../../src/domain/ids.ts";
import { ANY_AGENT } from "../../src/domain/labels.ts";
import { planOf } from "../support/plans.ts";
import { saveTurn, storeRun } from "../support/stored-runs.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";
import { TestViewer } from "../support/viewer.ts";

const SPEC = { jobs: [{ name: "one", steps: [{ uses: "shell", args: { script: "true" } }] }] };

describe("roles in tenants and projects", () => {
  let edge: TestEdge;
  let tenantId: string;
  let projectId: string;
  let names = 0;
  before(async () => {
    edge = await openTestEdge({ sessionCheckMs: 20 });
    tenantId = (await post("/tenants", { name: "Shop" })).tenantId;
    projectId = (await post("/projects", { name: "Web", tenantId })).projectId;
  });
  after(() => edge.close());

  const send = (method: string, path: string, body?: object, token?: string) =>
    edge.call(method, `/api/v1${path}`, { ...(body && { body }), ...(token !== undefined && { token }) });
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read any answer
  async function post(path: string, body: object, token?: string): Promise<any> {
    const answer = await send("POST", path, body, token);
    expect(answer.body).to.include({ code: 0 });
    return answer.body.detail;
  }
  /** A user without a role in the installation, and with the given roles, by path. */
  async function member(roles: Readonly<Record<string, string>> = {}) {
    const name = `member-${++names}`;
    const { userId } = await post("/users", { name, role: null });
    for (const [path, role] of Object.entries(roles)) {
      expect((await send("PUT", `${path}/members/${name}`, { role })).body.detail).to.include({ role, kind: "user" });
    }
    const token = await issueToken(edge.context, { kind: "personal", subject: asId<UserId>(userId), name: "t" });
    return { name, userId: userId as string, token };
  }
  const refusal = async (method: string, path: string, body: object | undefined, token: string) => {
    const { code, reason } = (await send(method, path, body, token)).body;
    return `${code} ${reason}`;
  };
  const tenant = () => `/tenants/${tenantId}`;
  const project = () => `/projects/${projectId}`;

  it("are told by whoami, and by the lists of members", async () => {
    const one = await member({ [project()]: "operator", [tenant()]: "viewer" });
    const { user, operations, bound } = (await send("GET", "/whoami", undefined, one.token)).body.detail;
    expect(user).to.include({ name: one.name, role: null });
    expect(operations).to.deep.equal([
      "manageOwnTokens",
      "readOwnAccount",
      "manageOwnNotifications",
      "manageOwnAccount",
    ]);
    const areas = bound.map(({ area, role }: { area: object; role: string }) => ({ area, role }));
    expect(areas).to.deep.equal([
      { area: { tenantId }, role: "viewer" },
      { area: { projectId }, role: "operator" },
    ]);
    expect(bound[1].operations).to.include("triggerRun").and.not.include("writePipelines");
    const { list } = (await send("GET", `${project()}/members`, undefined, one.token)).body.detail;
    expect(list).to.deep.include({
      kind: "user",
      memberId: one.userId,
      name: one.name,
      role: "operator",
      createdAt: list[0].createdAt,
      createdBy: "admin",
    });
    expect((await send("DELETE", `${project()}/members/${one.name}`)).status).to.equal(200);
    expect((await send("DELETE", `${project()}/members/${one.name}`)).status).to.equal(404);
    expect((await send("PUT", `${project()}/members/none`, { role: "viewer" })).body.reason).to.equal("not_found");
  });

  it("cannot be given, changed or taken away by a member with a lower role", async () => {
    const owner = await member({ [tenant()]: "owner" });
    const admin = await member({ [tenant()]: "admin" });
    const put = (role: string, name: string) => refusal("PUT", `${tenant()}/members/${name}`, { role }, admin.token);
    expect(await put("owner", admin.name)).to.equal("403 forbidden");
    expect(await put("viewer", owner.name)).to.equal("403 forbidden");
    const remove = await refusal("DELETE", `${tenant()}/members/${owner.name}`, undefined, admin.token);
    expect(remove).to.equal("403 forbidden");
    // The role in the tenant counts in its projects, and the role in a project does not count in the tenant.
    const local = await member({ [project()]: "owner" });
    const inTenant = await refusal("PUT", `${tenant()}/members/${local.name}`, { role: "viewer" }, local.token);
    expect(inTenant).to.equal("404 not_found");
    const inProject = await send("PUT", `${project()}/members/${local.name}`, { role: "admin" }, owner.token);
    expect(inProject.status).to.equal(200);
  });

  it("cannot be reached by joining a team, or with a token of a service account or of another user", async () => {
    const admin = await member({ [tenant()]: "admin" });
    const team = await post(`${tenant()}/teams`, { name: "owners" }, admin.token);
    const at = `${tenant()}/teams/${team.teamId}`;
    expect((await send("PUT", `${tenant()}/members/${team.teamId}`, { role: "owner" })).status).to.equal(200);
    const join = await refusal("PUT", `${at}/members/${admin.name}`, undefined, admin.token);
    expect(join).to.equal("403 forbidden");
    expect((await send("PUT", `${at}/members/${admin.name}`)).body.detail.members).to.deep.equal([
      { userId: admin.userId, name: admin.name },
    ]);
    const { bound } = (await send("GET", "/whoami", undefined, admin.token)).body.detail;
    expect(bound[0]).to.deep.include({ area: { tenantId }, role: "owner" });
    expect((await send("DELETE", `${at}/members/${admin.name}`)).status).to.equal(200);

    const local = await member({ [project()]: "admin" });
    const bot = await post(`${project()}/service-accounts`, { name: `bot-${++names}` }, local.token);
    const users = (await send("GET", "/users?pageSize=100")).body.detail.list as (typeof bot)[];
    const ownerOf = (name: string) => users.find((one) => one.name === name)!.ownedBy;
    expect([bot.ownedBy, ownerOf(bot.name), ownerOf("admin")]).to.deep.equal([{ projectId }, { projectId }, undefined]);
    const tokens = `${project()}/service-accounts/${bot.userId}/tokens`;
    const { token } = await post(tokens, { name: "ci", scopes: ["read"] }, local.token);
    expect((await send("GET", project(), undefined, token)).status).to.equal(404);
    const given = await send("PUT", `${project()}/members/${bot.name}`, { role: "operator" }, local.token);
    expect(given.body.detail).to.include({ kind: "serviceAccount", role: "operator" });
    expect((await send("GET", project(), undefined, token)).status).to.equal(200);
    const actAs = await refusal("POST", tokens, { name: "x", scopes: ["act-as"] }, local.token);
    expect(actAs).to.equal("403 forbidden");
    const password = await send("PUT", `/users/${bot.userId}/password`, { password: "a long password" });
    expect(password.body.reason).to.equal("conflict");
    // Nor can it get one by a link, or log in at a provider that proves an address.
    expect((await send("POST", `/users/${bot.userId}/reset-link`, {})).body.reason).to.equal("conflict");
    const email = await send("PATCH", `/users/${bot.userId}`, { email: "bot@example.com" });
    expect(email.body.reason).to.equal("conflict");
    // Once the account is an owner of the tenant, the administrators of the project have no power over it.
    expect((await send("PUT", `${tenant()}/members/${bot.name}`, { role: "owner" })).status).to.equal(200);
    expect(await refusal("POST", tokens, { name: "x" }, local.token)).to.equal("403 forbidden");
    const administrator = await edge.userWithRole("admin");
    const ofOwner = `/users/${bot.userId}/tokens`;
    expect(await refusal("POST", ofOwner, { name: "x" }, administrator.token)).to.equal("403 forbidden");
  });

  it("cannot be reached with a link that was made before its user had the role", async () => {
    const administrator = await edge.userWithRole("admin");
    const one = await member({ [project()]: "viewer" });
    const linkOf = async (): Promise<string> =>
      (await post(`/users/${one.userId}/reset-link`, {}, administrator.token)).link;
    const [same, raised] = [await linkOf(), await linkOf()];
    expect((await fetch(same)).status, "a newer link voids the older").to.equal(404);
    expect((await fetch(raised)).status).to.equal(200);
    expect((await send("PUT", `${tenant()}/members/${one.name}`, { role: "owner" })).status).to.equal(200);
    expect((await fetch(raised)).status).to.equal(404);
  });

  it("cannot be given to oneself in the body of a change, nor can a project change its tenant", async () => {
    const admin = await member({ [project()]: "admin" });
    const bodies: readonly (readonly [string, string, object])[] = [
      ["PATCH", project(), { tenantId: "default" }],
      ["PATCH", project(), { description: "d", role: "owner" }],
      ["PUT", `${project()}/members/${admin.name}`, { role: "admin", tenantId }],
      ["POST", `${project()}/service-accounts`, { name: "x", role: "owner" }],
      ["POST", `${project()}/service-accounts`, { name: "x", ownedBy: { tenantId } }],
    ];
    for (const [method, path, body] of bodies) {
      const answer = await refusal(method, path, body, admin.token);
      expect(answer, JSON.stringify(body)).to.equal("400 malformed_request");
    }
    expect(await refusal("PATCH", `/users/${admin.userId}`, { role: "owner" }, admin.token)).to.equal("403 forbidden");
    expect(await refusal("PATCH", "/users/me", { role: "viewer" }, admin.token)).to.equal("403 forbidden");
    expect(await refusal("POST", "/users", { name: "x", role: null }, admin.token)).to.equal("403 forbidden");
    const { projectId: other } = await post("/projects", { name: "Other", tenantId });
    const foreign = { name: "p", projectId: other };
    expect(await refusal("POST", "/pipelines", foreign, admin.token)).to.equal("400 malformed_request");
  });

  it("leave an owner, when two owners of the installation demote each other at once", async () => {
    const owners = [await edge.userWithRole("owner"), await edge.userWithRole("owner")];
    const users = (await send("GET", "/users")).body.detail.list as { userId: string; name: string; role: string }[];
    const idOf = (name: string) => users.find((one) => one.name === name)!.userId;
    // The first administrator goes, so that the two are the last ones.
    expect((await send("PATCH", `/users/${idOf("admin")}`, { role: "admin" })).status).to.equal(200);
    const answers = await Promise.all(
      owners.map(({ token }, at) => send("PATCH", `/users/${idOf(owners[1 - at]!.name)}`, { role: "viewer" }, token)),
    );
    expect(answers.filter(({ status }) => status === 200)).to.have.length(1);
    const left = (await edge.context.stores.identity.listUsers()).filter(({ role }) => role === "owner");
    expect(left).to.have.length(1);
    const token = await issueToken(edge.context, { kind: "personal", subject: left[0]!.userId, name: "t" });
    expect((await send("PATCH", `/users/${idOf("admin")}`, { role: "owner" }, token)).status).to.equal(200);
  });

  it("end an open connection when they are taken away", async () => {
    const one = await member({ [project()]: "viewer" });
    const viewer = await TestViewer.open({ port: edge.port, adminToken: one.token });
    const closed = once(viewer.socket, "close") as Promise<[number, Buffer]>;
    expect((await send("DELETE", `${project()}/members/${one.name}`)).status).to.equal(200);
    expect((await closed)[0]).to.equal(4403);
    expect((await send("GET", project(), undefined, one.token)).body).to.include({ code: 404 });
  });

  it("end with the user, whose name stays on what the user did", async () => {
    const bot = await post(`${project()}/service-accounts`, { name: `bot-${++names}` });
    await send("PUT", `${project()}/members/${bot.name}`, { role: "maintainer" });
    const path = `${project()}/service-accounts/${bot.userId}`;
    const { token } = await post(`${path}/tokens`, { name: "ci" });
    const { pipelineId } = await post("/pipelines", { name: "made by a bot", projectId }, token);
    expect((await send("GET", `${path}/tokens`)).body.detail.total).to.equal(1);
    expect((await send("DELETE", path)).status).to.equal(200);
    expect((await send("GET", `/pipelines/${pipelineId}`, undefined, token)).status).to.equal(401);
    expect((await send("GET", `/pipelines/${pipelineId}`)).body.detail.createdBy).to.equal(bot.name);
    const { list } = (await send("GET", `${project()}/members`)).body.detail;
    expect(list.map(({ name }: { name: string }) => name)).to.not.include(bot.name);
  });

  it("decide which holders of an agent a waiting job names, and everybody is told the place in the queue", async () => {
    const { context } = edge;
    const agentId = newId("agt");
    await context.presence.beat({ agentId, bootId: "b", gatewayId: "g", labels: {}, slots: 2, busy: 2 });
    const plan = (owner: string) => ({ ...planOf([[{ name: "one" }]]), projectId: asId<ProjectId>(owner) });
    const held: string[] = [];
    for (const owner of [projectId, "default"]) {
      const run = await storeRun(context, plan(owner));
      const { actors, head } = (await context.stores.aggregates.load(run.runId))!;
      const changed = actors
        .filter(({ kind }) => kind === "job")
        .map((actor) => ({ ...actor, index: { ...actor.index, agentId, status: "running" } }));
      await context.stores.aggregates.save({ expectedVersion: 1, head: { ...head, version: 2 }, changed, events: [] });
      held.push(run.runId);
    }
    const run = await storeRun(context, plan(projectId));
    const jobId = run.jobIds[0]!;
    await saveTurn(context, run, { jobs: [{ jobId, state: "queued", stageOpen: true, openNeeds: [], queuedAt: 9 }] });
    const offer = { runId: run.runId, jobIndex: 0, selector: ANY_AGENT, priority: 0 };
    for (const [owner, queuedAt, id] of [
      ["default", 1, newId("job")],
      ["default", 2, newId("job")],
    ] as const) {
      await context.board.offer({ ...offer, projectId: asId<ProjectId>(owner), queuedAt, jobId: id });
    }
    await context.board.offer({ ...offer, projectId: asId<ProjectId>(projectId), queuedAt: 9, jobId });
    const seenBy = async (token?: string) => {
      const { waitingFor } = (await send("GET", `/pipelines/runs/${run.runId}`, undefined, token)).body.detail.jobs[0];
      expect(waitingFor).to.deep.include({ reason: "all_busy", ahead: 1 });
      return waitingFor.agents.busy[0].jobs.map(({ runId }: { runId: string }) => runId);
    };
    expect(await seenBy()).to.have.members(held);
    expect(await seenBy((await member({ [project()]: "viewer" })).token)).to.deep.equal([held[0]]);
    await context.presence.leave(agentId, "b");
  });

  it("let a tenant be archived, and be deleted when it is empty", async () => {
    const { tenantId: id } = await post("/tenants", { name: "Old" });
    expect((await send("POST", "/tenants", { name: "Old" })).body.reason).to.equal("already_exists");
    const { projectId: owned } = await post("/projects", { name: "Web", tenantId: id });
    const { pipelineId } = await post("/pipelines", { name: "p", projectId: owned });
    await post(`/pipelines/${pipelineId}/spec/save`, { spec: SPEC });
    expect((await send("PATCH", `/tenants/${id}`, { archived: true })).body.detail).to.include({ archived: true });
    const refused = [
      await send("POST", "/projects", { name: "x", tenantId: id }),
      await send("POST", "/pipelines", { name: "x", projectId: owned }),
      await send("POST", `/pipelines/${pipelineId}/trigger`, {}),
      await send("DELETE", `/tenants/${id}`),
      await send("PATCH", "/tenants/default", { archived: true }),
      await send("DELETE", "/tenants/default"),
    ];
    for (const { body } of refused) expect(body).to.include({ code: 409, reason: "conflict" });
    const { tenantId: empty } = await post("/tenants", { name: "Empty" });
    expect((await send("DELETE", `/tenants/${empty}`)).status).to.equal(200);
    expect((await send("GET", `/tenants/${empty}`)).status).to.equal(404);
  });
});
