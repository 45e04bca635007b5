/** The run's decisions: names the situation, looks it up in the table, and says what follows from it. Pure. */
import type { Decision, LocalEffect, OwedEffect } from "../../src/domain/effects.ts";
import type { Lifecycle } from "../../src/domain/events.ts";
import { type JobRunId, jobRunId } from "../../src/domain/ids.ts";
import type { Peers } from "../../src/domain/peers.ts";
import type { RunPlan } from "../../src/domain/plan.ts";
import { lookUp } from "../../src/domain/transition-table.ts";
import { decideGate } from "../../src/planner/gate.ts";
import { endOf, jobFacts, otherCells } from "../job/facts.ts";
import type { JobMessage } from "../job/messages.ts";
import type { JobResult, RunMessage } from "./messages.ts";
import { type RunPhase, type RunState, runStatus } from "./state.ts";
import { RUN_TRANSITIONS, type RunInput } from "./transitions.ts";

export type RunEffect = OwedEffect | LocalEffect<JobMessage, never>;
type JobEnded = RunMessage & { readonly type: "jobEnded" };
type RunDecision = Decision<RunState, RunEffect>;

/** Decides one message. `now` is the owner's clock in Unix milliseconds. Throws `IllegalTransition` for a `never` cell. */
export function decideRun(run: RunState, message: RunMessage, now: number, plan: RunPlan, peers: Peers): RunDecision {
  const counted = message.type === "jobEnded" ? countJob(run, message.index, message.result, plan) : run;
  const input = inputOf(counted, message);
  const cell = lookUp("run", RUN_TRANSITIONS, input, run.state);
  if (cell === "late" || cell === "same") return { cell, next: run, effects: answer(run, message, "refused") };
  switch (input) {
    case "start":
      return start(run, now, plan, peers);
    case "jobEnded": {
      const cells = tellCells(counted, message as JobEnded, plan, peers);
      const { next, effects } = goOn(counted, plan, peers);
      return moved(next, [...cells, ...effects]);
    }
    case "jobRetried":
      return moved(countAttempt(run, message as RunMessage & { type: "jobRetried" }), []);
    case "allSucceeded":
    case "someFailed":
    case "onlyTolerated":
    case "stopDone":
    case "timeoutDone":
      return end(counted, cell, now);
    case "stop":
      return stop(run, message, plan);
    case "pause":
    case "resume":
      return pauseOrResume(run, cell, input, message, plan);
    case "timedOut": {
      const next: RunState = { ...run, state: "stopping", reason: "timeout", timedOut: true, timeoutTimer: null };
      return moved(next, tellJobs(run, plan, { type: "cancel", reason: "timeout" }));
    }
    case "staleTimer":
      throw new Error(`the table has no move for ${input}`);
  }
}

/** What Redis must know of this run although it has forgotten everything. */
export function outstandingRun(run: RunState): readonly OwedEffect[] {
  return schedule(run);
}

function inputOf(counted: RunState, message: RunMessage): RunInput {
  switch (message.type) {
    case "timer":
      return timerInput(counted, message);
    case "jobEnded":
      return counted.remaining > 0 ? "jobEnded" : lastJobInput(counted);
    case "jobRetried":
    case "stop":
    case "pause":
    case "resume":
      return message.type;
  }
}

function timerInput(run: RunState, message: RunMessage & { type: "timer" }): RunInput {
  const timer = message.timer === "start" ? run.startTimer : run.timeoutTimer;
  if (timer?.generation !== message.generation) return "staleTimer";
  return message.timer === "start" ? "start" : "timedOut";
}

function lastJobInput(counted: RunState): RunInput {
  if (counted.state === "stopping") return counted.timedOut ? "timeoutDone" : "stopDone";
  if (counted.failedJobs > 0) return "someFailed";
  return counted.toleratedJobs > 0 ? "onlyTolerated" : "allSucceeded";
}

function countJob(run: RunState, index: number, result: JobResult, plan: RunPlan): RunState {
  const isInOpenStage = plan.jobs[index]!.stage === run.stage;
  return {
    ...run,
    remaining: run.remaining - 1,
    remainingInStage: run.remainingInStage - (isInOpenStage ? 1 : 0),
    failedJobs: run.failedJobs + (isFailure(result) ? 1 : 0),
    toleratedJobs: run.toleratedJobs + (result === "tolerated" ? 1 : 0),
  };
}

/** True for what makes the run fail. */
export function isFailure(result: JobResult | null): boolean {
  return result === "failed" || result === "cancelled";
}

function countAttempt(run: RunState, { index, attempt }: RunMessage & { type: "jobRetried" }): RunState {
  const others = run.attempts.filter(([other]) => other !== index);
  return { ...run, attempts: [...others, [index, attempt]] };
}

function start(run: RunState, now: number, plan: RunPlan, peers: Peers): RunDecision {
  const running: RunState = {
    ...run,
    state: "running",
    startedAt: now,
    startTimer: null,
    timeoutTimer: plan.timeoutMs === null ? null : { generation: 1, dueAt: now + plan.timeoutMs },
  };
  const opened = openStage(running, 0, plan, peers);
  return moved(opened.next, [
    publish(run, "created"),
    publish(running, "started"),
    ...schedule(running),
    ...opened.effects,
  ]);
}

