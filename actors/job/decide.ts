/** The job's decisions: names the situation, looks it up in the table, and says what follows from it. Pure. */
import type { OwedEffect } from "../../src/domain/effects.ts";
import type { RunPlan } from "../../src/domain/plan.ts";
import { decideGate, type Facts, type Gate } from "../../src/planner/gate.ts";
import { lookUp } from "../../src/domain/transition-table.ts";
import {
  dispatchStep,
  type JobDecision,
  type JobEffect,
  moved,
  offer,
  publishJob,
  schedule,
  tellStep,
  withdraw,
} from "./effects.ts";
import { endJob, retryJob } from "./endings.ts";
import type { ClaimRequested, ClosedGate, JobMessage, StepEnded } from "./messages.ts";
import { goOnRetrying, isRetried, retryStep } from "./retrying.ts";
import { otherCells, type Peers, stepFacts, wasCancelled } from "./facts.ts";
import { begin, pause, resume } from "./queueing.ts";
import { cellsOf, spread, takeCell, tellCells } from "./spreading.ts";
import { hasNext, type Walk, walk } from "./walk.ts";
import { isAtWork, type JobState } from "./state.ts";
import { JOB_TRANSITIONS, type JobInput } from "./transitions.ts";

/** Decides one message. `now` is the owner's clock in Unix milliseconds. Throws `IllegalTransition` for a `never` cell. */
export function decideJob(job: JobState, message: JobMessage, now: number, plan: RunPlan, peers: Peers): JobDecision {
  const facts = stepFacts(job, plan, peers);
  const input = inputOf(job, message, plan, peers);
  const cell = lookUp("job", JOB_TRANSITIONS, input, job.state);
  if (cell === "late") return { cell, next: job, effects: refuseClaim(job, message, plan) };
  if (cell === "same") return { cell, next: job, effects: input === "claimedAgain" ? repeatDispatch(job) : [] };
  switch (input) {
    case "held":
      return moved(meetNeed(job, message), []);
    case "ready":
      return begin(meetNeed(job, message), now, plan, facts);
    case "readyInVain":
    case "readyBroken":
      return endUnbegun(job, input, message, now, plan, facts);
    case "spread":
    case "spreadInVain":
      return spreadOrEnd(meetNeed(job, message), now, plan, facts);
    case "cellsRemain":
      return takeCell(job, message, plan);
    case "cellsPassed":
      return endJob(takeCell(job, message, plan).next, "success", "", now, plan);
    case "cellsFailed":
      return endJob(takeCell(job, message, plan).next, "failed", "cell_failed", now, plan);
    case "cellsCancelled": {
      const { next } = takeCell(job, message, plan);
      const isOwn = next.cells.some(({ result }) => result === "cancelled");
      return endJob(next, "cancelled", isOwn ? "cancelled" : "upstream_failed", now, plan);
    }
    case "upstreamFailed":
      return endJob(job, "cancelled", "upstream_failed", now, plan);
    case "claimed":
      return grant(job, message as ClaimRequested, now, plan);
    case "stepRetried":
      return retryStep(job, now, plan);
    case "retryDue":
      return job.state === "pending" ? begin({ ...job, retryTimer: null }, now, plan, facts) : goOnRetrying(job);
    case "stepsRemain":
      return advance(job, message as StepEnded, plan, facts);
    case "lastStepDone":
    case "stepFailed": {
      const { job: walked, passed } = afterStep(job, message as StepEnded, plan, facts);
      const state = input === "stepFailed" ? "failed" : "success";
      return endJob({ ...walked, stepActive: false }, state, walked.failing, now, plan, passed);
    }
    case "stepCancelled":
      return endJob(job, "cancelled", "cancelled", now, plan);
    case "cancelDone":
      return endJob(job, "cancelled", job.reason, now, plan);
    case "cancelBetweenSteps":
      return endJob(job, "cancelled", causeOf(message as Cancel), now, plan);
    case "stepLost":
    case "agentLostBetweenSteps":
      return retryJob(job, now, plan, peers);
    case "timeoutDone":
    case "timedOutBetweenSteps":
      return endJob(job, "failed", "timeout", now, plan);
    case "queueTimedOut":
      return endJob(job, "failed", "queue_timeout", now, plan);
    case "cancel":
      if (job.state === "spread") return moved(job, tellCells(job, message));
      return cancel(job, message as Cancel, now, plan);
    case "timedOut":
      return moved({ ...job, state: "cancelling", reason: "timeout", timeoutTimer: null }, [
        cancelStep(job, "timeout", plan),
      ]);
    case "agentLost":
      return moved(job, [tellStep(job, job.stepIndex, { type: "agentLost", reason: "agent_lost" })]);
    case "pause":
    case "resume":
      if (job.state === "spread") return moved({ ...job, paused: input === "pause" }, tellCells(job, message));
      return input === "pause" ? pause(job, now, plan) : resume(job, now, plan);
    case "claimedAgain":
    case "claimedInVain":
    case "staleTimer":
    case "strangerLost":
      throw new Error(`the table has no move for ${input}`);
  }
}

