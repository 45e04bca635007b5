/**
 * The step's decisions: names the situation, looks it up in the transition table, and returns the next state and
 * effects. Pure.
 */
import { shownAttempt } from "../../src/domain/attempts.ts";
import type { Decision, LocalEffect, OwedEffect } from "../../src/domain/effects.ts";
import type { LifecycleOf } from "../../src/domain/event-table/run-events.ts";
import { lookUp } from "../../src/domain/transition-table.ts";
import type { JobMessage, StepOutcome } from "../job/messages.ts";
import type { Grant, ReportPhase, StepMessage, StepReported } from "./messages.ts";
import { type StepPhase, type StepState, stepStatus } from "./state.ts";
import { STEP_TRANSITIONS, type StepInput } from "./transitions.ts";

export type StepEffect = OwedEffect | LocalEffect<JobMessage, never>;
type StepDecision = Decision<StepState, StepEffect>;

/**
 * Decides one message. `now` is the owner's clock in Unix milliseconds. Throws `IllegalTransition` where the table says
 * `never`.
 */
export function decideStep(step: StepState, message: StepMessage, now: number): StepDecision {
  const input = inputOf(step, message);
  const entry = lookUp("step", STEP_TRANSITIONS, input, step.state);
  if (entry === "late") return { entry, next: step, effects: answerStaleReport(step, message, input) };
  if (entry === "same") return { entry, next: step, effects: repeatDispatch(step, message) };
  switch (message.type) {
    case "dispatch":
      return queue(step, message.grant, now);
    case "reported":
      return message.phase === "started"
        ? start(step, entry, now - message.durationMs)
        : endByReport(step, entry, message, now);
    case "cancel":
      return moved({ ...step, state: entry, reason: message.reason }, [revoke(step, message.reason, message.graceMs)]);
    case "skip": {
      const next: StepState = { ...step, state: entry, reason: message.reason, endedAt: now };
      return moved(next, [publish(next, "skipped")]);
    }
    case "describe":
      return moved({ ...step, metadata: message.metadata }, []);
    case "logEvents":
      return logEvents(step, message.through);
    case "agentLost": {
      const next: StepState = { ...step, state: entry, reason: "agent_lost", endedAt: now };
      return moved(next, [publish(next, LIFECYCLE_OF_END[next.state]!), tellJob(next, "lost")]);
    }
  }
}

/**
 * The effects to perform again after Redis was emptied: the dispatch of the step, or the request to end it. `graceMs`:
 * the time between the polite and the forced end of the step, milliseconds.
 */
export function outstandingStep(step: StepState, graceMs: number): readonly OwedEffect[] {
  if (step.grant === null) return [];
  if (step.state === "queued") return [dispatch(step, step.grant)];
  if (step.state === "cancelling") return [revoke(step, step.reason, graceMs)];
  return [];
}

const INPUT_OF_PHASE: Record<ReportPhase, StepInput> = {
  started: "started",
  succeeded: "succeeded",
  failed: "failed",
  timedOut: "timedOut",
  cancelled: "endedByCancel",
  lost: "lost",
  notStarted: "notStarted",
};

function inputOf(step: StepState, message: StepMessage): StepInput {
  switch (message.type) {
    case "dispatch":
      return "dispatched";
    case "describe":
      return "described";
    case "logEvents":
      return "eventsLogged";
    case "reported":
      if (!isOfGrant(step.grant, message)) return "staleReport";
      if (message.phase === "started" && step.startedAt !== null) return "startedAgain";
      return INPUT_OF_PHASE[message.phase];
    case "cancel":
    case "skip":
    case "agentLost":
      return message.type;
  }
}

function isOfGrant(grant: Grant | null, report: StepReported): boolean {
  return grant !== null && grant.agentId === report.agentId && grant.token === report.token;
}

/**
 * The answer to a report that changes nothing. The agent kills the step of a refused report, because its grant is not
 * the step's. A final report that was processed before is acknowledged, so that the agent may forget it.
 */
function answerStaleReport(step: StepState, message: StepMessage, input: StepInput): readonly StepEffect[] {
  if (message.type !== "reported") return [];
  if (input === "staleReport") return [answerReport("refuse", step, message)];
  return message.phase === "started" ? [] : [answerReport("acknowledge", step, message)];
}

function answerReport(type: "refuse" | "acknowledge", step: StepState, report: StepReported): OwedEffect {
  return { type, agentId: report.agentId, stepRunId: step.stepRunId, token: report.token };
}

/**
 * Dispatches a queued step again: the first dispatch may have been lost. By the token the agent knows whether it has
 * the step.
 */
