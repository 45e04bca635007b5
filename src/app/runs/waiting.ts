/** Why a run, a job or a step waits that is not running: `waitingFor`, computed from its state. Pure. */
import type { z } from "zod";
import type { JobState } from "../../../actors/job/state.ts";
import { type GatedPlan, gateOfJob } from "../../../actors/approval/state.ts";
import type { RunState } from "../../../actors/run/state.ts";
import type { StepState } from "../../../actors/step/state.ts";
import { type Agents, agentWait } from "../../domain/agent-wait.ts";
import { approvalId, type JobRunId, type ProjectId } from "../../domain/ids.ts";
import type { AgentSelector } from "../../domain/labels.ts";
import type { PlannedJob, RunPlan } from "../../domain/plan.ts";
import { isFinalRunStatus } from "../../domain/status.ts";
import { stepName } from "../../../actors/job/step-name.ts";
import type { RunSummary } from "../../stores/ports/aggregates.ts";
import { agentFacts, type AgentFacts } from "./agent-facts.ts";
import { approvalWait, type WaitFacts, groupWait } from "./approval-and-group-waits.ts";
import type { QueueFacts } from "./queue-facts.ts";
import type { PlainWaitShape, waitingForShape } from "./run-shapes.ts";

export type WaitingFor = z.infer<typeof waitingForShape>;
export type PlainWait = z.infer<typeof PlainWaitShape>;

/** Null when a job of the run is bound to an agent, or the run has ended. */
export function runWaitingFor(
  { status, bound, waits, projectId }: Pick<RunSummary, "status" | "bound" | "waits" | "projectId">,
  agents: Agents,
): WaitingFor | null {
  if (isFinalRunStatus(status)) return null;
  if (status === "paused") return PAUSED;
  if (bound) return null;
  switch (waits?.reason) {
    case undefined:
      return status === "pending" ? { reason: "worker", text: "waits for a worker to begin it" } : null;
    case "agent":
      return agentWaitFor(waits.selector, projectId, agents);
    case "retry":
      return RETRY;
    case "approval":
      return { reason: "approval", text: `waits for the approval of ${waits.gate}` };
    case "concurrency":
      return { reason: "concurrency", text: `waits for a place in the group ${JSON.stringify(waits.group)}` };
  }
}

/**
 * Adds to a run's wait what the snapshot, the groups and the queue tell: who has to approve, which run holds the place, and
 * the place in the queue.
 */
export function detailedWait(
  wait: WaitingFor | null,
  { runId, place, stageApproval }: Pick<RunState, "runId" | "place" | "stageApproval">,
  jobs: Iterable<{ readonly waitingFor: WaitingFor | null }>,
  plan: GatedPlan,
  facts: WaitFacts,
): WaitingFor | null {
  if (wait?.reason === "concurrency" && place !== null) {
    return groupWait(place, { runId, job: null, cell: null }, facts);
  }
  const stageApprovalState = stageApproval === null ? undefined : facts.approvals.get(stageApproval);
  if (wait?.reason === "approval" && stageApprovalState !== undefined) return approvalWait(stageApprovalState, plan);
  if (wait?.reason === "approval" || wait?.reason === "concurrency") {
    for (const { waitingFor } of jobs) if (waitingFor?.reason === wait.reason) return waitingFor;
  }
  if (wait !== null && "agents" in wait && facts.queue !== undefined) {
    // The first of the jobs that wait for the same.
    for (const { waitingFor } of jobs) if (waitingFor?.text === wait.text) return waitingFor;
  }
  return wait;
}

/** Null for a job that runs or has ended. */
export function jobWaitingFor(
  job: Pick<
    JobState,
    "runId" | "jobId" | "state" | "index" | "cell" | "stageOpen" | "openNeeds" | "paused" | "retryTimer" | "place"
  >,
  plan: GatedPlan & Pick<RunPlan, "projectId">,
  agents: Agents,
  facts: WaitFacts,
): WaitingFor | null {
  const planned = plan.jobs[job.index];
  if (planned === undefined) return null;
  switch (job.state) {
    case "pending":
      return stageApprovalFor(job, planned, plan, facts) ?? pendingFor(job, planned, plan);
    case "waiting": {
      if (job.place !== null) return groupWait(job.place, { ...job, job: job.index }, facts);
      const approval = facts.approvals.get(approvalId(job.runId, gateOfJob(job.index, plan)));
      return approval === undefined ? null : approvalWait(approval, plan);
    }
    case "queued":
      if (job.paused) return PAUSED;
      return withQueueFacts(agentWaitFor(planned.selector, plan.projectId, agents), job.jobId, facts);
    default:
      return null;
  }
}

