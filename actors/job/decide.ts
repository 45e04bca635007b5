/** The job's decisions: names the situation, looks it up in the table, and says what follows from it. Pure. */
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
  schedule,
  tellStep,
  withdraw,
} from "./effects.ts";
import { endJob, retryJob } from "./endings.ts";
import { causeOf, cleanUp, endCleanup } from "./cleanup.ts";
import { refusalOf, waitAtGate } from "./gates.ts";
import { inputOf, PLAIN_CANCEL } from "./inputs.ts";
import type { AskedToEnd, ClaimRequested, JobMessage, JobWaits, StepEnded } from "./messages.ts";
import { goOnRetrying, retryStep } from "./retrying.ts";
import { stepFacts } from "./facts.ts";
import { begin, meetNeed, pause, resume } from "./queueing.ts";
import { cellsOf, spread, takeCell, tellCells } from "./spreading.ts";
import { afterStep, hasNext, walk } from "./walk.ts";
import { isBound, type JobState, jobStatus } from "./state.ts";
import { JOB_TRANSITIONS, type JobInput } from "./transitions.ts";

/** Decides one message. `now` is the owner's clock in Unix milliseconds. Throws `IllegalTransition` for a `never` cell. */
export function decideJob(job: JobState, message: JobMessage, now: number, plan: RunPlan, peers: Peers): JobDecision {
  const isAsked = message.type === "cancelJob" || message.type === "cancelStep";
  if (!isAsked) return decideInput(job, message, inputOf(job, message, plan, peers), now, plan, peers);
  const decision = decideInput(job, PLAIN_CANCEL, inputOf(job, message, plan, peers), now, plan, peers);
  const answered = answer(decision, message, peers);
  if (decision.cell !== "moved") return { ...decision, effects: [answered, ...decision.effects] };
  // What is at work may go on for long: who asked for its end, and why, is told before.
  const { reason } = message;
  return { ...decision, effects: [answered, publishJob(job, "stopping", { reason }), ...decision.effects] };
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
  const cell = lookUp("job", JOB_TRANSITIONS, input, job.state);
  if (cell === "late") return { cell, next: job, effects: refuseClaim(job, message, plan) };
  if (cell === "same") return { cell, next: job, effects: input === "claimedAgain" ? repeatDispatch(job) : [] };
  switch (input) {
    case "held":
      return moved(meetNeed(job, message), []);
    case "ready":
      return begin(takePlace(meetNeed(job, message)), now, plan, facts);
    case "gated":
      return waitAtGate(meetNeed(job, message), now, plan, peers, facts);
    case "refused":
    case "placeDenied": {
      const refusal = refusalOf(meetNeed(job, message), message, plan, peers);
      return endJob(refusal.job, input === "refused" ? "cancelled" : "failed", refusal.reason, now, plan);
    }
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
    case "waits":
      return tellWait(job, message as JobWaits);
    case "stepRetried":
      return retryStep(job, now, plan, peers);
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
      return endJob(giveWay(job, message as Cancel), "cancelled", causeOf(message as Cancel), now, plan);
    case "cleanUp":
      return cleanUp(message.type === "superseded" ? giveWay(job, message) : job, message, now, plan, facts);
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
    case "gateLate":
    case "cancelAgain":
    case "cancelInVain":
    case "claimedAgain":
    case "claimedInVain":
    case "waitsStill":
    case "staleTimer":
    case "strangerLost":
      throw new Error(`the table has no move for ${input}`);
  }
}

/** With the status of what was to end; an accepted one may still run. */
function answer({ cell, next }: JobDecision, message: AskedToEnd, peers: Peers): OwedEffect {
  const step = message.type === "cancelStep" ? (peers.state(message.stepRunId) as StepState | undefined) : undefined;
  const status = step === undefined ? jobStatus(next.state) : stepStatus(step.state);
  const outcome = cell === "late" ? "refused" : "accepted";
  return { type: "answer", commandId: message.commandId, verdict: { outcome, status } };
}

function spreadOrEnd(job: JobState, now: number, plan: RunPlan, facts: Facts): JobDecision {
  const cells = cellsOf(job, plan, facts);
  return typeof cells === "string" ? endJob(job, "failed", cells, now, plan) : spread(job, cells, now, plan);
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

function tellWait(job: JobState, { reason, clause, text }: JobWaits): JobDecision {
  const next: JobState = { ...job, waits: { reason, clause } };
  return moved(next, [publishJob(next, "waiting", { waitingFor: reason, text })]);
}

function advance(job: JobState, message: StepEnded, plan: RunPlan, facts: Facts): JobDecision {
  const { job: walked, passed } = afterStep(job, message, plan, facts);
  const next: JobState = { ...walked, stepActive: !job.paused };
  return moved(next, [...passed, ...(job.paused ? [] : [dispatchStep(next)])]);
}

type Cancel = JobMessage & { readonly type: "cancel" | "superseded" };

function giveWay(job: JobState, message: Cancel): JobState {
  return message.type === "superseded" ? { ...job, gaveWayTo: message.by } : job;
}

function takePlace(job: JobState): JobState {
  return job.place === null ? job : { ...job, place: { ...job.place, held: true } };
}

function cancel(asked: JobState, message: Cancel, now: number, plan: RunPlan): JobDecision {
  const job = giveWay(asked, message);
  const cause = causeOf(message);
  if (job.state === "pending" || job.state === "waiting" || job.state === "queued") {
    return endJob(job, "cancelled", cause, now, plan);
  }
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
  const places = isBound(job) ? occupy(job) : [];
  return [...places, ...schedule(job, "timeout", job.timeoutTimer), ...schedule(job, "retry", job.retryTimer)];
}
