/** The demand for agents over HTTP: what waits, by project and selector, and which agents would serve it. */
import { expect } from "chai";
import { issueToken } from "../../src/app/identity/tokens.ts";
import { type AgentId, asId, newId, type ProjectId } from "../../src/domain/ids.ts";
import { ANY_AGENT, type AgentSelector, demandTrust, selectorOfContainers } from "../../src/domain/labels.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";
import { until } from "../support/until.ts";

const LINUX: AgentSelector = { matchLabels: [["os", "linux"]], matchExpressions: [] };
const GPU: AgentSelector = {
  matchLabels: [["os", "linux"]],
  matchExpressions: [{ key: "gpu", operator: "In", values: ["a", "b"] }],
};

describe("the demand for agents over HTTP", () => {
  let edge: TestEdge;
  let other: ProjectId;
  const now = Date.now();
  before(async () => {
    edge = await openTestEdge();
    const made = await edge.call("POST", "/api/v1/projects", { body: { name: "Other" } });
    other = asId<ProjectId>(made.body.detail.projectId);
    const home = asId<ProjectId>("default");
    const offers = [
      { projectId: home, selector: LINUX, priority: 0, queuedAt: now - 30_000 },
      { projectId: home, selector: LINUX, priority: 5, queuedAt: now - 60_000 },
      { projectId: home, selector: GPU, priority: 0, queuedAt: now - 20_000 },
      {
        projectId: home,
        selector: selectorOfContainers(ANY_AGENT, { hasContainers: true, isContained: false }),
        priority: 0,
        queuedAt: now - 5_000,
      },
      { projectId: other, selector: demandTrust(LINUX), priority: 0, queuedAt: now - 10_000 },
    ];
    for (const offer of offers) {
      const job = { runId: newId("run"), jobId: newId("job"), jobIndex: 0 };
      await edge.context.board.offer({ ...job, ...offer });
    }
    const record = { bootId: "b", gatewayId: "g", slots: 4 };
    for (const [name, labels, busy] of [
      ["one", { os: "linux" }, 1],
      ["two", { os: "linux" }, 4],
      ["away", { os: "linux", gpu: "a" }, null],
    ] as const) {
      const agentId = asId<AgentId>(`agt_${name}`);
      await edge.context.stores.identity.putAgent({ agentId, name, labels, slots: 4, version: "1", createdAt: 0 });
      if (busy !== null) await edge.context.presence.beat({ ...record, agentId, labels, busy });
    }
  });
  after(() => edge.close());

  const read = async (query = "", token?: string) => {
    const answer = await edge.call("GET", `/api/v1/agents/demand${query}`, token === undefined ? {} : { token });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    return answer.body.detail;
  };
  const clausesOf = async (query: string, token?: string) =>
    (await read(query, token)).groups.map(({ clauses }: { clauses: string[] }) => clauses.join(", "));

  it("counts what waits by project and selector, the oldest first, and says what would serve it", async () => {
    const demand = await read();
    expect(demand).to.include({ waiting: 5, complete: true });
    expect(demand.agents).to.deep.equal({ online: 2, slots: 8, busy: 5 });
    const [linux, gpu, trusted, engine] = demand.groups;
    expect(linux).to.deep.include({
      projectId: "default",
      selector: {
        matchLabels: { os: "linux" },
        matchExpressions: [],
        trusted: false,
        containerEngine: false,
        contained: false,
      },
      clauses: ["os=linux"],
      waiting: 2,
      oldestAt: new Date(now - 60_000).toISOString(),
      wait: { reason: "agent", text: "waits for an agent to take it" },
      freeSlots: 3,
      offline: { matching: 1, agentIds: ["agt_away"] },
    });
    expect(linux.oldestAge).to.be.within(60_000, 120_000);
    expect(demand.oldestAge).to.be.within(60_000, 120_000);
    expect(linux.online).to.include({ online: 2, matching: 2, nearest: null });
    expect(linux.online.busy.map(({ agentId }: { agentId: string }) => agentId)).to.deep.equal(["agt_two"]);
    expect(gpu).to.deep.include({ waiting: 1, freeSlots: 0, offline: { matching: 1, agentIds: ["agt_away"] } });
    expect(gpu.wait.reason).to.equal("no_agent_matches");
    expect(gpu.online.failing.map(({ clause }: { clause: string }) => clause)).to.deep.equal(["gpu In (a, b)"]);
    expect(gpu.online.nearest.failing).to.deep.equal(["gpu In (a, b)"]);
    expect(trusted).to.deep.include({ projectId: other, offline: { matching: 0, agentIds: [] } });
    expect(trusted.selector).to.include({ trusted: true });
    expect(engine.selector).to.include({ containerEngine: true });
  });

  it("counts only what an agent with given labels would get", async () => {
    expect(await clausesOf("?labels=os=linux")).to.deep.equal(["os=linux"]);
    expect(await clausesOf("?labels=os=linux,gpu=b&projectId=default")).to.deep.equal([
      "os=linux",
      "os=linux, gpu In (a, b)",
    ]);
    expect(await clausesOf("?labels=os=linux&trusted=os")).to.deep.equal(["os=linux", "trusted os=linux"]);
    expect(await clausesOf(`?labels=os=linux&trusted=os&projectId=${other}`)).to.deep.equal(["trusted os=linux"]);
    expect(await clausesOf("?labels=container-engine=podman")).to.deep.equal(["container-engine Exists"]);
    expect((await read("?labels=gpu=a")).agents).to.deep.equal({ online: 0, slots: 0, busy: 0 });
    expect((await read("?tenantId=ten_unknown")).waiting).to.equal(0);
    expect((await edge.call("GET", "/api/v1/agents/demand?labels=linux")).body.errors[0].message).to.include(
      "key=value",
    );
    expect((await edge.call("GET", "/api/v1/agents/demand?projectId=prj_none")).status).to.equal(404);
  });

  it("shows a member of one project the jobs of that project, and no agent of the installation", async () => {
    const userId = newId("usr");
    const user = { userId, name: "reader", role: null, passwordHash: "", createdAt: 0, disabled: false };
    await edge.context.stores.identity.createUser(user);
    const token = await issueToken(edge.context, { kind: "personal", subject: userId, name: "test" });
    await edge.call("PUT", `/api/v1/projects/${other}/members/${userId}`, { body: { role: "viewer" } });
    const demand = await read("", token);
    expect(demand).to.deep.include({ waiting: 1, agents: { online: 0, slots: 0, busy: 0 } });
    expect(demand.groups.map(({ projectId }: { projectId: string }) => projectId)).to.deep.equal([other]);
    const hidden = await edge.call("GET", "/api/v1/agents/demand?projectId=default", { token });
    expect(hidden.status).to.equal(404);
  });

  it("does not count a job that a gateway has taken, and says when the board cannot be read", async () => {
    await edge.context.board.take({ labels: { "container-engine": "podman" } }, 60_000, 1);
    await until("the taken job is not counted", async () => (await read()).waiting === 4);
    await edge.redis.kill();
    const answer = await until("the board is read again", async () => {
      const found = await edge.call("GET", "/api/v1/agents/demand");
      return found.status === 200 ? undefined : found;
    });
    expect(answer.body).to.include({ code: 503, reason: "unavailable" });
    await edge.redis.restart();
  });
});
