/** The input of the transition table for a message: the situation in which the message reaches the job. Pure. */
import type { Peers } from "../../src/domain/peers.ts";
import { stepRunId } from "../../src/domain/ids.ts";
import type { RunPlan } from "../../src/domain/plan.ts";
import { decideGate, type Gate } from "../../src/planner/gate.ts";
import { hasCleanup } from "./cleanup.ts";
import { stepFacts, wasCancelled } from "./facts.ts";
import type {
  ClaimRequested,
  ClosedGate,
  JobMessage,
  JobWaits,
  StepEnded,
  UpdateStep,
  UserCancel,
} from "./messages.ts";
import type { StepState } from "../step/state.ts";
import { approvalOf, groupOf } from "./gates.ts";
import { hasRoom } from "./matrix.ts";
import { recordNeed } from "./queueing.ts";
import { isRetried } from "./retrying.ts";
import { changedPart } from "./step-change.ts";
import { evaluateCells, recordCell } from "./spreading.ts";
import { isBound, type JobState } from "./state.ts";
import type { JobInput } from "./transitions.ts";
import { hasNext, walk, walkAfterStep } from "./walk.ts";

/** The message of a run that cancels its jobs. The cancel of one job or step by a user is decided in the same way. */
export const PLAIN_CANCEL = { type: "cancel", reason: "cancelled" } as const satisfies JobMessage;

/** The input for a message to a job in this state; transitions.ts says when each input is looked up. */
export function inputOf(job: JobState, message: JobMessage, plan: RunPlan, peers: Peers): JobInput {
  switch (message.type) {
    case "cellEnded":
      // The ends of several cells may reach the same cell: the first one lets it begin.
      if (job.state !== "pending") return "staleGateAnswer";
      return beginInput(job, plan, peers);
    case "stageOpened":
    case "needEnded":
      if (job.state !== "pending" || needsOthers(job, message, plan)) return "stillBlocked";
      return beginInput(recordNeed(job, message), plan, peers);
    case "stageClosed":
      return INPUT_OF_GATE[message.gate];
    case "approvalEnded":
      if (!isAtApproval(job)) return "staleGateAnswer";
      return message.result === "approved" ? inputAfterApproval(job, plan, peers) : "notApproved";
    case "placed":
      return job.state === "waiting" && job.place !== null ? "ready" : "staleGateAnswer";
    case "placeRefused":
      return job.state === "waiting" && job.place !== null ? "placeDenied" : "staleGateAnswer";
    case "cellDone":
    case "cellRetried":
      return cellsInput(recordCell(job, message, plan).next);
    case "claimRequested":
      return claimInput(job, message);
    case "stepEnded":
      return stepEndInput(job, message, plan, peers);
    case "cancel":
    case "superseded":
      if (job.state !== "running" || job.stepActive) return "cancel";
      return hasCleanup(job, message, plan, stepFacts(job, plan, peers)) ? "cleanUp" : "cancelBetweenSteps";
    case "cancelJob":
    case "cancelStep":
      return userCancelInput(job, message, plan, peers);
    case "updateStep":
      return isUpdatable(job, message, plan, peers) ? "updated" : "updateRefused";
    case "agentLost":
      if (job.grant?.agentId !== message.agentId || job.grant.bootId !== message.bootId) return "otherAgentLost";
      return job.stepActive ? "agentLost" : "agentLostBetweenSteps";
    case "waits":
      return job.state === "queued" && (job.paused || isSame(job.waits, message)) ? "waitUnchanged" : "waitChanged";
    case "timer":
      return timerInput(job, message, plan, peers);
    case "pause":
    case "resume":
      return message.type;
  }
}

/**
 * A job of a stage that has not opened cannot be cancelled: its end would count as a failure before the stages in
 * between.
 */
function userCancelInput(job: JobState, message: UserCancel, plan: RunPlan, peers: Peers): JobInput {
  const canEnd =
    message.type === "cancelJob"
      ? job.stageOpen || job.cell !== null
      : job.stepActive && message.stepRunId === stepRunId(job.runId, job.jobId, job.stepIndex, job.stepAttempt);
  if (job.endedAt !== null || !canEnd) return "cancelRefused";
  if (job.state !== "cancelling") return inputOf(job, PLAIN_CANCEL, plan, peers);
  return message.type === "cancelStep" && job.cleanup === "running" ? "cleanupOver" : "cancelAgain";
}

/**
 * A step is changed before its dispatch, and a priority before the job has an agent. The cells of a matrix that is not
 * spread have step runs of their own later.
 */
function isUpdatable(
  job: JobState,
  { stepRunId: id, change, expected }: UpdateStep,
  plan: RunPlan,
  peers: Peers,
): boolean {
  const step = peers.state(id) as StepState | undefined;
  if (job.endedAt !== null || isUnspread(job, plan)) return false;
  if (step?.jobId !== job.jobId || step.state !== "pending") return false;
  if (expected !== undefined && changedPart(job, step, expected, plan) !== null) return false;
  return change.priority === undefined || !isBound(job);
}

function isSame(waits: JobState["waits"], { reason, clause }: JobWaits): boolean {
  return waits?.reason === reason && waits.clause === clause;
}

const INPUT_OF_GATE: Record<ClosedGate, JobInput> = {
  condition: "noStepRuns",
  condition_failed: "conditionFailed",
  expression_limit: "conditionFailed",
  upstream_failed: "upstreamFailed",
  approval_rejected: "notApproved",
  approval_expired: "notApproved",
};

