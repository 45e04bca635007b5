import { expect } from "chai";
import { agentWait } from "../../src/domain/agent-wait.ts";
import { type AgentId, asId, type ProjectId, type TenantId } from "../../src/domain/ids.ts";
import {
  type AgentSelector,
  ANY_AGENT,
  demandTrust,
  describeSelector,
  selectorOfContainers,
} from "../../src/domain/labels.ts";
import type { QuotaUse } from "../../src/domain/quotas.ts";

const PROJECT = asId<ProjectId>("default");
const agent = (labels: Record<string, string>, busy: number) => ({ labels, slots: 1, busy });
type Agent = ReturnType<typeof agent>;
const agents = (online: readonly Agent[] | null, quotas: readonly QuotaUse[] = []) => ({ online, quotas });

describe("the reason why a queued job waits", () => {
  it("names every clause that fails, with the number of agents that fail it", () => {
    const matchExpressions = [{ key: "gpu", operator: "Exists", values: [] }] as const;
    const selector = { matchLabels: [["os", "linux"]] as const, matchExpressions };
    const text = (...online: Agent[]) => agentWait(selector, PROJECT, agents(online)).text;
    expect(text()).to.equal("no agent is online");
    expect(text(agent({}, 0))).to.equal("no online agent matches: os=linux (the only agent fails it)");
    expect(text(agent({ os: "mac" }, 0), agent({ os: "linux" }, 0), agent({}, 0))).to.equal(
      "no online agent matches: os=linux (2 of 3 agents fail it), gpu Exists (1 of 3 agents fails it)",
    );
    const fit = { os: "linux", gpu: "a100" };
    expect(text(agent(fit, 1), agent({}, 0))).to.equal("the only matching agent is busy");
    expect(text(agent(fit, 1), agent(fit, 1))).to.equal("all 2 matching agents are busy");
  });

  it("names the container engine that no agent has, also where only labels of an operator count", () => {
    const text = (selector: AgentSelector, ...online: Agent[]) => agentWait(selector, PROJECT, agents(online)).text;
    const engine = { "container-engine": "podman" };
    const contained = selectorOfContainers(ANY_AGENT, { hasContainers: true, isContained: true });
    expect(text(contained, agent({}, 0))).to.equal(
      "no online agent matches: container-engine Exists (the only agent fails it)",
    );
    expect(text(contained, agent(engine, 0), agent({}, 0))).to.equal("waits for an agent to take it");
    const trusted = demandTrust({ ...contained, matchLabels: [["zone", "a"]] });
    expect(text(trusted, { ...agent({ ...engine, zone: "a" }, 0), trusted: ["zone"] } as Agent)).to.equal(
      "waits for an agent to take it",
    );
    expect(describeSelector(trusted)).to.deep.equal(["container-engine Exists", "trusted zone=a"]);
  });

  it("names agents that run steps in containers alone, for a job that has steps without", () => {
    const strict = agent({ "container-engine": "podman", isolation: "container" }, 0);
    const text = (hasContainers: boolean, isContained: boolean, ...online: Agent[]) =>
      agentWait(selectorOfContainers(ANY_AGENT, { hasContainers, isContained }), PROJECT, agents(online)).text;
    const refused = "no online agent matches: isolation NotIn (container) (the only agent fails it)";
    expect(text(false, false, strict)).to.equal(refused);
    expect(text(true, false, strict)).to.equal(refused);
    expect(text(true, true, strict)).to.equal("waits for an agent to take it");
    expect(text(false, false, strict, agent({ isolation: "namespaces" }, 0))).to.equal("waits for an agent to take it");
  });

  it("says why agents with free slots take no jobs", () => {
    const full = { ...agent({}, 0), takesNoJobs: "its disk is full" };
    const wait = (...online: Agent[]) => agentWait(ANY_AGENT, PROJECT, agents(online));
    expect(wait(full)).to.include({
      reason: "all_busy",
      text: "the only matching agent is not taking jobs: its disk is full",
    });
    expect(wait(full, agent({}, 1)).text).to.equal(
      "all 2 matching agents are busy, or not taking jobs (1 of them; one: its disk is full)",
    );
    expect(wait(full, agent({}, 0)).reason).to.equal("agent");
  });

  it("says that the agents that match are draining", () => {
    const drained = { ...agent({}, 0), draining: true };
    const wait = (...online: Agent[]) => agentWait(ANY_AGENT, PROJECT, agents(online));
    expect(wait(drained)).to.include({
      reason: "all_busy",
      text: "the only matching agent is not taking jobs: it is draining: it finishes what it holds and takes no new job",
    });
    expect(wait(drained, agent({}, 1)).reason).to.equal("all_busy");
    expect(wait(drained, agent({}, 0)).reason).to.equal("agent");
  });

  it("names agents of the tenant that are bound to other projects, and nothing of other tenants", () => {
    const tenantId = asId<TenantId>("tnt_own");
    const tenants = new Map([[PROJECT, tenantId]]);
    const bound = (id: string, tenant: string, projectIds: readonly string[] | null, labels = {}) => ({
      ...agent(labels, 0),
      agentId: asId<AgentId>(id),
      reach: { tenantId: asId<TenantId>(tenant), projectIds: projectIds as readonly ProjectId[] | null },
    });
    const other = bound("agt_other", "tnt_own", ["prj_2"]);
    const foreign = bound("agt_foreign", "tnt_2", null);
    const wait = (...online: readonly Agent[]) => agentWait(ANY_AGENT, PROJECT, { online, quotas: [], tenants });
    expect(wait(foreign)).to.include({ reason: "no_agent_online", text: "no agent is online" });
    expect(wait(other, foreign)).to.deep.equal({
      reason: "no_agent_matches",
      clause: "reach",
      text: "no online agent may take it: bound to other projects, so out of reach: agt_other",
    });
    expect(wait(agent({}, 1), other, foreign).text).to.equal(
      "the only matching agent is busy; bound to other projects, so out of reach: agt_other",
    );
    for (const reached of [bound("agt_1", "tnt_own", [PROJECT]), bound("agt_2", "tnt_own", null)]) {
      expect(wait(reached, foreign).reason).to.equal("agent");
    }
    const selector = { matchLabels: [["os", "linux"]] as const, matchExpressions: [] };
    expect(agentWait(selector, PROJECT, { online: [agent({}, 0), foreign], quotas: [], tenants }).text).to.equal(
      "no online agent matches: os=linux (the only agent fails it)",
    );
  });

  it("is the same while the same clauses fail, however many agents there are", () => {
    const selector = { matchLabels: [["os", "linux"]] as const, matchExpressions: [] };
    const wait = (...online: Agent[]) => agentWait(selector, PROJECT, agents(online));
    expect(wait(agent({}, 0)).clause).to.equal(wait(agent({}, 0), agent({ os: "mac" }, 1)).clause);
  });
});

