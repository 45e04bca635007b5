/** The job's decisions: names the situation, looks it up in the table, and says what follows from it. Pure. */
import type { OwedEffect } from "../../src/domain/effects.ts";
import type { RunPlan } from "../../src/domain/plan.ts";
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
import type { ClaimRequested, JobMessage } from "./messages.ts";
import { enqueue, pause, resume } from "./queueing.ts";
import type { JobState } from "./state.ts";
import { JOB_TRANSITIONS, type JobInput } from "./transitions.ts";

/** Decides one message. `now` is the owner's clock in Unix milliseconds. Throws `IllegalTransition` for a `never` cell. */
export function decideJob(job: JobState, message: JobMessage, now: number, plan: RunPlan): JobDecision {
  const input = inputOf(job, message, plan);
  const cell = lookUp("job", JOB_TRANSITIONS, input, job.state);
  if (cell === "late") return { cell, next: job, effects: refuseClaim(job, message, plan) };
  if (cell === "same") return { cell, next: job, effects: input === "claimedAgain" ? repeatDispatch(job) : [] };
  switch (input) {
    case "held":
      return moved(meetNeed(job, message), []);
    case "ready":
      return enqueue(meetNeed(job, message), now, plan);
    case "upstreamFailed":
      return endJob(job, "cancelled", "upstream_failed", now, plan);
    case "claimed":
      return grant(job, message as ClaimRequested, now, plan);
    case "stepsRemain":
      return advance(job);
    case "lastStepDone":
      return endJob(job, "success", "", now, plan);
    case "stepFailed":
      return endJob(job, "failed", "step_failed", now, plan);
    case "stepCancelled":
    case "cancelDone":
    case "cancelBetweenSteps":
      return endJob(job, "cancelled", "cancelled", now, plan);
    case "stepLost":
    case "agentLostBetweenSteps":
      return retryJob(job, now, plan);
    case "timeoutDone":
    case "timedOutBetweenSteps":
      return endJob(job, "failed", "timeout", now, plan);
    case "queueTimedOut":
      return endJob(job, "failed", "queue_timeout", now, plan);
    case "cancel":
      return cancel(job, now, plan);
    case "timedOut":
      return moved({ ...job, state: "cancelling", reason: "timeout", timeoutTimer: null }, [
        cancelStep(job, "timeout", plan),
      ]);
    case "agentLost":
      return moved(job, [tellStep(job, job.stepIndex, { type: "agentLost", reason: "agent_lost" })]);
    case "pause":
      return pause(job, now, plan);
    case "resume":
      return resume(job, now, plan);
    case "claimedAgain":
    case "claimedInVain":
    case "staleTimer":
    case "strangerLost":
      throw new Error(`the table has no move for ${input}`);
  }
}

function inputOf(job: JobState, message: JobMessage, plan: RunPlan): JobInput {
  switch (message.type) {
    case "stageOpened":
      return job.openNeeds.length === 0 ? "ready" : "held";
    case "stageClosed":
      return "upstreamFailed";
    case "needEnded":
      if (!message.passed) return "upstreamFailed";
      return job.stageOpen && job.openNeeds.every((index) => index === message.index) ? "ready" : "held";
    case "claimRequested":
      return claimInput(job, message);
    case "stepEnded":
      return stepEndInput(job, message, plan);
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

function claimInput(job: JobState, claim: ClaimRequested): JobInput {
  if (job.state === "queued" && !job.paused) return "claimed";
  const isRepeat =
    job.grant !== null &&
    job.grant.requestId === claim.requestId &&
    job.grant.agentId === claim.agentId &&
    job.grant.bootId === claim.bootId;
  return isRepeat ? "claimedAgain" : "claimedInVain";
}

function stepEndInput(job: JobState, message: JobMessage & { type: "stepEnded" }, plan: RunPlan): JobInput {
  if (job.state === "cancelling") return job.reason === "timeout" ? "timeoutDone" : "cancelDone";
  if (message.outcome === "lost") return "stepLost";
  if (message.outcome === "cancelled") return "stepCancelled";
  const planned = plan.jobs[job.index]!;
  const goesOn = message.outcome === "success" || planned.steps[job.stepIndex]!.continueOnError;
  if (!goesOn) return "stepFailed";
  return job.stepIndex + 1 < planned.steps.length ? "stepsRemain" : "lastStepDone";
}

function timerInput(job: JobState, message: JobMessage & { type: "timer" }): JobInput {
  const timer = message.timer === "queueTimeout" ? job.queueTimer : job.timeoutTimer;
  if (timer?.generation !== message.generation) return "staleTimer";
  if (message.timer === "queueTimeout") return "queueTimedOut";
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
  if (message.type !== "needEnded") return { ...job, stageOpen: true };
  return { ...job, openNeeds: job.openNeeds.filter((index) => index !== message.index) };
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

function advance(job: JobState): JobDecision {
  const next: JobState = { ...job, stepIndex: job.stepIndex + 1, stepActive: !job.paused };
  return moved(next, job.paused ? [] : [dispatchStep(next)]);
}

function cancel(job: JobState, now: number, plan: RunPlan): JobDecision {
  if (job.state === "pending" || job.state === "queued") return endJob(job, "cancelled", "cancelled", now, plan);
  const alreadyAsked = job.state === "cancelling";
  const next: JobState = { ...job, state: "cancelling", reason: "cancelled", timeoutTimer: null };
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
  return schedule(job, "timeout", job.timeoutTimer);
}
