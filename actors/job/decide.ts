/**
 * The job's decisions: names the situation, looks it up in the transition table, and returns the next state and
 * effects. Pure.
 */
import type { OwedEffect } from "../../src/domain/effects.ts";
import type { Peers } from "../../src/domain/peers.ts";
import type { RunPlan } from "../../src/domain/plan.ts";
import type { Facts } from "../../src/planner/gate.ts";
import { lookUp } from "../../src/domain/transition-table.ts";
import { type StepState, stepStatus } from "../step/state.ts";
import {
  dispatchStep,
  type JobDecision,
  type JobEffect,
  moved,
  occupy,
  offer,
  publishJob,
  publishUpdate,
  publishWait,
  schedule,
  tellStep,
  withdraw,
} from "./effects.ts";
import { endJob, retryJob } from "./endings.ts";
import { causeOf, cleanUp, endCleanup } from "./cleanup.ts";
import { refusalOf, waitAtGate } from "./gates.ts";
import { inputOf, PLAIN_CANCEL } from "./inputs.ts";
import type { ClaimRequested, JobMessage, JobWaits, StepEnded, UpdateStep, UserCancel } from "./messages.ts";
import { resumeRetry, retryStep } from "./retrying.ts";
import { deploying } from "./deployment.ts";
import { stepFacts } from "./facts.ts";
import { hasRoom, nextPending } from "./matrix.ts";
import { begin, pause, recordNeed, resume, setPriority } from "./queueing.ts";
import { changedPart } from "./step-change.ts";
import { evaluateCells, recordCell, spread, tellCells } from "./spreading.ts";
import { hasNext, walk, walkAfterStep } from "./walk.ts";
import { isAtWork, isBound, type JobState, jobStatus } from "./state.ts";
import { JOB_TRANSITIONS, type JobInput } from "./transitions.ts";

/**
 * Decides one message. `now` is the owner's clock in Unix milliseconds. Throws `IllegalTransition` where the table says
 * `never`.
 */
export function decideJob(job: JobState, message: JobMessage, now: number, plan: RunPlan, peers: Peers): JobDecision {
  if (message.type === "cellEnded") {
    const decision = decideInput(job, message, inputOf(job, message, plan, peers), now, plan, peers);
    return { ...decision, effects: [...decision.effects, ...passPlaceOn(job, decision.next, plan, peers)] };
  }
  if (message.type === "updateStep") {
    const decision = decideInput(job, message, inputOf(job, message, plan, peers), now, plan, peers);
    return { ...decision, effects: [answer(decision, message, peers), ...decision.effects] };
  }
  const isUserCancel = message.type === "cancelJob" || message.type === "cancelStep";
  if (!isUserCancel) return decideInput(job, message, inputOf(job, message, plan, peers), now, plan, peers);
  const decision = decideInput(job, PLAIN_CANCEL, inputOf(job, message, plan, peers), now, plan, peers);
  const answered = answer(decision, message, peers);
  if (decision.entry !== "moved") return { ...decision, effects: [answered, ...decision.effects] };
  // The step may take long to end: an event says before that who asked for the end, and why.
  const { reason } = message;
  return { ...decision, effects: [answered, publishJob({ ...job, reason }, "stopping"), ...decision.effects] };
}

