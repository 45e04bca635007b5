/** Why a run, a job or a step that is not running waits, as far as its state tells. Pure. */
import type { JobState } from "../../actors/job/state.ts";
import type { StepState } from "../../actors/step/state.ts";
import type { PresenceRecord } from "../dispatch/board.ts";
import type { ProjectId } from "../domain/ids.ts";
import type { AgentSelector } from "../domain/labels.ts";
import type { PlannedJob, RunPlan } from "../domain/plan.ts";
import { isReached, type QuotaUse } from "../domain/quotas.ts";
import { isFinalRunStatus } from "../domain/status.ts";
import type { RunSummary } from "../stores/aggregates.ts";
import { describeFailing, matchAgents } from "./agent-match.ts";

export interface WaitingFor {
  readonly reason:
    | "worker"
    | "paused"
    | "stage"
    | "needs"
    | "retry"
    | "parallel"
    | "no_agent_online"
    | "no_agent_matches"
    | "all_busy"
    | "quota"
    | "agent"
    | "job"
    | "step"
    | "start";
  /** For people. */
  readonly text: string;
  /** Names of the jobs that have not ended; for `needs` alone. */
  readonly needs?: readonly string[];
}

/** What is known of those that may take jobs. */
export interface Agents {
  /** Null when presence could not be read. */
  readonly online: readonly PresenceRecord[] | null;
  readonly quotas: readonly QuotaUse[];
}

/** Null when a job of the run is at work, or the run has ended. */
export function runWaitingFor(
  { status, bound, waits, projectId }: Pick<RunSummary, "status" | "bound" | "waits" | "projectId">,
  agents: Agents,
): WaitingFor | null {
  if (isFinalRunStatus(status)) return null;
  if (status === "pending") return { reason: "worker", text: "waits for a worker to begin it" };
  if (status === "paused") return PAUSED;
  if (bound || waits === null) return null;
  switch (waits.reason) {
    case "agent":
      return agentWaitingFor(waits.selector, projectId, agents);
    case "retry":
      return RETRY;
  }
}

/** Null for a job that runs or has ended. */
export function jobWaitingFor(
  job: Pick<JobState, "state" | "index" | "cell" | "stageOpen" | "openNeeds" | "paused" | "retryTimer">,
  plan: Pick<RunPlan, "projectId" | "jobs" | "stages">,
  agents: Agents,
): WaitingFor | null {
  const planned = plan.jobs[job.index];
  if (planned === undefined) return null;
  switch (job.state) {
    case "pending":
      return pendingFor(job, planned, plan);
    case "queued":
      return job.paused ? PAUSED : agentWaitingFor(planned.selector, plan.projectId, agents);
    default:
      return null;
  }
}

/** `inJob`: what the step's job waits for. Null for a step that runs or has ended. */
export function stepWaitingFor(
  step: Pick<StepState, "state" | "index" | "grant">,
  job: Pick<JobState, "index" | "stepIndex" | "paused" | "retryTimer">,
  plan: Pick<RunPlan, "jobs">,
  inJob: WaitingFor | null,
): WaitingFor | null {
  if (step.state === "queued") {
    return { reason: "start", text: `agent ${step.grant?.agentId} has been sent it, and has not reported its start` };
  }
  if (step.state !== "pending") return null;
  if (inJob !== null) return { reason: "job", text: `its job waits: ${inJob.text}` };
  if (step.index > job.stepIndex) {
    const before = plan.jobs[job.index]?.steps[job.stepIndex]?.name;
    return { reason: "step", text: `waits for step ${before} to end` };
  }
  if (job.retryTimer !== null) return { reason: "retry", text: "waits before its next attempt" };
  return job.paused ? PAUSED : { reason: "worker", text: "waits for a worker to dispatch it" };
}

const PAUSED: WaitingFor = { reason: "paused", text: "the run is paused" };
const RETRY: WaitingFor = { reason: "retry", text: "waits before it begins anew" };

function pendingFor(
  job: Pick<JobState, "cell" | "stageOpen" | "openNeeds" | "paused" | "retryTimer">,
  planned: PlannedJob,
  plan: Pick<RunPlan, "jobs" | "stages">,
): WaitingFor {
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

function parallelFor({ maxParallel }: PlannedJob): WaitingFor {
  return { reason: "parallel", text: `waits for a cell to end: ${maxParallel} may be at work at once` };
}

/** Of what waits for an agent that `selector` matches. */
export function agentWaitingFor(selector: AgentSelector, projectId: ProjectId, { online, quotas }: Agents): WaitingFor {
  if (online === null) return { reason: "agent", text: "waits for an agent" };
  if (online.length === 0) return { reason: "no_agent_online", text: "no agent is online" };
  const { matching, failing } = matchAgents(selector, online);
  if (matching.length === 0) {
    return { reason: "no_agent_matches", text: `no online agent matches: ${describeFailing(failing, online.length)}` };
  }
  const reached = reachedQuota(projectId, matching, quotas);
  if (reached !== undefined) return quotaFor(reached);
  if (matching.every(isBusy)) {
    const count = matching.length === 1 ? "the only matching agent is" : `all ${matching.length} matching agents are`;
    return { reason: "all_busy", text: `${count} busy` };
  }
  return { reason: "agent", text: "waits for an agent to take it" };
}

/** That of the project, or one of agents when it alone keeps those back that have a free slot. */
function reachedQuota(
  projectId: ProjectId,
  matching: readonly PresenceRecord[],
  quotas: readonly QuotaUse[],
): QuotaUse | undefined {
  const reached = quotas.filter(isReached);
  const ofProject = reached.find(({ subject }) => subject.kind === "project" && subject.projectId === projectId);
  if (ofProject !== undefined) return ofProject;
  const idle = matching.filter((agent) => !isBusy(agent));
  const over = idle.map(({ labels }) =>
    reached.find(({ subject }) => subject.kind === "label" && labels[subject.key] === subject.value),
  );
  return over.includes(undefined) ? undefined : over[0];
}

function quotaFor({ subject, taken, limit }: QuotaUse): WaitingFor {
  const whose =
    subject.kind === "project" ? `project ${subject.projectId}` : `agents with ${subject.key}=${subject.value}`;
  return { reason: "quota", text: `the quota of ${whose} is reached: ${taken} of ${limit} jobs run` };
}

function isBusy({ busy, slots }: PresenceRecord): boolean {
  return busy >= slots;
}
