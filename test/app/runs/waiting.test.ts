import { expect } from "chai";
import { newJob } from "../../../actors/job/state.ts";
import { newStep } from "../../../actors/step/state.ts";
import type { WaitFacts } from "../../../src/app/runs/approval-and-group-waits.ts";
import type { HeldJob, QueueFacts } from "../../../src/app/runs/queue-facts.ts";
import { jobWaitingFor, runWaitingFor, stepWaitingFor } from "../../../src/app/runs/waiting.ts";
import type { PresenceRecord } from "../../../src/board/board.ts";
import { asId, type AgentId, type StepRunId, type TenantId, type RunId } from "../../../src/domain/ids.ts";
import type { QuotaUse } from "../../../src/domain/quotas.ts";
import { planOf } from "../../support/plans.ts";

const plan = planOf([
  [{ name: "build" }],
  [
    { name: "test", needs: [] },
    { name: "report", needs: [1], selector: { matchLabels: [["os", "linux"]], matchExpressions: [] } },
  ],
]);
const job = (index: number, patch: object) => ({
  ...newJob(asId<RunId>("run_1"), plan.jobs[index]!),
  ...patch,
});
const agent = (labels: Record<string, string>, busy: number): PresenceRecord => ({
  agentId: asId<AgentId>("agt_1"),
  bootId: "b",
  gatewayId: "g",
  labels,
  slots: 1,
  busy,
});

const agents = (online: readonly PresenceRecord[] | null, quotas: readonly QuotaUse[] = []) => ({ online, quotas });
const PROJECT = plan.projectId;
const NONE: WaitFacts = { approvals: new Map(), groups: new Map() };

describe("what a job waits for", () => {
  it("is the stage before its own, until its own stage opens", () => {
    expect(jobWaitingFor(job(1, {}), plan, agents([]), NONE)).to.deep.equal({
      reason: "stage",
      text: "waits for stage stage-0 to end",
    });
    expect(jobWaitingFor(job(0, {}), plan, agents([]), NONE)).to.include({
      reason: "stage",
      text: "waits for the run to begin",
    });
  });

  it("is the needed jobs, by name", () => {
    const waiting = jobWaitingFor(job(2, { stageOpen: true, openNeeds: [1] }), plan, agents([]), NONE);
    expect(waiting).to.deep.equal({ reason: "needs", text: "waits for test", needs: ["test"] });
  });

  it("is the end of a pause, whatever agents are online", () => {
    const waiting = jobWaitingFor(job(0, { state: "queued", stageOpen: true, paused: true }), plan, agents([]), NONE);
    expect(waiting).to.include({ reason: "paused" });
  });

  it("tells apart that no agent is online, none matches, and all are busy", () => {
    const queued = job(2, { state: "queued", stageOpen: true, openNeeds: [] });
    expect(jobWaitingFor(queued, plan, agents([]), NONE)).to.include({ reason: "no_agent_online" });
    const unfit = jobWaitingFor(queued, plan, agents([agent({ os: "mac" }, 0), agent({}, 0)]), NONE);
    const { agentId } = agent({}, 0);
    expect(unfit).to.deep.equal({
      reason: "no_agent_matches",
      text: "no online agent matches: os=linux (2 of 2 agents fail it)",
      agents: {
        online: 2,
        matching: 0,
        failing: [{ clause: "os=linux", agents: 2, agentIds: [agentId, agentId] }],
        nearest: { agentId, failing: ["os=linux"] },
        busy: [],
      },
    });
    expect(jobWaitingFor(queued, plan, agents([agent({ os: "linux" }, 1)]), NONE)).to.include({ reason: "all_busy" });
    expect(jobWaitingFor(queued, plan, agents([agent({ os: "linux" }, 0)]), NONE)).to.include({ reason: "agent" });
    expect(jobWaitingFor(queued, plan, agents(null), NONE)).to.include({ reason: "agent" });
  });

  it("adds the place in the queue, and who holds the agents and the quota, where they are known", () => {
    const queued = job(2, { state: "queued", stageOpen: true, openNeeds: [] });
    const held = { runId: "run_2", jobId: "job_2", pipelineId: "pl_2", projectId: PROJECT } as HeldJob;
    const { agentId } = agent({}, 0);
    const queue: QueueFacts = {
      ahead: new Map([[queued.jobId, 4]]),
      ofAgents: new Map([[agentId, [held]]]),
      ofQuotas: new Map([["label:os=linux", [held]]]),
    };
    const busy = jobWaitingFor(queued, plan, agents([agent({ os: "linux" }, 1)]), { ...NONE, queue });
    expect(busy).to.include({ reason: "all_busy", ahead: 4 });
    expect(busy).to.have.deep.nested.property("agents.busy", [
      { agentId, busy: 1, slots: 1, takesNoJobs: "", jobs: [held] },
    ]);
    const subject = { kind: "label", key: "os", value: "linux" } as const;
    const quotas = [{ name: "label:os=linux", limit: 1, taken: 1, subject }];
    const full = jobWaitingFor(queued, plan, agents([agent({ os: "linux" }, 0)], quotas), { ...NONE, queue });
    expect(full).to.deep.include({ quota: { name: "label:os=linux", taken: 1, limit: 1, jobs: [held] } });
  });

  it("names no agent that may not take jobs of the project", () => {
    const queued = job(2, { state: "queued", stageOpen: true, openNeeds: [] });
    const reach = { tenantId: asId<TenantId>("tnt_other"), projectIds: null };
    const foreign = { ...agent({ os: "linux" }, 1), reach };
    const waiting = jobWaitingFor(queued, plan, agents([foreign, agent({ os: "mac" }, 0)]), NONE);
    expect(waiting).to.have.nested.property("agents.online", 1);
    expect(waiting).to.have.nested.property("agents.busy").that.deep.equals([]);
  });

  it("is null once the job runs or has ended", () => {
    for (const state of ["running", "cancelling", "success", "failed", "cancelled"]) {
      expect(jobWaitingFor(job(0, { state }), plan, agents([]), NONE)).to.equal(null);
    }
  });
});