describe("the reason why a job waits that agents could take", () => {
  const use = (subject: QuotaUse["subject"], taken: number, limit: number): QuotaUse => ({
    name: "quota",
    subject,
    taken,
    limit,
  });
  const project = (taken: number) => use({ kind: "project", projectId: PROJECT }, taken, 4);
  const gpu = (taken: number) => use({ kind: "label", key: "pool", value: "gpu" }, taken, 2);
  const reason = (online: readonly Agent[], ...quotas: QuotaUse[]) =>
    agentWait(ANY_AGENT, PROJECT, agents(online, quotas)).reason;

  it("is the quota of its project, once it is reached", () => {
    expect(agentWait(ANY_AGENT, PROJECT, agents([agent({}, 1)], [project(4)]))).to.deep.equal({
      reason: "quota",
      clause: "quota",
      text: `the quota of project ${PROJECT} is reached: 4 of 4 jobs run`,
    });
    expect(reason([agent({}, 0)], project(3))).to.equal("agent");
    const other = use({ kind: "project", projectId: asId<ProjectId>("prj_OTHER") }, 1, 1);
    expect(reason([agent({}, 0)], other)).to.equal("agent");
    expect(reason([], project(4)), "agents come before quotas").to.equal("no_agent_online");
  });

  it("is the quota of agents when every idle agent is under a reached quota", () => {
    const [inPool, outside] = [agent({ pool: "gpu" }, 0), agent({}, 0)];
    expect(agentWait(ANY_AGENT, PROJECT, agents([inPool], [gpu(2)]))).to.deep.equal({
      reason: "quota",
      clause: "quota",
      text: "the quota of agents with pool=gpu is reached: 2 of 2 jobs run",
    });
    expect(reason([inPool], gpu(1))).to.equal("agent");
    expect(reason([inPool, outside], gpu(2))).to.equal("agent");
    expect(reason([inPool, agent({}, 1)], gpu(2))).to.equal("quota");
    expect(reason([agent({ pool: "gpu" }, 1)], gpu(2))).to.equal("all_busy");
  });
});
