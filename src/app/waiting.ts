/** Why a run or a job that is not running waits, as far as its state tells. Pure. */
import type { JobState } from "../../actors/job/state.ts";
import { gateOfJob } from "../../actors/approval/state.ts";
import type { RunState } from "../../actors/run/state.ts";
import type { PresenceRecord } from "../dispatch/board.ts";
import type { PlannedJob, RunPlan } from "../domain/plan.ts";
import { approvalId } from "../domain/ids.ts";
import { type ApprovalWait, approvalWait, type Gates, type GroupWait, groupWait } from "./gate-waits.ts";
import { matchAgents } from "./agent-match.ts";

export type WaitingFor = PlainWait | ApprovalWait | GroupWait;

export interface PlainWait {
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
    | "agent";
  /** For people. */
  readonly text: string;
  /** Names of the jobs that have not ended; for `needs` alone. */
  readonly needs?: readonly string[];
}

/** Null when the run waits for nothing of its own. */
export function runWaitingFor(
  { state, runId, place, stageApproval }: Pick<RunState, "state" | "runId" | "place" | "stageApproval">,
  plan: Pick<RunPlan, "jobs" | "stages">,
  gates: Gates,
): WaitingFor | null {
  if (state === "pending" && place !== null) return groupWait(place, { runId, job: null, cell: null }, gates);
  if (state === "pending") return { reason: "worker", text: "waits for a worker to begin it" };
  const approval = stageApproval === null ? undefined : gates.approvals.get(stageApproval);
  if (approval !== undefined) return approvalWait(approval, plan);
  return state === "paused" ? PAUSED : null;
}

/** `online` null: presence could not be read. Null for a job that runs or has ended. */
export function jobWaitingFor(
  job: Pick<
    JobState,
    "runId" | "state" | "index" | "cell" | "stageOpen" | "openNeeds" | "paused" | "retryTimer" | "place"
  >,
  plan: Pick<RunPlan, "jobs" | "stages">,
  online: readonly PresenceRecord[] | null,
  gates: Gates,
): WaitingFor | null {
  const planned = plan.jobs[job.index];
  if (planned === undefined) return null;
  switch (job.state) {
    case "pending":
      return stageApprovalFor(job, planned, plan, gates) ?? pendingFor(job, planned, plan);
    case "waiting": {
      if (job.place !== null) return groupWait(job.place, { ...job, job: job.index }, gates);
      const approval = gates.approvals.get(approvalId(job.runId, gateOfJob(job.index, plan)));
      return approval === undefined ? null : approvalWait(approval, plan);
    }
    case "queued":
      return job.paused ? PAUSED : agentFor(planned, online);
    default:
      return null;
  }
}

/** Its stage is the next one, and people have to open it first. */
function stageApprovalFor(
  { runId, stageOpen }: Pick<JobState, "runId" | "stageOpen">,
  { stage }: PlannedJob,
  plan: Pick<RunPlan, "jobs" | "stages">,
  { approvals }: Gates,
): WaitingFor | null {
  const approval = approvals.get(approvalId(runId, { stage }));
  return stageOpen || approval?.state !== "pending" ? null : approvalWait(approval, plan);
}

const PAUSED: PlainWait = { reason: "paused", text: "the run is paused" };

function pendingFor(
  job: Pick<JobState, "cell" | "stageOpen" | "openNeeds" | "paused" | "retryTimer">,
  planned: PlannedJob,
  plan: Pick<RunPlan, "jobs" | "stages">,
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
  if (job.retryTimer !== null) return { reason: "retry", text: "waits before it begins anew" };
  if (job.paused) return PAUSED;
  if (planned.maxParallel !== null) return parallelFor(planned);
  return { reason: "worker", text: "waits for a worker to queue it" };
}

function parallelFor({ maxParallel }: PlannedJob): PlainWait {
  return { reason: "parallel", text: `waits for a cell to end: ${maxParallel} may be at work at once` };
}

function agentFor({ selector }: PlannedJob, online: readonly PresenceRecord[] | null): PlainWait {
  if (online === null) return { reason: "agent", text: "waits for an agent" };
  if (online.length === 0) return { reason: "no_agent_online", text: "no agent is online" };
  const { matching, failing } = matchAgents(selector, online);
  if (matching.length === 0) {
    const clauses = failing.map(({ clause, agents }) => `${clause} fails on ${agents}`);
    return { reason: "no_agent_matches", text: `no online agent matches: ${clauses.join(", ")}` };
  }
  if (matching.every(({ busy, slots }) => busy >= slots)) {
    return { reason: "all_busy", text: `all ${matching.length} matching agents are busy` };
  }
  return { reason: "agent", text: "waits for an agent to take it" };
}