function inputOf(job: JobState, message: JobMessage, plan: RunPlan, peers: Peers): JobInput {
  switch (message.type) {
    case "stageOpened":
    case "needEnded":
    case "cellEnded":
      return job.state === "pending" ? beginInput(meetNeed(job, message), plan, peers) : "held";
    case "stageClosed":
      return INPUT_OF_GATE[message.gate];
    case "cellDone":
    case "cellRetried":
      return cellsInput(takeCell(job, message, plan).next);
    case "claimRequested":
      return claimInput(job, message);
    case "stepEnded":
      return stepEndInput(job, message, plan, peers);
    case "cancel":
      return job.state === "running" && !job.stepActive ? "cancelBetweenSteps" : "cancel";
    case "agentLost":
      if (job.grant?.agentId !== message.agentId || job.grant.bootId !== message.bootId) return "strangerLost";
      return job.stepActive ? "agentLost" : "agentLostBetweenSteps";
    case "timer":
      return timerInput(job, message);
    case "pause":
    case "resume":
      return message.type;
  }
}

const INPUT_OF_GATE: Record<ClosedGate, JobInput> = {
  condition: "readyInVain",
  condition_failed: "readyBroken",
  upstream_failed: "upstreamFailed",
};

/** Of a job as it is with what it has just been told. */
function beginInput(job: JobState, plan: RunPlan, peers: Peers): JobInput {
  const { when } = plan.jobs[job.index]!;
  if (job.upstreamFailed && when === null) return "upstreamFailed";
  if (!job.stageOpen || job.openNeeds.length > 0) return "held";
  if (isUnspread(job, plan)) {
    if (typeof cellsOf(job, plan, stepFacts(job, plan, peers)) !== "string") return "spread";
    return job.upstreamFailed ? "upstreamFailed" : "spreadInVain";
  }
  const gate = gateOf(job, plan, peers);
  if (gate !== "open") return INPUT_OF_GATE[gate];
  const walked = walk(job, plan, stepFacts(job, plan, peers));
  if (hasNext(walked, plan)) return hasRoom(job, plan, peers) ? "ready" : "held";
  return walked.job.failing === "" ? "readyInVain" : "readyBroken";
}

/** True for a job whose cells are still to be made. */
function isUnspread({ index, cell }: JobState, plan: RunPlan): boolean {
  return cell === null && plan.jobs[index]!.cells !== null;
}

function spreadOrEnd(job: JobState, now: number, plan: RunPlan, facts: Facts): JobDecision {
  const cells = cellsOf(job, plan, facts);
  return typeof cells === "string" ? endJob(job, "failed", cells, now, plan) : spread(job, cells, now, plan);
}

/** Of a job with what a cell has told it. */
function cellsInput({ cells }: JobState): JobInput {
  const results = cells.map(({ result }) => result);
  if (results.includes(null)) return "cellsRemain";
  if (results.some((result) => result === "failed" || result === "tolerated")) return "cellsFailed";
  return results.every((result) => result === "success") ? "cellsPassed" : "cellsCancelled";
}

/** False while as many cells of its matrix are at work as may be. */
function hasRoom({ runId, index }: JobState, plan: RunPlan, peers: Peers): boolean {
  const { maxParallel } = plan.jobs[index]!;
  return maxParallel === null || otherCells(runId, index, plan, peers).filter(isAtWork).length < maxParallel;
}

