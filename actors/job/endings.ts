/** How a job run ends: what its steps, its run and the jobs that need it are told, and when a next attempt is made. Pure. */
import type { Lifecycle } from "../../src/domain/events.ts";
import { jobRunId } from "../../src/domain/ids.ts";
import type { Peers } from "../../src/domain/peers.ts";
import type { PlannedJob, RunPlan } from "../../src/domain/plan.ts";
import {
  type JobDecision,
  type JobEffect,
  moved,
  publishJob,
  tellRun,
  tellSpread,
  tellStep,
  vacate,
  withdraw,
} from "./effects.ts";
import { resultOf, stepFacts } from "./facts.ts";
import { leaveGates } from "./gates.ts";
import { begin } from "./queueing.ts";
import { beginAnew } from "./reused.ts";
import { wait, waitBefore } from "./retrying.ts";
import type { JobState } from "./state.ts";

type EndState = "success" | "failed" | "cancelled";

const LIFECYCLE_OF_END: Record<EndState, Lifecycle> = {
  success: "completed",
  failed: "failed",
  cancelled: "cancelled",
};

/** Ends the job for good; `told`: what steps before `stepIndex` are told that did not run. */
export function endJob(
  job: JobState,
  state: EndState,
  reason: string,
  now: number,
  plan: RunPlan,
  told: readonly JobEffect[] = [],
): JobDecision {
  const next = endAttempt(job, state, reason, now);
  const planned = plan.jobs[job.index]!;
  const left = [...leave(job, next, plan), ...leaveGates(job, plan)];
  const result = resultOf(next, plan);
  const passed = result === "success" || result === "tolerated";
  if (job.cell !== null) {
    return moved(next, [...told, ...left, tellSpread(job, { type: "cellDone", cell: job.cell, result })]);
  }
  return moved(next, [
    ...told,
    ...left,
    ...planned.dependents.map((index): JobEffect => ({
      type: "send",
      to: { kind: "job", id: jobRunId(job.runId, index, 1) },
      message: { type: "needEnded", index: job.index, passed },
    })),
    tellRun(job, { type: "jobEnded", index: job.index, result }),
  ]);
}

/**
 * Ends an attempt whose agent is lost, or could not start a step. The workspace is gone with the agent, so the whole job
 * begins anew under a new id, unless it has used up its attempts or is not retried for that cause.
 */
export function retryJob(
  job: JobState,
  cause: PlannedJob["retry"]["on"][number],
  now: number,
  plan: RunPlan,
  peers: Peers,
): JobDecision {
  const planned = plan.jobs[job.index]!;
  const { attempts, on } = planned.retry;
  if (job.attempt >= attempts || !on.includes(cause)) return endJob(job, "failed", cause, now, plan);
  const next = endAttempt(job, "failed", cause, now);
  const { job: retry, steps, peers: withRetry } = beginAnew(job, plan, peers);
  const waitMs = waitBefore(retry.attempt, planned.retry);
  const begun = waitMs > 0 ? wait(retry, now + waitMs) : begin(retry, now, plan, stepFacts(retry, plan, withRetry));
  return moved(next, [
    ...leave(job, next, plan),
    { type: "spawn", actor: { kind: "job", id: retry.jobId }, state: begun.next },
    ...steps.map((step): JobEffect => ({ type: "spawn", actor: { kind: "step", id: step.stepRunId }, state: step })),
    publishJob(retry, "retried"),
    ...begun.effects,
    job.cell === null
      ? tellRun(job, { type: "jobRetried", index: job.index, attempt: retry.attempt })
      : tellSpread(job, { type: "cellRetried", cell: job.cell, attempt: retry.attempt }),
  ]);
}

function endAttempt(job: JobState, state: EndState, reason: string, now: number): JobState {
  return {
    ...job,
    state,
    reason,
    place: null,
    endedAt: now,
    queueTimer: null,
    queueLeftMs: null,
    timeoutTimer: null,
    retryTimer: null,
  };
}

function lifecycleOf({ state, reason }: JobState): Lifecycle {
  return reason === "condition" ? "skipped" : LIFECYCLE_OF_END[state as EndState];
}

/** Gives back what the attempt holds: its place on the board, its agent, and the steps that will not begin. */
function leave(job: JobState, next: JobState, plan: RunPlan): readonly JobEffect[] {
  const effects: JobEffect[] = [publishJob(next, lifecycleOf(next))];
  if (job.state === "queued") effects.push(withdraw(job, plan));
  effects.push(...vacate(job));
  if (job.grant !== null) {
    const { agentId } = job.grant;
    effects.push({ type: "release", agentId, jobId: job.jobId, succeeded: next.state === "success" });
  }
  const firstUnbegun = job.stepIndex + (job.stepActive ? 1 : 0);
  // A job that is to be spread has no steps: its cells have.
  const { cells, steps: planned } = plan.jobs[job.index]!;
  const steps = job.cell === null && cells !== null ? 0 : planned.length;
  for (let index = firstUnbegun; index < steps; index++) {
    effects.push(tellStep(job, index, { type: "skip", reason: next.reason }));
  }
  return effects;
}
