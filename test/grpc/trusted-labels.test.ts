/** What a stolen token of an agent cannot do: say labels that an operator has given, or get jobs that ask for such labels. */
import { status } from "@grpc/grpc-js";
import { expect } from "chai";
import { listAgents } from "../../src/app/agents/inventory.ts";
import { setReach } from "../../src/app/agents/reach.ts";
import { setTrustedLabels } from "../../src/app/agents/trusted-labels.ts";
import { setTrustDemand } from "../../src/app/agents/trust-demand.ts";
import type { Caller } from "../../src/app/identity/access.ts";
import { issueToken } from "../../src/app/identity/tokens.ts";
import { SecretHandout } from "../../src/gateway/secret-handout.ts";
import { type AgentId, asId, newId, type TenantId, type UserId } from "../../src/domain/ids.ts";
import type { AgentSelector, Labels } from "../../src/domain/labels.ts";
import { until } from "../support/until.ts";
import { bearer, Channel, Gateway, invoke, reasonOf, refusal, type TestAgent } from "./gateway.ts";
import { StoredRun } from "./stored-run.ts";

const ADMIN: Caller = { kind: "user", userId: asId<UserId>("usr_1"), name: "ann", role: "admin", scopes: [] };
const PROD: AgentSelector = { matchLabels: [["pool", "prod"]], matchExpressions: [] };

