/** Agents that are bound to a tenant or to projects get no other jobs, and only their tenant sees and manages them. */
import { status } from "@grpc/grpc-js";
import { expect } from "chai";
import { getAgent, listAgents } from "../../src/app/agents/inventory.ts";
import { createRegistrationToken, listRegistrationTokens } from "../../src/app/agents/registration-tokens.ts";
import { setTrustedLabels } from "../../src/app/agents/trusted-labels.ts";
import type { Caller } from "../../src/app/identity/access.ts";
import { type AgentId, asId, newId, type ProjectId, type TenantId, type UserId } from "../../src/domain/ids.ts";
import { ANY_AGENT } from "../../src/domain/labels.ts";
import { NO_RIGHTS, type Role } from "../../src/domain/roles.ts";
import { until } from "../support/until.ts";
import { bearer, Channel, Gateway, invoke, reasonOf, refusal, type TestAgent } from "./gateway.ts";
import { StoredRun } from "./stored-run.ts";

describe("the reach of an agent", () => {
  let gateway: Gateway;
  let agents = 0;
  const [tenantId, otherTenantId] = [newId("tnt"), newId("tnt")];
  const [own, sibling, foreign] = [newId("prj"), newId("prj"), newId("prj")];
  const user = { kind: "user", userId: asId<UserId>("usr_1"), name: "ann", scopes: [] } as const;
  const operator: Caller = { ...user, role: "admin" };
  const inTenant = (id: TenantId, role: Role = "admin"): Caller => ({
    ...user,
    role: null,
    rights: { ...NO_RIGHTS, tenants: new Map([[id, role]]) },
  });

  before(async () => {
    gateway = await Gateway.start();
    const { rights, pipelines } = gateway.stores;
    for (const id of [tenantId, otherTenantId]) {
      await rights.createTenant({ tenantId: id, name: id, createdAt: 1, archivedAt: null });
    }
    for (const projectId of [own, sibling]) {
      await pipelines.createProject({ projectId, tenantId, name: projectId, createdAt: 1 });
    }
    await pipelines.createProject({ projectId: foreign, tenantId: otherTenantId, name: foreign, createdAt: 1 });
  });
  beforeEach(async () => {
    gateway.sentMessages.length = 0;
    await gateway.redis.flushall();
  });
  afterEach(() => gateway.hangUp());
  after(() => gateway.stop());

  type Reach = { tenantId: string } | { projectIds: string[] };
  const tokenOf = async (caller: Caller, reach?: Reach): Promise<string> =>
    (await createRegistrationToken(gateway.context, caller, { name: "t", ...(reach && { reach }) })).token;
  const register = async (token: string, name = `reach-${++agents}`): Promise<TestAgent> => {
    const request = { name, slots: 2, labels: {}, version: "1" };
    const answer = await invoke(gateway.agents(), "register", request, bearer(token));
    return { agentId: asId<AgentId>(answer.agentId), metadata: bearer(answer.agentToken) };
  };
  const offer = async (projectId: ProjectId): Promise<string> => {
    const run = await StoredRun.create(gateway.stores);
    await gateway.context.board.offer(run.offer(0, { selector: ANY_AGENT, projectId }));
    return run.runId;
  };
  const claims = () =>
    gateway.sentMessages.filter(({ message }) => (message as { type: string }).type === "claimRequested");
  const claimedRuns = () => new Set(claims().map(({ rootId }) => rootId as string));
  const reason = (promise: Promise<unknown>) =>
    promise.then(
      () => "allowed",
      (error: { reason?: string }) => error.reason,
    );

  it("comes with the registration token, and bounds the jobs that the agent gets, pushed and pulled", async () => {
    const bound = await register(await tokenOf(inTenant(tenantId), { projectIds: [own] }));
    await Channel.open(gateway, bound);
    const [ofSibling, ofForeign] = [await offer(sibling), await offer(foreign)];
    const ofOwn = await offer(own);
    await until("the claim", () => claims().length > 0);
    const pull = await register(await tokenOf(inTenant(tenantId), { tenantId }));
    const fetch = { bootId: "boot-1", requestId: "r", freeSlots: 1, waitMs: 200n };
    await invoke(gateway.agents(), "fetchStepRun", fetch, pull.metadata);
    expect(claimedRuns()).to.deep.equal(new Set([ofOwn, ofSibling]));
    // An update of labels leaves the reach as it is.
    await invoke(gateway.agents(), "updateLabels", { labels: { a: "b" }, replace: true }, bound.metadata);
    await until("the new label", async () => (await gateway.context.presence.online(60_000))[0]?.labels["a"] === "b");
    expect((await gateway.context.presence.online(60_000))[0]!.reach).to.deep.equal({ tenantId, projectIds: [own] });
    await Channel.open(gateway, await register(await tokenOf(operator)));
    await until("the agent of the installation takes the rest", () => claimedRuns().has(ofForeign));
  });

  it("lets only its tenant and the installation see and manage the agent", async () => {
    const bound = await register(await tokenOf(inTenant(tenantId), { tenantId }));
    const free = await register(await tokenOf(operator));
    const listed = async (caller: Caller) => (await listAgents(gateway.context, caller)).list.map((one) => one.agentId);
    expect(await listed(operator)).to.include.members([bound.agentId, free.agentId]);
    const seen = await listed(inTenant(tenantId, "viewer"));
    expect(seen).to.include(bound.agentId).and.not.include(free.agentId);
    expect(await listed(inTenant(otherTenantId))).to.deep.equal([]);
    const label = (caller: Caller, { agentId }: TestAgent) =>
      reason(setTrustedLabels(gateway.context, caller, { agentId, labels: {} }));
    expect(await label(inTenant(tenantId), bound)).to.equal("allowed");
    expect(await label(inTenant(tenantId, "viewer"), bound)).to.equal("forbidden");
    expect(await label(inTenant(tenantId), free)).to.equal("not_found");
    expect(await label(inTenant(otherTenantId, "owner"), bound)).to.equal("not_found");
    const member: Caller = { ...user, role: null, rights: { ...NO_RIGHTS, projects: new Map([[own, "viewer"]]) } };
    const both = await register(await tokenOf(operator, { projectIds: [own, sibling] }));
    const { reach } = await getAgent(gateway.context, member, both);
    expect(reach).to.deep.equal({ tenantId, projectIds: [own] });
    expect(await reason(getAgent(gateway.context, member, free))).to.equal("not_found");
  });

  it("is given within what the caller manages, and tokens are seen by their tenant", async () => {
    expect(await reason(tokenOf(inTenant(tenantId)))).to.equal("malformed_request");
    expect(await reason(tokenOf(inTenant(tenantId), { tenantId: otherTenantId }))).to.equal("malformed_request");
    expect(await reason(tokenOf(inTenant(tenantId), { projectIds: [own, foreign] }))).to.equal("malformed_request");
    expect(await reason(tokenOf(operator, { projectIds: [own, foreign] }))).to.equal("malformed_request");
    expect(await reason(tokenOf(inTenant(tenantId, "maintainer"), { tenantId }))).to.equal("forbidden");
    const { list } = await listRegistrationTokens(gateway.context, inTenant(otherTenantId));
    expect(list).to.deep.equal([]);
    const ofTenant = (await listRegistrationTokens(gateway.context, inTenant(tenantId))).list;
    expect(new Set(ofTenant.map(({ reach }) => reach?.tenantId))).to.deep.equal(new Set([tenantId]));
    expect(await reason(listRegistrationTokens(gateway.context, inTenant(tenantId, "viewer")))).to.equal("forbidden");
  });

  it("keeps names of agents of others from the tokens of a tenant", async () => {
    const free = `reach-${++agents}`;
    const { agentId } = await register(await tokenOf(operator), free);
    const bound = `reach-${++agents}`;
    await register(await tokenOf(inTenant(tenantId), { tenantId }), bound);
    for (const [name, token] of [
      [free, await tokenOf(inTenant(tenantId), { tenantId })],
      [bound, await tokenOf(inTenant(otherTenantId), { tenantId: otherTenantId })],
    ] as const) {
      const refused = await refusal(register(token, name));
      expect([refused.code, reasonOf(refused)]).to.deep.equal([status.PERMISSION_DENIED, "forbidden"]);
      expect(refused.details).to.not.include(tenantId);
    }
    await register(await tokenOf(inTenant(tenantId), { projectIds: [own] }), bound);
    expect((await gateway.stores.identity.findAgentByName(bound))!.reach).to.deep.equal({
      tenantId,
      projectIds: [own],
    });
    await register(await tokenOf(operator), bound);
    expect((await gateway.stores.identity.findAgentByName(bound))!.reach).to.equal(null);
    expect((await gateway.stores.identity.findAgent(agentId))!.reach).to.equal(null);
  });
});
