/** The effects of a job's decisions, each made by one function. Pure. */
import { shownAttempt } from "../../src/domain/attempts.ts";
import type { StepChange } from "../../src/domain/commands.ts";
import type { Decision, LocalEffect, OwedEffect, Timer } from "../../src/domain/effects.ts";
import type { LifecycleOf } from "../../src/domain/event-table/run-events.ts";
import { jobRunId, stepRunId } from "../../src/domain/ids.ts";
import type { RunPlan } from "../../src/domain/plan.ts";
import type { ApprovalMessage } from "../approval/messages.ts";
import type { ApprovalState } from "../approval/state.ts";
import type { RunMessage } from "../run/messages.ts";
import type { StepMessage } from "../step/messages.ts";
import { type StepState, stepStatus } from "../step/state.ts";
import type { JobMessage, JobTimer } from "./messages.ts";
import { type JobState, jobStatus, priorityOf } from "./state.ts";

export type JobEffect =
  | OwedEffect
  | LocalEffect<RunMessage | JobMessage | StepMessage | ApprovalMessage, JobState | StepState | ApprovalState>;
export type JobDecision = Decision<JobState, JobEffect>;

export function moved(next: JobState, effects: readonly JobEffect[]): JobDecision {
  return { entry: "moved", next, effects };
}

export function publishJob(job: JobState, lifecycle: Exclude<LifecycleOf<"job">, "waiting">): OwedEffect {
  const { jobId, stepRunId, status, data } = eventOf(job);
  // Named one by one, as each run publishes several: members from a spread behind others take V8 of Node 20 some microseconds.
  return { type: "publish", event: { object: "job", lifecycle, jobId, stepRunId, status, data } };
}

/** The event that says what the job waits for. */
export function publishWait(job: JobState, waitingFor: string, text: string): OwedEffect {
  const { data, ...event } = eventOf(job);
  return {
    type: "publish",
    event: { object: "job", lifecycle: "waiting", ...event, data: { ...data, waitingFor, text } },
  };
}

function eventOf(job: JobState) {
  const { jobId, index, retryOf, reason, state } = job;
  const data = { index, attempt: shownAttempt(job), retryOf, reason, agentId: job.grant?.agentId ?? null };
  return { jobId, stepRunId: null, status: jobStatus(state), data };
}

/** The event that announces another attempt of a step. */
export function publishRetry(job: JobState, step: StepState): OwedEffect {
  return { type: "publish", event: { object: "step", lifecycle: "retried", ...waitingEventOf(job, step) } };
}

/** The event that says what of a step a user has changed. Values of metadata may be secrets of users: it has the names alone. */
export function publishUpdate(job: JobState, step: StepState, { priority, metadata }: StepChange): OwedEffect {
  const { data, ...event } = waitingEventOf(job, step);
  const metadataKeys = metadata === undefined ? null : metadata.map(([name]) => name).join(",");
  const facts = { ...data, priority: priority ?? null, metadataKeys };
  return { type: "publish", event: { object: "step", lifecycle: "updated", ...event, data: facts } };
}

/** An event of a step that no agent has. */
function waitingEventOf({ jobId }: JobState, step: StepState) {
  const { stepRunId, index, jobIndex, retryOf, reason } = step;
  const data = { index, jobIndex, attempt: shownAttempt(step), retryOf, reason, exitCode: null, agentId: null };
  return { jobId, stepRunId, status: stepStatus(step.state), data };
}

export function offer(job: JobState, plan: RunPlan): OwedEffect {
  const { selector } = plan.jobs[job.index]!;
  return {
    type: "offer",
    offer: {
      runId: job.runId,
      jobId: job.jobId,
      jobIndex: job.index,
      projectId: plan.projectId,
      selector,
      priority: priorityOf(job, plan),
      queuedAt: job.queuedAt!,
    },
  };
}

export function withdraw(job: JobState, plan: RunPlan): OwedEffect {
  const { jobId, queuedAt } = job;
  const { projectId } = plan;
  return queuedAt === null ? { type: "withdraw", jobId, projectId } : { type: "withdraw", jobId, projectId, queuedAt };
}

export function occupy({ jobId, quotas }: JobState): readonly OwedEffect[] {
  return quotas.length === 0 ? [] : [{ type: "occupy", jobId, quotas }];
}

export function vacate({ jobId, quotas }: JobState): readonly OwedEffect[] {
  return quotas.length === 0 ? [] : [{ type: "vacate", jobId, quotas }];
}

export function schedule(job: JobState, timer: JobTimer, set: Timer | null): readonly OwedEffect[] {
  if (set === null) return [];
  return [{ type: "schedule", to: { kind: "job", id: job.jobId }, timer, ...set }];
}

export function tellStep(job: JobState, stepIndex: number, message: StepMessage): JobEffect {
  const attempt = stepIndex === job.stepIndex ? job.stepAttempt : 1;
  const id = stepRunId(job.runId, job.jobId, stepIndex, attempt);
  return { type: "send", to: { kind: "step", id }, message };
}

/** A message from a cell to the job that was spread into it. */
export function tellSpreadJob(job: JobState, message: JobMessage): JobEffect {
  return { type: "send", to: { kind: "job", id: jobRunId(job.runId, job.index, 1) }, message };
}

export function tellRun(job: JobState, message: RunMessage): JobEffect {
  return { type: "send", to: { kind: "run", id: job.runId }, message };
}

/**
 * Dispatches the step at `stepIndex`. Only the first dispatch of a job answers a claim, so only it carries the claim's
 * request id.
 */
export function dispatchStep(job: JobState): JobEffect {
  const granted = job.grant!;
  const isFirst = job.stepIndex === job.firstStep && job.stepAttempt === 1;
  const requestId = isFirst ? granted.requestId : "";
  return tellStep(job, job.stepIndex, { type: "dispatch", grant: { ...granted, requestId } });
}