describe("the trusted labels of an agent", () => {
  let gateway: Gateway;
  let agents = 0;
  before(async () => (gateway = await Gateway.start()));
  beforeEach(async () => {
    gateway.sentMessages.length = 0;
    await gateway.redis.flushall();
  });
  afterEach(() => gateway.hangUp());
  after(() => gateway.stop());

  /** Registers an agent with a token that gives these labels. */
  const trustedAgent = async (labels: Labels, name = `agent-${++agents}`): Promise<TestAgent> => {
    const token = await issueToken(gateway.context, { kind: "registration", subject: "usr_1", name: "t", labels });
    const request = { name, slots: 2, labels: {}, version: "1" };
    const answer = await invoke(gateway.agents(), "register", request, bearer(token));
    return { agentId: asId<AgentId>(answer.agentId), metadata: bearer(answer.agentToken) };
  };
  const listed = async ({ agentId }: TestAgent) =>
    (await listAgents(gateway.context, ADMIN)).list.find((agent) => agent.agentId === agentId)!;
  const claims = () => gateway.messages("claimRequested").map(({ agentId }) => agentId);
  const offer = async (selector: AgentSelector) => {
    const run = await StoredRun.create(gateway.stores);
    await gateway.context.board.offer(run.offer(0, { selector }));
  };

  it("come with its registration, count before what it says, and the inventory shows both", async () => {
    const agent = await trustedAgent({ pool: "build" });
    await Channel.open(gateway, agent, { labels: { pool: "prod", os: "linux" } });
    const shown = { labels: { pool: "build", os: "linux" }, trusted: ["pool"], overruled: { pool: "prod" } };
    expect(await listed(agent)).to.deep.include({ ...shown, online: true });
    const change = { labels: { pool: "prod", gpu: "yes" }, replace: true };
    const answer = await invoke(gateway.agents(), "updateLabels", change, agent.metadata);
    expect(answer.labels).to.deep.equal({ pool: "build", gpu: "yes" });
    await until("the new label", async () => (await listed(agent)).labels["gpu"] === "yes");
    expect((await listed(agent)).labels["pool"]).to.equal("build");
    await offer(PROD);
    await offer({ matchLabels: [["gpu", "yes"]], matchExpressions: [] });
    await until("the job that needs a told label", () => claims().length > 0);
    expect(await gateway.context.board.take({ labels: { pool: "prod" } }, 1_000, 8)).to.have.length(1);
  });

  it("are what a job with `trusted` asks for: labels that an agent only tells do not match", async () => {
    const thief = await gateway.register(`agent-${++agents}`, 2, { pool: "prod" });
    await Channel.open(gateway, thief, { labels: { pool: "prod" } });
    await offer({ ...PROD, trusted: true });
    const real = await trustedAgent({ pool: "prod" });
    await Channel.open(gateway, real);
    await until("the claim", () => claims().length > 0);
    expect(claims()).to.deep.equal([real.agentId]);
    // The thief pulls, too.
    await offer({ matchLabels: [], matchExpressions: [], trusted: true });
    await until("the next claim", () => claims().length > 1);
    const request = { bootId: "boot-1", requestId: "r", freeSlots: 1, waitMs: 300n };
    await invoke(gateway.agents(), "fetchStepRun", request, thief.metadata);
    expect(new Set(claims())).to.deep.equal(new Set([real.agentId]));
  });

  it("are given and taken away on the server, at once for a connected agent", async () => {
    const agent = await gateway.register(`agent-${++agents}`);
    const { agentId } = agent;
    const channel = await Channel.open(gateway, agent, { labels: { pool: "none" } });
    await offer({ ...PROD, trusted: true });
    expect(await setTrustedLabels(gateway.context, ADMIN, { agentId, labels: { pool: "prod" } })).to.deep.include({
      labels: { pool: "prod" },
      trusted: ["pool"],
      overruled: { pool: "none" },
    });
    await until("the claim", () => claims().length === 1);
    await setTrustedLabels(gateway.context, ADMIN, { agentId, labels: {} });
    await until("the label is told again", async () => (await listed(agent)).labels["pool"] === "none");
    expect(await listed(agent)).to.deep.include({ trusted: [], overruled: {} });
    // A hello, and what the agent had read before, do not bring them back.
    channel.cancel();
    await gateway.hangUp();
    await Channel.open(gateway, agent, { bootId: "boot-2", labels: { pool: "prod" } });
    expect(await listed(agent)).to.deep.include({ labels: { pool: "prod" }, trusted: [] });
  });

  it("count within its reach, which is changed on the server, at once for a connected agent", async () => {
    const tenantId = newId("tnt");
    const { rights, pipelines } = gateway.stores;
    await rights.createTenant({ tenantId, name: tenantId, createdAt: 1, archivedAt: null });
    const { projectId } = (await StoredRun.create(gateway.stores)).offer();
    const projects = [projectId, newId("prj")].map((id) => ({ projectId: id, tenantId: asId<TenantId>("default") }));
    await rights.createTenant({ tenantId: projects[0]!.tenantId, name: "default", createdAt: 1, archivedAt: null });
    for (const one of projects) await pipelines.createProject({ ...one, name: one.projectId, createdAt: 1 });
    const agent = await trustedAgent({ pool: "prod" });
    const { agentId } = agent;
    await Channel.open(gateway, agent);
    const reached = async (reach: Parameters<typeof setReach>[2]["reach"]) =>
      (await setReach(gateway.context, ADMIN, { agentId, reach })).reach;
    await reached({ projectIds: [projects[1]!.projectId] });
    await offer(PROD);
    const near = await trustedAgent({ pool: "prod" });
    await Channel.open(gateway, near);
    await until("the agent that reaches the project claims", () => claims().length > 0);
    expect(claims()).to.deep.equal([near.agentId]);
    await gateway.hangUp();
    await Channel.open(gateway, agent, { bootId: "boot-2" });
    await offer(PROD);
    expect(await reached(null)).to.equal(null);
    await until("the agent claims again", () => claims().includes(agentId));
  });

  it("keep the name of an agent from a registration token that does not give them", async () => {
    const agent = await trustedAgent({ pool: "prod" }, "prod-1");
    const channel = await Channel.open(gateway, agent);
    const request = { name: "prod-1", slots: 2, labels: { pool: "prod" }, version: "1" };
    const refused = await refusal(invoke(gateway.agents(), "register", request, await gateway.registrationToken()));
    expect([refused.code, reasonOf(refused)]).to.deep.equal([status.PERMISSION_DENIED, "forbidden"]);
    expect(refused.details).to.include("pool=prod");
    await channel.beat();
    expect((await trustedAgent({ pool: "prod", zone: "a" }, "prod-1")).agentId).to.equal(agent.agentId);
    const stored = await gateway.stores.identity.findAgent(agent.agentId);
    expect(stored!.trustedLabels).to.deep.equal({ pool: "prod", zone: "a" });
  });

  it("are asked for again before a secret is handed out, and by every job when the project demands it", async () => {
    const handout = new SecretHandout(gateway.context);
    const [{ agentId: told }, { agentId: trusted }] = [
      await gateway.register(`agent-${++agents}`, 1, { pool: "prod" }),
      await trustedAgent({ pool: "prod" }),
    ];
    const { projectId } = (await StoredRun.create(gateway.stores)).offer();
    await gateway.stores.pipelines.createProject({ projectId, name: projectId, createdAt: 0 });
    const refusalOf = (agentId: AgentId, selector: AgentSelector, secrets = ["TOKEN"]) =>
      handout.refusal(agentId, projectId, { selector }, { secrets });
    expect(await refusalOf(told, PROD)).to.equal(undefined);
    expect(await refusalOf(told, { ...PROD, trusted: true })).to.include("it fails a trusted label");
    await setTrustDemand(gateway.context, ADMIN, { projectId, demand: { secrets: true, protectedTargets: false } });
    expect(await refusalOf(told, PROD)).to.include("it fails a trusted label");
    expect(await refusalOf(told, PROD, [])).to.equal(undefined);
    expect(await refusalOf(trusted, PROD)).to.equal(undefined);
    expect(await refusalOf(trusted, { ...PROD, matchLabels: [["pool", "x"]] })).to.include("it fails trusted pool=x");
  });
});