describe("what a run waits for", () => {
  const summary = (fields: object) =>
    ({ status: "running", bound: false, waits: null, projectId: PROJECT, ...fields }) as const;
  const selector = { matchLabels: [["os", "linux"]] as const, matchExpressions: [] };

  it("is a worker before it begins, then null, or the end of a pause", () => {
    expect(runWaitingFor(summary({ status: "pending" }), agents(null))).to.include({ reason: "worker" });
    expect(runWaitingFor(summary({}), agents(null))).to.equal(null);
    expect(runWaitingFor(summary({ status: "paused", bound: true }), agents(null))).to.include({ reason: "paused" });
  });

  it("is what its jobs wait for while no job is bound to an agent", () => {
    const waits = { reason: "agent", selector };
    expect(runWaitingFor(summary({ waits }), agents(null))).to.include({ reason: "agent" });
    expect(runWaitingFor(summary({ waits }), agents([]))).to.include({ reason: "no_agent_online" });
    expect(runWaitingFor(summary({ waits }), agents([agent({}, 0)]))).to.include({ reason: "no_agent_matches" });
    expect(runWaitingFor(summary({ waits: { reason: "retry" } }), agents([]))).to.include({ reason: "retry" });
    expect(runWaitingFor(summary({ waits: { reason: "approval", gate: "job deploy" } }), agents([]))).to.deep.equal({
      reason: "approval",
      text: "waits for the approval of job deploy",
    });
    const pending = summary({ status: "pending", waits: { reason: "concurrency", group: "deploy" } });
    expect(runWaitingFor(pending, agents([]))).to.deep.equal({
      reason: "concurrency",
      text: 'waits for a place in the group "deploy"',
    });
    expect(runWaitingFor(summary({ waits, bound: true }), agents([]))).to.equal(null);
    expect(runWaitingFor(summary({ waits, status: "failed" }), agents([]))).to.equal(null);
  });
});

describe("what a step waits for", () => {
  const begun = job(0, { state: "running", stepIndex: 0 });
  const step = (index: number, patch: object = {}) => ({ ...newStep(begun, index), ...patch });
  const NO_AGENT = { reason: "no_agent_online", text: "no agent is online" } as const;

  it("is its job, then the step before it, then the report of its start, then null", () => {
    expect(stepWaitingFor(step(0), job(0, {}), plan, NO_AGENT, agents([]))).to.deep.equal({
      reason: "job",
      text: "its job waits: no agent is online",
    });
    expect(stepWaitingFor(step(1), begun, plan, null, agents([]))).to.deep.equal({
      reason: "step",
      text: "waits for step step-0 to end",
    });
    const grant = { agentId: asId<AgentId>("agt_1"), bootId: "b", requestId: "", token: 1 };
    const sent = stepWaitingFor(step(0, { state: "queued", grant }), begun, plan, null, agents([]));
    expect(sent).to.include({ reason: "start" });
    expect(sent!.text).to.include("agt_1");
    expect(stepWaitingFor(step(0, { state: "running", grant }), begun, plan, null, agents([]))).to.equal(null);
  });

  it("is the token of its checkout, as the gateway of its agent says", () => {
    const grant = { agentId: asId<AgentId>("agt_1"), bootId: "b", requestId: "", token: 1 };
    const sent = step(0, { state: "queued", grant });
    const wait = { stepRunId: sent.stepRunId, text: "waits for the token of its checkout: the host is away" };
    const reasons = (online: readonly PresenceRecord[] | null, of = sent) =>
      stepWaitingFor(of, begun, plan, null, agents(online))?.reason;
    const waits = [{ ...wait, stepRunId: asId<StepRunId>("step_x") }, wait];
    expect(stepWaitingFor(sent, begun, plan, null, agents([{ ...agent({}, 1), waits }]))).to.deep.equal({
      reason: "token",
      text: wait.text,
    });
    expect(reasons([{ ...agent({}, 1), agentId: asId<AgentId>("agt_2"), waits }])).to.equal("start");
    expect(reasons([agent({}, 1)])).to.equal("start");
    expect(reasons(null)).to.equal("start");
    expect(reasons([{ ...agent({}, 1), waits }], { ...sent, state: "running" })).to.equal(undefined);
  });

  it("is the delay before its retry, or the end of a pause between two steps", () => {
    const retrying = { ...begun, retryTimer: { generation: 1, dueAt: 5 } };
    expect(stepWaitingFor(step(0), retrying, plan, null, agents([]))).to.include({ reason: "retry" });
    expect(stepWaitingFor(step(1), retrying, plan, null, agents([]))).to.include({ reason: "step" });
    expect(stepWaitingFor(step(0), { ...begun, paused: true }, plan, null, agents([]))).to.include({
      reason: "paused",
    });
  });
});