function decideInput(
  job: JobState,
  message: JobMessage,
  input: JobInput,
  now: number,
  plan: RunPlan,
  peers: Peers,
): JobDecision {
  const facts = stepFacts(job, plan, peers);
  const entry = lookUp("job", JOB_TRANSITIONS, input, job.state);
  if (entry === "late") return { entry, next: job, effects: refuseClaim(job, message, plan) };
  if (entry === "same") return { entry, next: job, effects: input === "claimedAgain" ? repeatDispatch(job) : [] };
  switch (input) {
    case "stillBlocked":
      return moved(recordNeed(job, message), []);
    case "ready":
      return (
        begin(takePlace(recordNeed(job, message)), now, plan, facts) ??
        endUnbegun(job, "conditionFailed", message, now, plan, peers, facts)
      );
    case "gated":
      return waitAtGate(recordNeed(job, message), now, plan, peers, facts);
    case "notApproved":
    case "placeDenied": {
      const refusal = refusalOf(recordNeed(job, message), message, plan, peers);
      return endJob(refusal.job, input === "notApproved" ? "cancelled" : "failed", refusal.reason, now, plan, peers);
    }
    case "noStepRuns":
    case "conditionFailed":
      return endUnbegun(job, input, message, now, plan, peers, facts);
    case "spread":
    case "cannotSpread":
      return spreadOrEnd(recordNeed(job, message), now, plan, peers, facts);
    case "cellsRemain":
      return recordCell(job, message, plan);
    case "cellsPassed":
      return endJob(recordCell(job, message, plan).next, "success", "", now, plan, peers);
    case "cellsFailed":
      return endJob(recordCell(job, message, plan).next, "failed", "cell_failed", now, plan, peers);
    case "cellsCancelled": {
      const { next } = recordCell(job, message, plan);
      const wasCancelled = next.cells.some(({ result }) => result === "cancelled");
      return endJob(next, "cancelled", wasCancelled ? "cancelled" : "upstream_failed", now, plan, peers);
    }
    case "upstreamFailed":
      return endJob(job, "cancelled", "upstream_failed", now, plan, peers);
    case "claimed":
      return grant(deploying(job, now, plan, facts), message as ClaimRequested, now, plan, peers);
    case "waitChanged":
      return recordWait(job, message as JobWaits);
    case "stepRetried":
      return retryStep(job, now, plan, peers);
    case "retryDue":
      if (job.state !== "pending") return resumeRetry(job);
      return (
        begin({ ...job, retryTimer: null }, now, plan, facts) ??
        endUnbegun(job, "conditionFailed", message, now, plan, peers, facts)
      );
    case "stepsRemain":
      return advance(job, message as StepEnded, plan, facts);
    case "lastStepDone":
    case "stepFailed": {
      const { job: walked, skips } = walkAfterStep(job, message as StepEnded, plan, facts);
      const state = input === "stepFailed" ? "failed" : "success";
      return endJob({ ...walked, stepActive: false }, state, walked.failing, now, plan, peers, skips);
    }
    case "stepCancelled":
      return endJob(job, "cancelled", "cancelled", now, plan, peers);
    case "cancelDone":
      return endJob(job, "cancelled", job.reason, now, plan, peers);
    case "cancelBetweenSteps":
      return endJob(recordSuccessor(job, message as Cancel), "cancelled", causeOf(message as Cancel), now, plan, peers);
    case "cleanUp":
      return cleanUp(message.type === "superseded" ? recordSuccessor(job, message) : job, message, now, plan, facts);
    case "cleanupOver":
      return endCleanup(job, message.type === "cancel" ? "cancelled" : "timeout", plan);
    case "stepLost": {
      const { outcome } = message as StepEnded;
      return retryJob(job, outcome === "notStarted" ? "dispatch_failed" : "agent_lost", now, plan, peers);
    }
    case "agentLostBetweenSteps":
      return retryJob(job, "agent_lost", now, plan, peers);
    case "timeoutDone":
    case "timedOutBetweenSteps":
      return endJob(job, "failed", "timeout", now, plan, peers);
    case "queueTimedOut":
      return endJob(job, "failed", "queue_timeout", now, plan, peers);
    case "cancel":
      if (job.state === "spread") return moved(job, tellCells(job, message));
      return cancel(job, message as Cancel, now, plan, peers);
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
    case "updated":
      return update(job, message as UpdateStep, plan, peers);
    case "staleGateAnswer":
    case "cancelAgain":
    case "cancelRefused":
    case "updateRefused":
    case "claimedAgain":
    case "claimRefused":
    case "waitUnchanged":
    case "staleTimer":
    case "otherAgentLost":
      throw new Error(`the transition table of the job has no target state for ${input}`);
  }
}

/**
 * The verdict, with the status of the job or step that the user asked to end or to change. After "accepted" it may still
 * run for a while.
 */
function answer({ entry, next }: JobDecision, message: UserCancel | UpdateStep, peers: Peers): OwedEffect {
  const step = "stepRunId" in message ? (peers.state(message.stepRunId) as StepState | undefined) : undefined;
  const status = step === undefined ? jobStatus(next.state) : stepStatus(step.state);
  const outcome = entry === "late" ? "refused" : "accepted";
  return { type: "answer", commandId: message.commandId, verdict: { outcome, status } };
}

/**
 * Tells the next cell of the matrix that a place is free, if there is one besides the place that this cell has taken. A
 * cell that has ended tells no other: its end does.
 */
function passPlaceOn(before: JobState, next: JobState, plan: RunPlan, peers: Peers): readonly JobEffect[] {
  if (!isAtWork(next)) return [];
  const begins = !isAtWork(before);
  if (!hasRoom(next, plan, peers, begins ? 1 : 0)) return [];
  const cell = nextPending(next, plan, peers, begins ? next.index : -1);
  return cell === undefined
    ? []
    : [{ type: "send", to: { kind: "job", id: cell.jobId }, message: { type: "cellEnded" } }];
}

function spreadOrEnd(job: JobState, now: number, plan: RunPlan, peers: Peers, facts: Facts): JobDecision {
  const cells = evaluateCells(job, plan, facts);
  return typeof cells === "string" ? endJob(job, "failed", cells, now, plan, peers) : spread(job, cells, now, plan);
}

/** Takes a change of a user in; the step keeps its own part. */
function update(job: JobState, { stepRunId, change }: UpdateStep, plan: RunPlan, peers: Peers): JobDecision {
  const { priority, metadata } = change;
  const step = peers.state(stepRunId) as StepState;
  const prioritised = priority === undefined ? moved(job, []) : setPriority(job, priority, plan);
  const told = changedPart(job, step, change, plan);
  const effects = [...(told === null ? [] : [publishUpdate(job, step, told)]), ...prioritised.effects];
  if (metadata === undefined) return moved(prioritised.next, effects);
  const to = { kind: "step", id: stepRunId } as const;
  return moved(prioritised.next, [...effects, { type: "send", to, message: { type: "describe", metadata } }]);
}