/** The wait of a job for the approval of its stage; null without one. */
function stageApprovalFor(
  { runId, stageOpen }: Pick<JobState, "runId" | "stageOpen">,
  { stage }: PlannedJob,
  plan: GatedPlan,
  { approvals }: WaitFacts,
): WaitingFor | null {
  const approval = approvals.get(approvalId(runId, { stage }));
  return stageOpen || approval?.state !== "pending" ? null : approvalWait(approval, plan);
}

/** `jobWait`: what the step's job waits for. `online`: the agents, as far as they are known. Null for a step that runs or has ended. */
export function stepWaitingFor(
  step: Pick<StepState, "stepRunId" | "state" | "index" | "grant">,
  job: Pick<JobState, "index" | "matrix" | "stepIndex" | "paused" | "retryTimer">,
  plan: Pick<RunPlan, "jobs">,
  jobWait: WaitingFor | null,
  { online }: Pick<Agents, "online">,
): WaitingFor | null {
  if (step.state === "queued") {
    const holder = online?.find(({ agentId }) => agentId === step.grant?.agentId);
    const held = holder?.waits?.find(({ stepRunId }) => stepRunId === step.stepRunId);
    if (held !== undefined) return { reason: "token", text: held.text };
    return { reason: "start", text: `agent ${step.grant?.agentId} has been sent it, and has not reported its start` };
  }
  if (step.state !== "pending") return null;
  if (jobWait !== null) {
    const text = jobWait.text.startsWith("waits ") ? `its job ${jobWait.text}` : `its job waits: ${jobWait.text}`;
    return { reason: "job", text };
  }
  if (step.index > job.stepIndex) {
    const before = stepName(plan.jobs[job.index]?.steps[job.stepIndex], job.matrix);
    return { reason: "step", text: `waits for step ${before} to end` };
  }
  if (job.retryTimer !== null) return { reason: "retry", text: "waits before its next attempt" };
  return job.paused ? PAUSED : { reason: "worker", text: "waits for a worker to dispatch it" };
}

const PAUSED: PlainWait = { reason: "paused", text: "the run is paused" };
const RETRY: PlainWait = { reason: "retry", text: "waits before the next attempt" };

function pendingFor(
  job: Pick<JobState, "cell" | "stageOpen" | "openNeeds" | "paused" | "retryTimer">,
  planned: PlannedJob,
  plan: GatedPlan,
): PlainWait {
  if (!job.stageOpen && job.cell !== null) return parallelFor(planned);
  if (!job.stageOpen) {
    const before = plan.stages[planned.stage - 1]?.name;
    const text = before === undefined ? "waits for the run to begin" : `waits for stage ${before} to end`;
    return { reason: "stage", text };
  }
  if (job.openNeeds.length > 0) {
    const needs = job.openNeeds.map((index) => plan.jobs[index]?.name ?? `#${index}`);
    return { reason: "needs", text: `waits for ${needs.join(", ")}`, needs };
  }
  if (job.retryTimer !== null) return RETRY;
  if (job.paused) return PAUSED;
  if (planned.maxParallel !== null) return parallelFor(planned);
  return { reason: "worker", text: "waits for a worker to queue it" };
}

function parallelFor({ maxParallel }: PlannedJob): PlainWait {
  return { reason: "parallel", text: `waits for a cell to end: ${maxParallel} may be at work at once` };
}

/** Adds to the wait of a job what the queue tells. */
function withQueueFacts(wait: PlainWait, jobId: JobRunId, { queue }: WaitFacts): PlainWait {
  if (queue === undefined) return wait;
  const { agents, quota } = wait;
  const ahead = queue.ahead.get(jobId);
  const ofQuota = quota && queue.ofQuotas.get(quota.name);
  return {
    ...wait,
    ...(agents && { agents: { ...agents, busy: agents.busy.map((agent) => withHolders(agent, queue)) } }),
    ...(quota && ofQuota && ofQuota.length > 0 && { quota: { ...quota, jobs: ofQuota } }),
    ...(ahead !== undefined && { ahead }),
  };
}

function withHolders<Busy extends AgentFacts["busy"][number]>(agent: Busy, { ofAgents }: QueueFacts): Busy {
  const jobs = ofAgents.get(agent.agentId);
  return jobs === undefined || jobs.length === 0 ? agent : { ...agent, jobs };
}

/** Why no agent that `selector` matches has taken the job. */
function agentWaitFor(selector: AgentSelector, projectId: ProjectId, agents: Agents): PlainWait {
  const { reason, clause, text } = agentWait(selector, projectId, agents);
  const facts = agentFacts(selector, projectId, agents);
  const quota = reason === "quota" ? agents.quotas.find(({ name }) => name === clause) : undefined;
  return {
    reason,
    text,
    ...(facts !== null && { agents: facts }),
    ...(quota !== undefined && { quota: { name: quota.name, taken: quota.taken, limit: quota.limit } }),
  };
}