/**
 * True when the need that has ended is not the last one, and its end does not end the job. A job may have a thousand
 * needs, so this copies none of them.
 */
function needsOthers(job: JobState, message: JobMessage, plan: RunPlan): boolean {
  if (message.type !== "needEnded") return false;
  const endsJob = plan.jobs[job.index]!.when === null && (job.upstreamFailed || !message.passed);
  return !endsJob && job.openNeeds.some((index) => index !== message.index);
}

/** The input for a pending job that has taken in what the message says. */
function beginInput(job: JobState, plan: RunPlan, peers: Peers): JobInput {
  const { when } = plan.jobs[job.index]!;
  if (job.upstreamFailed && when === null) return "upstreamFailed";
  if (!job.stageOpen || job.openNeeds.length > 0) return "stillBlocked";
  if (!isUnspread(job, plan)) {
    const gate = gateOf(job, plan, peers);
    if (gate !== "open") return INPUT_OF_GATE[gate];
    const walked = walk(job, plan, stepFacts(job, plan, peers));
    if (!hasNext(walked, plan)) return walked.job.failing === "" ? "noStepRuns" : "conditionFailed";
    if (!hasRoom(job, plan, peers)) return "stillBlocked";
  }
  const approval = approvalOf(job, plan, peers);
  if (approval !== "open" && approval !== "pending") return "notApproved";
  const input = inputAfterApproval(job, plan, peers);
  // No approval is requested for a job that cannot begin in any case.
  const canBegin = input === "ready" || input === "spread" || input === "gated";
  return approval === "pending" && canBegin ? "gated" : input;
}

function isAtApproval({ state, place }: JobState): boolean {
  return state === "waiting" && place === null;
}

/** The input for a job that lacks at most a place in its group. */
function inputAfterApproval(job: JobState, plan: RunPlan, peers: Peers): JobInput {
  const facts = stepFacts(job, plan, peers);
  if (isUnspread(job, plan)) {
    if (typeof evaluateCells(job, plan, facts) !== "string") return "spread";
    return job.upstreamFailed ? "upstreamFailed" : "cannotSpread";
  }
  const group = groupOf(job, plan, facts);
  if (group === null) return "ready";
  return group === "invalid" ? "placeDenied" : "gated";
}

/** True for a job whose cells are still to be made. */
function isUnspread({ index, cell }: JobState, plan: RunPlan): boolean {
  return cell === null && plan.jobs[index]!.cells !== null;
}

/** The input for a job that has taken in what one of its cells says. */
function cellsInput({ cells }: JobState): JobInput {
  if (cells.some(({ result }) => result === null)) return "cellsRemain";
  if (cells.some(({ result }) => result === "failed" || result === "tolerated")) return "cellsFailed";
  return cells.every(({ result }) => result === "success") ? "cellsPassed" : "cellsCancelled";
}

function gateOf(job: JobState, plan: RunPlan, peers: Peers): Gate {
  const { when, needs } = plan.jobs[job.index]!;
  const status = {
    success: !job.upstreamFailed,
    failure: job.upstreamFailed,
    // A job may have a thousand needs, so they are read only for a condition that asks.
    get cancelled() {
      return job.upstreamFailed && needs.some((index) => wasCancelled(job.runId, index, plan, peers));
    },
  };
  return decideGate(when, stepFacts(job, plan, peers), status);
}

function claimInput(job: JobState, claim: ClaimRequested): JobInput {
  if (job.state === "queued" && !job.paused) return "claimed";
  const isRepeat =
    job.grant !== null &&
    job.grant.requestId === claim.requestId &&
    job.grant.agentId === claim.agentId &&
    job.grant.bootId === claim.bootId;
  return isRepeat ? "claimedAgain" : "claimRefused";
}

function stepEndInput(job: JobState, message: StepEnded, plan: RunPlan, peers: Peers): JobInput {
  const facts = stepFacts(job, plan, peers);
  if (job.state === "cancelling" && hasCleanup(job, message, plan, facts)) return "cleanUp";
  if (job.state === "cancelling") return job.reason === "timeout" ? "timeoutDone" : "cancelDone";
  if (message.outcome === "lost" || message.outcome === "notStarted") return "stepLost";
  if (message.outcome === "cancelled") return "stepCancelled";
  if (isRetried(job, message, plan)) return "stepRetried";
  const walked = walkAfterStep(job, message, plan, facts);
  if (hasNext(walked, plan)) return "stepsRemain";
  return walked.job.failing === "" ? "lastStepDone" : "stepFailed";
}

function timerInput(job: JobState, message: JobMessage & { type: "timer" }, plan: RunPlan, peers: Peers): JobInput {
  const timers = { queueTimeout: job.queueTimer, timeout: job.timeoutTimer, retry: job.retryTimer };
  if (timers[message.timer]?.generation !== message.generation) return "staleTimer";
  if (message.timer === "queueTimeout") return "queueTimedOut";
  if (message.timer === "retry") return "retryDue";
  if (job.state === "cancelling") return "cleanupOver";
  if (job.stepActive) return "timedOut";
  return hasCleanup(job, message, plan, stepFacts(job, plan, peers)) ? "cleanUp" : "timedOutBetweenSteps";
}