function repeatDispatch(step: StepState, message: StepMessage): readonly StepEffect[] {
  return message.type === "dispatch" && step.state === "queued" ? outstandingStep(step, 0) : [];
}

function queue(step: StepState, grant: Grant, now: number): StepDecision {
  const next: StepState = { ...step, state: "queued", grant, queuedAt: now };
  return moved(next, [publish(next, "queued"), dispatch(next, grant)]);
}

function start(step: StepState, state: StepPhase, startedAt: number): StepDecision {
  const next: StepState = { ...step, state, startedAt };
  return moved(next, [publish(next, "started")]);
}

const OUTCOME_OF_END: Partial<Record<StepPhase, StepOutcome>> = {
  success: "success",
  failed: "failed",
  timeout: "timeout",
  cancelled: "cancelled",
};

/** The job publishes `updated`, and `pushed` is not about the state of the step. */
type OwnLifecycle = Exclude<LifecycleOf<"step">, "updated" | "pushed">;

const LIFECYCLE_OF_END: Partial<Record<StepPhase, OwnLifecycle>> = {
  success: "completed",
  failed: "failed",
  timeout: "timeout",
  cancelled: "cancelled",
};

function endByReport(step: StepState, state: StepPhase, report: StepReported, now: number): StepDecision {
  const next: StepState = {
    ...step,
    state,
    reason: reasonOf(report) || step.reason,
    startedAt: step.startedAt ?? (report.phase === "notStarted" ? null : now - report.durationMs),
    endedAt: now,
    exitCode: report.exitCode < 0 ? null : report.exitCode,
    hasOutputs: report.hasOutputs,
    lastLine: report.lastLine,
    usage: report.usage,
  };
  const { phase } = report;
  const outcome = phase === "lost" || phase === "notStarted" ? phase : OUTCOME_OF_END[state]!;
  const isImplied = step.startedAt === null && next.startedAt !== null;
  const impliedStart = isImplied ? [publish({ ...next, state: "running" }, "started")] : [];
  return moved(next, [
    ...impliedStart,
    publish(next, LIFECYCLE_OF_END[state]!),
    answerReport("acknowledge", next, report),
    tellJob(next, outcome),
  ]);
}

function reasonOf({ phase, reason }: StepReported): string {
  if (phase === "lost") return "agent_lost";
  return phase === "notStarted" ? `dispatch_failed: ${reason}` : reason;
}

/** The content of the events is in the store; the log of the run has their sequence. */
function logEvents(step: StepState, through: number): StepDecision {
  const { jobId, stepRunId, index, jobIndex, eventsThrough = 0 } = step;
  const base = { index, jobIndex, attempt: shownAttempt(step), agentId: step.grant!.agentId };
  const published = Array.from({ length: through - eventsThrough }, (_, at): OwedEffect => {
    const data = { ...base, sequence: eventsThrough + 1 + at };
    const status = stepStatus(step.state);
    return { type: "publish", event: { object: "step", lifecycle: "pushed", jobId, stepRunId, status, data } };
  });
  return moved({ ...step, eventsThrough: through }, published);
}

function moved(next: StepState, effects: readonly StepEffect[]): StepDecision {
  return { entry: "moved", next, effects };
}

function publish(step: StepState, lifecycle: OwnLifecycle): OwedEffect {
  return {
    type: "publish",
    event: {
      object: "step",
      lifecycle,
      jobId: step.jobId,
      stepRunId: step.stepRunId,
      status: stepStatus(step.state),
      data: {
        index: step.index,
        jobIndex: step.jobIndex,
        attempt: shownAttempt(step),
        retryOf: step.retryOf,
        reason: step.reason,
        exitCode: step.exitCode,
        agentId: step.grant?.agentId ?? null,
      },
    },
  };
}

function dispatch(step: StepState, grant: Grant): OwedEffect {
  const { agentId, bootId, requestId, token } = grant;
  const { runId, jobId, jobIndex, jobAttempt, stepRunId, index: stepIndex } = step;
  // Named one by one: members that are new behind a spread take V8 of Node 20 some microseconds.
  return {
    type: "dispatch",
    order: { agentId, bootId, requestId, token, runId, jobId, jobIndex, jobAttempt, stepRunId, stepIndex },
  };
}

function revoke(step: StepState, reason: string, graceMs: number): OwedEffect {
  const { agentId, token } = step.grant!;
  return { type: "revoke", agentId, jobId: step.jobId, stepRunId: step.stepRunId, token, graceMs, reason };
}

function tellJob(step: StepState, outcome: StepOutcome): StepEffect {
  return {
    type: "send",
    to: { kind: "job", id: step.jobId },
    message: { type: "stepEnded", stepRunId: step.stepRunId, outcome, exitCode: step.exitCode },
  };
}
