import { expect } from "chai";
import { type AgentNotice, listenToAgent, relabelled } from "../../src/board/agent-notices.ts";
import { type AgentId, newId, type RunId } from "../../src/domain/ids.ts";
import { until } from "../support/until.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";

const DEMAND = "/api/v1/projects/default/trust-demand";
const env = { TOKEN: "${{ secrets.TOKEN }}" };
const step = { uses: "shell", args: { script: "x" } };
const JOBS = [
  { name: "plain", steps: [step] },
  { name: "secret", agentSelector: { matchLabels: { pool: "prod" } }, steps: [step, { ...step, env }] },
  { name: "asks", agentSelector: { matchLabels: { pool: "prod" }, trusted: true }, steps: [step] },
];

describe("trusted labels over HTTP", () => {
  let edge: TestEdge;
  before(async () => (edge = await openTestEdge()));
  after(() => edge.close());

  const call = async (method: "GET" | "PUT" | "POST", path: string, body?: object) =>
    (await edge.call(method, path, body && { body })).body;
  const newPipeline = async (): Promise<string> => {
    const { pipelineId } = (await call("POST", "/api/v1/pipelines", { name: newId("prj") })).detail;
    await call("POST", `/api/v1/pipelines/${pipelineId}/spec/save`, { spec: { jobs: JOBS } });
    return pipelineId;
  };
  const agentOnline = async (): Promise<AgentId> => {
    const agentId = newId("agt");
    const facts = { agentId, labels: { pool: "prod" }, slots: 1 };
    await edge.context.stores.identity.putAgent({ ...facts, name: agentId, version: "1", createdAt: 0 });
    await edge.context.presence.beat({ ...facts, bootId: "b", gatewayId: "g", busy: 0 });
    return agentId;
  };

  it("come with a registration token, whose list shows them", async () => {
    const path = "/api/v1/agents/registration-tokens";
    const labels = { pool: "prod", "kubernetes.io/os": "linux" };
    const { detail } = await call("POST", path, { name: "prod", labels });
    expect(detail.labels).to.deep.equal(labels);
    const { list } = (await call("GET", path)).detail;
    expect(list.find(({ tokenId }: { tokenId: string }) => tokenId === detail.tokenId).labels).to.deep.equal(labels);
    expect((await call("POST", path, { name: "bad", labels: { "": "x" } })).code).to.equal(400);
    expect((await call("POST", path, { name: "none" })).detail.labels).to.deep.equal({});
  });

  it("are set by administrators, and the inventory lists them beside what the agent tells", async () => {
    const agentId = await agentOnline();
    const path = `/api/v1/agents/${agentId}/labels`;
    const shown = { labels: { pool: "build", zone: "a" }, trusted: ["pool", "zone"], overruled: { pool: "prod" } };
    const set = await call("PUT", path, { labels: shown.labels });
    expect(set.detail).to.deep.include({ agentId, ...shown });
    expect(set.detail).to.not.have.any.keys("trustedLabels", "bootId");
    const { token } = await edge.userWithRole("maintainer");
    expect((await edge.call("PUT", path, { token, body: { labels: {} } })).status).to.equal(403);
    expect((await call("PUT", "/api/v1/agents/agt_none/labels", { labels: {} })).code).to.equal(404);
    expect((await call("PUT", path, { labels: { a: 1 } })).code).to.equal(400);
    const stored = await edge.context.stores.identity.findAgent(agentId);
    expect(stored).to.deep.include({ labels: { pool: "prod" }, trustedLabels: shown.labels });
  });

  it("stand beside the reach of the agent, which administrators change, and which gateways are told", async () => {
    const agentId = await agentOnline();
    const path = `/api/v1/agents/${agentId}/reach`;
    const { tenantId } = (await call("POST", "/api/v1/tenants", { name: newId("tnt") })).detail;
    const { projectId } = (await call("POST", "/api/v1/projects", { name: "p", tenantId })).detail;
    const told: AgentNotice[] = [];
    const unsubscribe = await listenToAgent(edge.context, agentId, (notice) => void told.push(notice));
    const before = await edge.call("GET", `/api/v1/agents/${agentId}`);
    const set = await call("PUT", path, { reach: { projectIds: [projectId] } });
    expect(set.detail.reach).to.deep.equal({ tenantId, projectIds: [projectId] });
    const notice = await until("the gateway is told", () => told.find(({ type }) => type === "labels"));
    await unsubscribe();
    const unbound = { labels: { pool: "prod" } };
    const bound = relabelled(unbound, notice as Extract<AgentNotice, { type: "labels" }>);
    expect(bound).to.deep.include({ ...unbound, reach: { tenantId, projectIds: [projectId] } });
    expect(relabelled(bound, { type: "labels", ...unbound }), "an older gateway").to.have.property("reach");
    expect(relabelled(bound, { type: "labels", ...unbound, reach: null })).to.not.have.property("reach");

    const headers = { "if-match": before.headers.get("etag")! };
    const stale = await edge.call("PUT", path, { body: { reach: null }, headers });
    expect(stale.status, "it has another reach now").to.equal(412);
    const admin = await call("POST", "/api/v1/users", { name: newId("usr"), role: null });
    const { userId } = admin.detail;
    await call("PUT", `/api/v1/tenants/${tenantId}/members/${userId}`, { role: "admin" });
    const { token } = (await call("POST", `/api/v1/users/${userId}/tokens`, { name: "t" })).detail;
    const asAdmin = async (reach: object | null): Promise<string> =>
      (await edge.call("PUT", path, { token, body: { reach } })).body.reason ?? "done";
    expect(await asAdmin({ tenantId })).to.equal("done");
    expect(await asAdmin(null), "it would be the installation's").to.equal("malformed_request");
    expect(await asAdmin({ tenantId: "default" })).to.equal("malformed_request");
    expect((await call("PUT", path, { reach: null })).detail.reach).to.equal(null);
    expect(await asAdmin({ tenantId }), "it is no longer the tenant's").to.equal("not_found");
    const [, , entry] = (await call("GET", `/api/v1/audit?object=${agentId}&operation=setAgentReach`)).detail.list;
    expect(entry.after.reach).to.include(projectId);
  });

  it("are asked for by every job with a secret when the project demands it", async () => {
    const pipelineId = await newPipeline();
    const selectors = async () => {
      const { stages } = (await call("POST", `/api/v1/pipelines/${pipelineId}/plan`)).detail;
      return stages[0].jobs.map(({ selector }: { selector: string[] }) => selector);
    };
    expect((await call("GET", DEMAND)).detail).to.deep.equal({
      projectId: "default",
      secrets: false,
      protectedTargets: false,
    });
    expect(await selectors()).to.deep.equal([[], ["pool=prod"], ["trusted pool=prod"]]);
    expect((await call("PUT", DEMAND, { secrets: true })).detail).to.include({ secrets: true });
    expect(await selectors()).to.deep.equal([[], ["trusted pool=prod"], ["trusted pool=prod"]]);
    const { runId } = (await call("POST", `/api/v1/pipelines/${pipelineId}/trigger`, {})).detail as { runId: RunId };
    const plan = await edge.context.stores.plans.loadPlan(runId);
    expect(plan!.jobs.map(({ selector }) => selector.trusted)).to.deep.equal([undefined, true, true]);
    expect((await call("PUT", DEMAND, {})).detail).to.include({ secrets: false });
  });

  it("are named in what a job waits for", async () => {
    await agentOnline();
    const { runId } = (await call("POST", `/api/v1/pipelines/${await newPipeline()}/trigger`, {})).detail;
    const job = await until("the job is queued", async () => {
      const { jobs } = (await call("GET", `/api/v1/pipelines/runs/${runId}`)).detail;
      return jobs[2].waitingFor?.reason === "no_agent_matches" ? jobs[2] : undefined;
    });
    expect(job.waitingFor.text).to.match(/^no online agent matches: a trusted label \(/);
  });

  it("are demanded by administrators of known projects only", async () => {
    const { token } = await edge.userWithRole("maintainer");
    for (const method of ["GET", "PUT"] as const) {
      const body = method === "PUT" ? { body: {} } : {};
      expect((await edge.call(method, DEMAND, { token, ...body })).status).to.equal(403);
      expect((await edge.call(method, "/api/v1/projects/none/trust-demand", body)).status).to.equal(404);
    }
    const refused = await call("PUT", DEMAND, { secrets: "yes", target: true });
    expect(refused.errors.map(({ pointer }: { pointer: string }) => pointer)).to.have.members(["/secrets", "/target"]);
  });
});