/** The dispatch of the step that runs; none between two steps, where no step is dispatched. */
function repeatDispatch(job: JobState): readonly JobEffect[] {
  return job.stepActive ? [dispatchStep(job)] : [];
}

/**
 * Refuses a claim. The gateway has found an offer that was put on the board after the job had left it: the offer is
 * withdrawn.
 */
function refuseClaim(job: JobState, message: JobMessage, plan: RunPlan): readonly JobEffect[] {
  if (message.type !== "claimRequested") return [];
  return [withdraw(job, plan), { type: "refuseClaim", agentId: message.agentId, requestId: message.requestId }];
}

/** Ends a job that runs no step. */
function endUnbegun(
  job: JobState,
  input: "noStepRuns" | "conditionFailed",
  message: JobMessage,
  now: number,
  plan: RunPlan,
  peers: Peers,
  facts: Facts,
): JobDecision {
  const isLimit = message.type === "stageClosed" ? message.gate === "expression_limit" : peers.work?.isUsedUp === true;
  const [state, reason] =
    input === "noStepRuns"
      ? (["success", "condition"] as const)
      : (["failed", isLimit ? "expression_limit" : "condition_failed"] as const);
  const informed = recordNeed(job, message);
  const walked = walk(informed, plan, facts);
  // Where the conditions of its steps decided, each step has its own reason.
  if (message.type === "stageClosed" || hasNext(walked, plan)) return endJob(informed, state, reason, now, plan, peers);
  return endJob(walked.job, state, reason, now, plan, peers, walked.skips);
}

function grant(job: JobState, claim: ClaimRequested, now: number, plan: RunPlan, { epoch = 0 }: Peers): JobDecision {
  const { timeoutMs } = plan.jobs[job.index]!;
  // Above the epoch, too: a snapshot that was restored from a backup has forgotten the tokens that were given since.
  const fence = Math.max(job.fence, epoch) + 1;
  const generation = job.generation + 1;
  const { agentId, bootId, requestId, quotas = [] } = claim;
  const next: JobState = {
    ...job,
    state: "running",
    startedAt: now,
    fence,
    grant: { agentId, bootId, requestId, token: fence },
    quotas,
    waits: null,
    generation,
    queueTimer: null,
    queueLeftMs: null,
    timeoutTimer: timeoutMs === null ? null : { generation, dueAt: now + timeoutMs },
    stepActive: true,
  };
  return moved(next, [
    ...occupy(next),
    withdraw(job, plan),
    publishJob(next, "started"),
    dispatchStep(next),
    ...schedule(next, "timeout", next.timeoutTimer),
  ]);
}

function recordWait(job: JobState, { reason, clause, text }: JobWaits): JobDecision {
  const next: JobState = { ...job, waits: { reason, clause } };
  return moved(next, [publishWait(next, reason, text)]);
}

function advance(job: JobState, message: StepEnded, plan: RunPlan, facts: Facts): JobDecision {
  const { job: walked, skips } = walkAfterStep(job, message, plan, facts);
  const next: JobState = { ...walked, stepActive: !job.paused };
  return moved(next, [...skips, ...(job.paused ? [] : [dispatchStep(next)])]);
}

type Cancel = JobMessage & { readonly type: "cancel" | "superseded" };

/** The job with the run that takes its place in the group, if the message names one. */
function recordSuccessor(job: JobState, message: Cancel): JobState {
  return message.type === "superseded" ? { ...job, gaveWayTo: message.by } : job;
}

function takePlace(job: JobState): JobState {
  return job.place === null ? job : { ...job, place: { ...job.place, held: true } };
}

function cancel(before: JobState, message: Cancel, now: number, plan: RunPlan, peers: Peers): JobDecision {
  const job = recordSuccessor(before, message);
  const cause = causeOf(message);
  if (job.state === "pending" || job.state === "waiting" || job.state === "queued") {
    return endJob(job, "cancelled", cause, now, plan, peers);
  }
  const isCancelling = job.state === "cancelling";
  const next: JobState = { ...job, state: "cancelling", reason: cause, timeoutTimer: null };
  return moved(next, isCancelling ? [] : [cancelStep(job, "cancelled", plan)]);
}

function cancelStep(job: JobState, reason: string, plan: RunPlan): JobEffect {
  const { cancelGraceMs } = plan.jobs[job.index]!;
  return tellStep(job, job.stepIndex, { type: "cancel", reason, graceMs: cancelGraceMs });
}

/** The effects that tell an emptied Redis again what it must hold for this job: offer, timers, places in quotas. */
export function outstandingJob(job: JobState, plan: RunPlan): readonly OwedEffect[] {
  if (job.state === "queued" && !job.paused) {
    return [offer(job, plan), ...schedule(job, "queueTimeout", job.queueTimer)];
  }
  const places = isBound(job) ? occupy(job) : [];
  return [...places, ...schedule(job, "timeout", job.timeoutTimer), ...schedule(job, "retry", job.retryTimer)];
}