/** Opens the next stage when this one is done. */
function goOn(run: RunState, plan: RunPlan, peers: Peers): RunDecision {
  const isDone = run.remainingInStage === 0 && run.state !== "stopping" && run.stage + 1 < plan.stages.length;
  return isDone ? openStage(run, run.stage + 1, plan, peers) : moved(run, []);
}

/** What the other cells of a matrix are told when one has ended. */
function tellCells(run: RunState, { index, result }: JobEnded, plan: RunPlan, peers: Peers): readonly RunEffect[] {
  const { failFast, maxParallel } = plan.jobs[index]!;
  if (run.state === "stopping") return [];
  const isFailure = failFast && result === "failed";
  if (!isFailure && maxParallel === null) return [];
  const message: JobMessage = isFailure ? { type: "cancel", reason: "fail_fast" } : { type: "cellEnded" };
  return otherCells(run.runId, index, plan, peers)
    .filter(({ state, endedAt, retryTimer }) =>
      isFailure ? endedAt === null : state === "pending" && retryTimer === null,
    )
    .map((cell) => tellJob(run, cell.index, message));
}

/**
 * Its jobs decide for themselves, unless the stage has a condition: one that is met lets it begin as if nothing had failed. Some
 * may have ended before: reused ones, and those that were cancelled. A stage of such jobs alone is passed over.
 */
function openStage(run: RunState, stage: number, plan: RunPlan, peers: Peers): RunDecision {
  const jobs = plan.jobs.filter((job) => job.stage === stage);
  const ends = jobs.map(({ index }) => endOf(jobIdOf(run, index), plan, peers));
  const waiting = jobs.filter((_, at) => ends[at] === null);
  const opened: RunState = { ...run, stage, remainingInStage: waiting.length };
  if (waiting.length === 0) return goOn(opened, plan, peers);
  const { when } = plan.stages[stage]!;
  // In the stages before this one.
  const failed = run.failedJobs > ends.filter(isFailure).length;
  const status = { success: !failed, failure: failed, cancelled: false };
  const gate = when === null ? "open" : decideGate(when, jobFacts(run.runId, plan, peers), status);
  const message: JobMessage =
    gate === "open" ? { type: "stageOpened", failed: failed && when === null } : { type: "stageClosed", gate };
  return moved(
    opened,
    waiting.map((job) => tellJob(run, job.index, message)),
  );
}

const LIFECYCLE_OF_END: Partial<Record<RunPhase, Lifecycle>> = {
  success: "completed",
  partial: "completed",
  failed: "failed",
  cancelled: "cancelled",
};

function end(run: RunState, state: RunPhase, now: number): RunDecision {
  const next: RunState = { ...run, state, endedAt: now, timeoutTimer: null };
  return moved(next, [publish(next, LIFECYCLE_OF_END[state]!)]);
}

/** A stop of a run that its timeout is already ending makes it end as cancelled; its jobs have been told. */
function stop(run: RunState, message: RunMessage, plan: RunPlan): RunDecision {
  const { reason } = message as RunMessage & { type: "stop" };
  const next: RunState = {
    ...run,
    state: "stopping",
    reason: reason || "stopped",
    timedOut: false,
    startTimer: null,
    timeoutTimer: null,
  };
  const cancels = run.state === "stopping" ? [] : tellJobs(run, plan, { type: "cancel", reason: "cancelled" });
  return moved(next, [...answer(next, message, "accepted"), ...cancels]);
}

function pauseOrResume(
  run: RunState,
  state: RunPhase,
  type: "pause" | "resume",
  message: RunMessage,
  plan: RunPlan,
): RunDecision {
  const next: RunState = { ...run, state };
  return moved(next, [
    publish(next, type === "pause" ? "paused" : "resumed"),
    ...answer(next, message, "accepted"),
    ...tellJobs(run, plan, { type }),
  ]);
}

function answer(run: RunState, message: RunMessage, outcome: "accepted" | "refused"): readonly RunEffect[] {
  if (!("commandId" in message)) return [];
  return [{ type: "answer", commandId: message.commandId, verdict: { outcome, status: runStatus(run.state) } }];
}

function tellJobs(run: RunState, plan: RunPlan, message: JobMessage): readonly RunEffect[] {
  return plan.jobs.map((job) => tellJob(run, job.index, message));
}

function tellJob(run: RunState, index: number, message: JobMessage): RunEffect {
  return { type: "send", to: { kind: "job", id: jobIdOf(run, index) }, message };
}

/** The newest attempt of the job. */
function jobIdOf({ runId, attempts }: RunState, index: number): JobRunId {
  const attempt = attempts.find(([other]) => other === index)?.[1] ?? 1;
  return jobRunId(runId, index, attempt);
}

function schedule(run: RunState): readonly OwedEffect[] {
  if (run.timeoutTimer === null) return [];
  return [{ type: "schedule", to: { kind: "run", id: run.runId }, timer: "timeout", ...run.timeoutTimer }];
}

function publish(run: RunState, lifecycle: Lifecycle): OwedEffect {
  return {
    type: "publish",
    event: {
      object: "pipeline",
      lifecycle,
      jobId: null,
      stepRunId: null,
      status: runStatus(run.state),
      data: { runId: run.runId, reason: run.reason, retryOf: run.retryOf },
    },
  };
}

function moved(next: RunState, effects: readonly RunEffect[]): RunDecision {
  return { cell: "moved", next, effects };
}