function gateOf(job: JobState, plan: RunPlan, peers: Peers): Gate {
  const { when, needs } = plan.jobs[job.index]!;
  const status = {
    success: !job.upstreamFailed,
    failure: job.upstreamFailed,
    cancelled: needs.some((index) => wasCancelled(job.runId, index, peers)),
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
  return isRepeat ? "claimedAgain" : "claimedInVain";
}

function stepEndInput(job: JobState, message: StepEnded, plan: RunPlan, peers: Peers): JobInput {
  if (job.state === "cancelling") return job.reason === "timeout" ? "timeoutDone" : "cancelDone";
  if (message.outcome === "lost") return "stepLost";
  if (message.outcome === "cancelled") return "stepCancelled";
  if (isRetried(job, message, plan)) return "stepRetried";
  const walked = afterStep(job, message, plan, stepFacts(job, plan, peers));
  if (hasNext(walked, plan)) return "stepsRemain";
  return walked.job.failing === "" ? "lastStepDone" : "stepFailed";
}

/** The job with the step that comes after one that has ended. */
function afterStep(job: JobState, { outcome }: StepEnded, plan: RunPlan, facts: Facts): Walk {
  const goesOn = outcome === "success" || plan.jobs[job.index]!.steps[job.stepIndex]!.continueOnError;
  const failing = goesOn || job.failing !== "" ? job.failing : "step_failed";
  return walk({ ...job, stepIndex: job.stepIndex + 1, stepAttempt: 1, failing }, plan, facts);
}

function timerInput(job: JobState, message: JobMessage & { type: "timer" }): JobInput {
  const timers = { queueTimeout: job.queueTimer, timeout: job.timeoutTimer, retry: job.retryTimer };
  if (timers[message.timer]?.generation !== message.generation) return "staleTimer";
  if (message.timer === "queueTimeout") return "queueTimedOut";
  if (message.timer === "retry") return "retryDue";
  return job.stepActive ? "timedOut" : "timedOutBetweenSteps";
}

/** Between two steps nothing is dispatched, and while the run is paused nothing new is. */
function repeatDispatch(job: JobState): readonly JobEffect[] {
  return job.stepActive ? [dispatchStep(job)] : [];
}

/** Whoever claims it has found an offer, which was put up after the job had left the board. */
function refuseClaim(job: JobState, message: JobMessage, plan: RunPlan): readonly JobEffect[] {
  if (message.type !== "claimRequested") return [];
  return [withdraw(job, plan), { type: "refuseClaim", agentId: message.agentId, requestId: message.requestId }];
}

function meetNeed(job: JobState, message: JobMessage): JobState {
  switch (message.type) {
    case "stageOpened":
      return { ...job, stageOpen: true, upstreamFailed: job.upstreamFailed || message.failed };
    case "needEnded":
      return {
        ...job,
        openNeeds: job.openNeeds.filter((index) => index !== message.index),
        upstreamFailed: job.upstreamFailed || !message.passed,
      };
    default:
      return job;
  }
}

/** A job of which no step runs. */
function endUnbegun(
  job: JobState,
  input: "readyInVain" | "readyBroken",
  message: JobMessage,
  now: number,
  plan: RunPlan,
  facts: Facts,
): JobDecision {
  const [state, reason] =
    input === "readyInVain" ? (["success", "condition"] as const) : (["failed", "condition_failed"] as const);
  const met = meetNeed(job, message);
  const walked = walk(met, plan, facts);
  // Where its own steps' conditions decided, each has its own reason.
  if (message.type === "stageClosed" || hasNext(walked, plan)) return endJob(met, state, reason, now, plan);
  return endJob(walked.job, state, reason, now, plan, walked.passed);
}

function grant(job: JobState, claim: ClaimRequested, now: number, plan: RunPlan): JobDecision {
  const { timeoutMs } = plan.jobs[job.index]!;
  const fence = job.fence + 1;
  const generation = job.generation + 1;
  const { agentId, bootId, requestId } = claim;
  const next: JobState = {
    ...job,
    state: "running",
    startedAt: now,
    fence,
    grant: { agentId, bootId, requestId, token: fence },
    generation,
    queueTimer: null,
    queueLeftMs: null,
    timeoutTimer: timeoutMs === null ? null : { generation, dueAt: now + timeoutMs },
    stepActive: true,
  };
  return moved(next, [
    withdraw(job, plan),
    publishJob(next, "started"),
    dispatchStep(next),
    ...schedule(next, "timeout", next.timeoutTimer),
  ]);
}

function advance(job: JobState, message: StepEnded, plan: RunPlan, facts: Facts): JobDecision {
  const { job: walked, passed } = afterStep(job, message, plan, facts);
  const next: JobState = { ...walked, stepActive: !job.paused };
  return moved(next, [...passed, ...(job.paused ? [] : [dispatchStep(next)])]);
}

type Cancel = JobMessage & { readonly type: "cancel" };

/** What ends the run ends the job as if it were asked to end itself. */
function causeOf({ reason }: Cancel): "cancelled" | "fail_fast" {
  return reason === "fail_fast" ? reason : "cancelled";
}

function cancel(job: JobState, message: Cancel, now: number, plan: RunPlan): JobDecision {
  const cause = causeOf(message);
  if (job.state === "pending" || job.state === "queued") return endJob(job, "cancelled", cause, now, plan);
  const alreadyAsked = job.state === "cancelling";
  const next: JobState = { ...job, state: "cancelling", reason: cause, timeoutTimer: null };
  return moved(next, alreadyAsked ? [] : [cancelStep(job, "cancelled", plan)]);
}

function cancelStep(job: JobState, reason: string, plan: RunPlan): JobEffect {
  const { cancelGraceMs } = plan.jobs[job.index]!;
  return tellStep(job, job.stepIndex, { type: "cancel", reason, graceMs: cancelGraceMs });
}

/** What Redis must know of this job although it has forgotten everything. */
export function outstandingJob(job: JobState, plan: RunPlan): readonly OwedEffect[] {
  if (job.state === "queued" && !job.paused) {
    return [offer(job, plan), ...schedule(job, "queueTimeout", job.queueTimer)];
  }
  return [...schedule(job, "timeout", job.timeoutTimer), ...schedule(job, "retry", job.retryTimer)];
}
