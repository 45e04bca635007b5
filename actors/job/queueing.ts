/**
 * How a job waits for an agent: with an offer on the board and a running timeout, or without both while the run is
 * paused. Pure.
 */
import type { RunPlan } from "../../src/domain/plan.ts";
import { dispatchStep, type JobDecision, moved, offer, publishJob, schedule, withdraw } from "./effects.ts";
import type { Facts } from "../../src/planner/gate.ts";
import type { JobMessage } from "./messages.ts";
import { type JobState, priorityOf } from "./state.ts";
import { hasNext, walk } from "./walk.ts";

/**
 * Queues a job that lacks nothing but an agent. Its next step is the first one that is dispatched. The steps before the first one
 * that runs are skipped. Null when no step runs: the budget of work was used up before the conditions of its steps.
 */
export function begin(job: JobState, now: number, plan: RunPlan, facts: Facts): JobDecision | null {
  const found = walk(job, plan, facts);
  if (!hasNext(found, plan)) return null;
  const { job: walked, skips } = found;
  const queued = enqueue(walked, now, plan);
  return moved(queued.next, [...queued.effects, ...skips]);
}

function enqueue(job: JobState, now: number, plan: RunPlan): JobDecision {
  const { queueTimeoutMs } = plan.jobs[job.index]!;
  const queued: JobState = {
    ...job,
    state: "queued",
    firstStep: job.stepIndex,
    queuedAt: now,
    queueLeftMs: queueTimeoutMs,
  };
  const published = publishJob(queued, "queued");
  if (job.paused) return moved(queued, [published]);
  const waiting = putOnBoard(queued, now, plan);
  return moved(waiting.next, [published, ...waiting.effects]);
}

/**
 * While the run is paused, the job dispatches no step, has no offer on the board, and its queue timeout stands still.
 */
export function pause(job: JobState, now: number, plan: RunPlan): JobDecision {
  const next: JobState = {
    ...job,
    paused: true,
    queueTimer: null,
    queueLeftMs: job.queueTimer === null ? job.queueLeftMs : Math.max(0, job.queueTimer.dueAt - now),
  };
  return moved(next, job.state === "queued" && !job.paused ? [withdraw(job, plan)] : []);
}

/** Puts a queued job back on the board, or dispatches the next step of a running one. */
export function resume(job: JobState, now: number, plan: RunPlan): JobDecision {
  const next: JobState = { ...job, paused: false };
  // The job's age on the board, and the wait that users see, begin when agents can take it.
  // The board knows the withdrawn offer by its time, so the new offer has a later one, also when the clock went back.
  if (job.state === "queued") {
    return putOnBoard({ ...next, queuedAt: Math.max(now, job.queuedAt! + 1), waits: null }, now, plan);
  }
  if (job.state !== "running" || job.stepActive || job.retryTimer !== null) return moved(next, []);
  const active: JobState = { ...next, stepActive: true };
  return moved(active, [dispatchStep(active)]);
}

/**
 * Changes the priority of a job that no agent holds. The offer of a queued job is replaced, so that the board never has
 * none: it keeps the job's age, and is later than the one before by no more than tells the two apart.
 */
export function setPriority(job: JobState, priority: number, plan: RunPlan): JobDecision {
  const next: JobState = { ...job, priority };
  const isOffered = job.state === "queued" && !job.paused;
  if (!isOffered || priorityOf(next, plan) === priorityOf(job, plan)) return moved(next, []);
  const offered: JobState = { ...next, queuedAt: job.queuedAt! + 1 };
  return moved(offered, [offer(offered, plan), withdraw(job, plan)]);
}

function putOnBoard(job: JobState, now: number, plan: RunPlan): JobDecision {
  const next = startQueueTimer(job, now);
  return moved(next, [offer(next, plan), ...schedule(next, "queueTimeout", next.queueTimer)]);
}

function startQueueTimer(job: JobState, now: number): JobState {
  if (job.queueLeftMs === null) return job;
  const generation = job.generation + 1;
  return { ...job, generation, queueTimer: { generation, dueAt: now + job.queueLeftMs } };
}

/** The job with the news about its stage or its needs taken in; unchanged by any other message. */
export function recordNeed(job: JobState, message: JobMessage): JobState {
  switch (message.type) {
    case "stageOpened":
      return { ...job, stageOpen: true, upstreamFailed: job.upstreamFailed || message.failed };
    case "needEnded":
      return {
        ...job,
        openNeeds: without(job.openNeeds, message.index),
        upstreamFailed: job.upstreamFailed || !message.passed,
      };
    default:
      return job;
  }
}

/** A job may have a thousand needs, and each of them tells it of its end: a copy without a test of each entry is quicker. */
function without(needs: readonly number[], ended: number): readonly number[] {
  const at = needs.indexOf(ended);
  return at === -1 ? needs : needs.toSpliced(at, 1);
}
