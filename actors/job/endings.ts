/**
 * How an attempt of a job ends: the messages to its steps, its run and the jobs that need it, and whether another
 * attempt follows. Pure.
 */
import type { LifecycleOf } from "../../src/domain/event-table/run-events.ts";
import type { Peers } from "../../src/domain/peers.ts";
import type { PlannedJob, RunPlan } from "../../src/domain/plan.ts";
import { firstAttemptId } from "../../src/planner/plan-index.ts";
import {
  type JobDecision,
  type JobEffect,
  moved,
  publishJob,
  tellRun,
  tellSpreadJob,
  tellStep,
  vacate,
  withdraw,
} from "./effects.ts";
import { resultOf, stepFacts } from "./facts.ts";
import { leaveGates } from "./gates.ts";
import { begin } from "./queueing.ts";
import { makeNextAttempt } from "./reused.ts";
import { delayBefore, waitForRetry } from "./retrying.ts";
import type { JobState } from "./state.ts";

type EndState = "success" | "failed" | "cancelled";

const LIFECYCLE_OF_END = {
  success: "completed",
  failed: "failed",
  cancelled: "cancelled",
} as const satisfies Record<EndState, LifecycleOf<"job">>;

/** Ends the job without another attempt. `skips`: messages to the steps before `stepIndex` that did not run. */
export function endJob(
  job: JobState,
  state: EndState,
  reason: string,
  now: number,
  plan: RunPlan,
  peers: Peers,
  skips: readonly JobEffect[] = [],
): JobDecision {
  const next = endAttempt(job, state, reason, now);
  const planned = plan.jobs[job.index]!;
  const released = [...release(job, next, plan), ...leaveGates(job, plan, peers)];
  const result = resultOf(next, plan);
  const passed = result === "success" || result === "tolerated";
  if (job.cell !== null) {
    return moved(next, [...skips, ...released, tellSpreadJob(job, { type: "cellDone", cell: job.cell, result })]);
  }
  return moved(next, [
    ...skips,
    ...released,
    ...planned.dependents.map((index): JobEffect => ({
      type: "send",
      to: { kind: "job", id: firstAttemptId(job.runId, index, plan) },
      message: { type: "needEnded", index: job.index, passed },
    })),
    tellRun(job, { type: "jobEnded", index: job.index, result }),
  ]);
}

/**
 * Ends an attempt whose agent is lost, or could not start a step. The workspace is gone with the agent, so the next
 * attempt has a new id and begins with the first step. There is none when the job has used up its attempts, or is not
 * retried for this cause.
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
  if (job.attempt >= attempts || !on.includes(cause)) return endJob(job, "failed", cause, now, plan, peers);
  const next = endAttempt(job, "failed", cause, now);
  const { job: retry, steps, peers: withRetry } = makeNextAttempt(job, plan, peers);
  const delayMs = delayBefore(retry.attempt, planned.retry);
  const begun =
    delayMs > 0 ? waitForRetry(retry, now + delayMs) : begin(retry, now, plan, stepFacts(retry, plan, withRetry));
  if (begun === null) return endJob(job, "failed", "expression_limit", now, plan, peers);
  return moved(next, [
    ...release(job, next, plan),
    { type: "spawn", actor: { kind: "job", id: retry.jobId }, state: begun.next },
    ...steps.map((step): JobEffect => ({ type: "spawn", actor: { kind: "step", id: step.stepRunId }, state: step })),
    publishJob(retry, "retried"),
    ...begun.effects,
    job.cell === null
      ? tellRun(job, { type: "jobRetried", index: job.index, attempt: retry.attempt })
      : tellSpreadJob(job, { type: "cellRetried", cell: job.cell, attempt: retry.attempt }),
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

function lifecycleOf({ state, reason }: JobState): "skipped" | (typeof LIFECYCLE_OF_END)[EndState] {
  return reason === "condition" ? "skipped" : LIFECYCLE_OF_END[state as EndState];
}

/**
 * Gives back what the attempt holds: its offer on the board, its places in quotas and its agent; skips the steps that
 * have not begun.
 */
function release(job: JobState, next: JobState, plan: RunPlan): readonly JobEffect[] {
  const effects: JobEffect[] = [publishJob(next, lifecycleOf(next))];
  if (job.state === "queued") effects.push(withdraw(job, plan));
  effects.push(...vacate(job));
  if (job.grant !== null) {
    const { agentId } = job.grant;
    effects.push({ type: "release", agentId, jobId: job.jobId, succeeded: next.state === "success" });
  }
  const firstUnbegun = job.stepIndex + (job.stepActive ? 1 : 0);
  // A job that is spread has no step runs of its own: its cells have them.
  const { cells, steps: planned } = plan.jobs[job.index]!;
  const steps = job.cell === null && cells !== null ? 0 : planned.length;
  for (let index = firstUnbegun; index < steps; index++) {
    effects.push(tellStep(job, index, { type: "skip", reason: next.reason }));
  }
  return effects;
}
