/**
 * The run's decisions: names the situation, looks it up in the transition table, and returns the next state and
 * effects. Pure.
 */
import type { Decision, LocalEffect, OwedEffect } from "../../src/domain/effects.ts";
import type { LifecycleOf } from "../../src/domain/event-table/run-events.ts";
import type { GroupMember } from "../../src/domain/groups.ts";
import { approvalId, commandIdOf, type JobRunId, jobRunId } from "../../src/domain/ids.ts";
import type { Peers } from "../../src/domain/peers.ts";
import type { PlannedJob, RunPlan } from "../../src/domain/plan.ts";
import { firstAttemptId, jobsOfStage } from "../../src/planner/plan-index.ts";
import { lookUp } from "../../src/domain/transition-table.ts";
import { decideGate } from "../../src/planner/gate.ts";
import { resolveMessage } from "../../src/planner/deferred-texts.ts";
import { requestApproval } from "../approval/decide.ts";
import type { ApprovalMessage } from "../approval/messages.ts";
import { type ApprovalState, gateName } from "../approval/state.ts";
import { enterGroup, leaveGroup } from "../group/membership.ts";
import { endOf, jobFacts, newestAttempt } from "../job/facts.ts";
import { endedByFailure, hasRoom, nextPending } from "../job/matrix.ts";
import type { ClosedGate, JobMessage } from "../job/messages.ts";
import type { StepMessage } from "../step/messages.ts";
import type { EventsPushed, JobResult, RunMessage } from "./messages.ts";
import { takeEvents } from "./pushed-events.ts";
import { type RunPhase, type RunState, runStatus } from "./state.ts";
import { RUN_TRANSITIONS, type RunInput } from "./transitions.ts";

export type RunEffect = OwedEffect | LocalEffect<JobMessage | ApprovalMessage | StepMessage, ApprovalState>;
type JobEnded = RunMessage & { readonly type: "jobEnded" };
type PlaceMessage = RunMessage & { readonly type: "placed" | "superseded" | "placeRefused" };
type RunDecision = Decision<RunState, RunEffect>;

/**
 * Decides one message. `now` is the owner's clock in Unix milliseconds. Throws `IllegalTransition` where the table says
 * `never`.
 */
export function decideRun(run: RunState, message: RunMessage, now: number, plan: RunPlan, peers: Peers): RunDecision {
  if (message.type === "eventsPushed") return logEvents(run, message, peers);
  const counted = message.type === "jobEnded" ? countJob(run, message.index, message.result, plan) : run;
  const input = inputOf(counted, message, plan);
  const entry = lookUp("run", RUN_TRANSITIONS, input, run.state);
  if (entry === "late" || entry === "same") return { entry, next: run, effects: answer(run, message, "refused") };
  switch (input) {
    case "approvalNeeded":
      return askForApproval(run, now, plan);
    case "placeNeeded":
    case "approvedToEnter":
      return askForPlace({ ...run, stageApproval: null }, plan);
    case "start":
    case "approved":
    case "placed": {
      const { next, effects } = start({ ...run, stageApproval: null }, now, plan, peers);
      return moved(next, [...answer(next, message, "accepted"), ...effects]);
    }
    case "jobPlaceAnswered":
      return moved(run, [
        ...answer(run, message, "accepted"),
        ...tellMember(run, message as PlaceMessage, plan, peers),
      ]);
    case "stageApprovalEnded": {
      const { result } = message as RunMessage & { type: "approvalEnded" };
      const gate = result === "approved" ? "open" : (`approval_${result}` as const);
      const stage = run.stage + 1;
      return enterStage({ ...run, stageApproval: null }, stage, gate, plan, surveyStage(run, stage, plan, peers));
    }
    case "jobEnded": {
      const cells = tellCells(counted, message as JobEnded, plan, peers);
      const { next, effects } = openNextStage(counted, now, plan, peers);
      return moved(next, [...cells, ...effects]);
    }
    case "jobRetried":
      return moved(countAttempt(run, message as RunMessage & { type: "jobRetried" }), []);
    case "allSucceeded":
    case "someFailed":
    case "onlyTolerated":
    case "stopDone":
    case "timeoutDone":
      return end(counted, entry, now);
    case "stop":
      return stop(run, message, (message as RunMessage & { type: "stop" }).reason || "stopped", plan);
    case "superseded":
    case "placeRefused": {
      const { by } = message as PlaceMessage;
      const reason = input === "superseded" ? "superseded by" : "its group is full:";
      return stop(run, message, `${reason} ${by ?? "a newer run"}`, plan);
    }
    case "notApproved": {
      const { result } = message as RunMessage & { type: "approvalEnded" };
      return stop({ ...run, stageApproval: null }, message, `approval_${result}`, plan);
    }
    case "pause":
    case "resume":
      return pauseOrResume(run, entry, input, message, plan);
    case "timedOut": {
      const next: RunState = {
        ...run,
        state: "stopping",
        reason: "timeout",
        timedOut: true,
        timeoutTimer: null,
        stageApproval: null,
      };
      const cancels = tellAll(run, plan, { type: "cancel", reason: "timeout" });
      return moved(next, [publish(next, "stopping"), ...withdrawApproval(run), ...cancels]);
    }
    case "staleTimer":
    case "eventsPushed":
    case "eventsKnown":
    case "eventsRefused":
      throw new Error(`the transition table of the run has no target state for ${input}`);
  }
}

/** The effects that tell an emptied Redis again what it must hold for this run: its timer. */
export function outstandingRun(run: RunState): readonly OwedEffect[] {
  return schedule(run);
}

function inputOf(counted: RunState, message: Exclude<RunMessage, EventsPushed>, plan: RunPlan): RunInput {
  switch (message.type) {
    case "timer":
      return timerInput(counted, message, plan);
    case "placed":
    case "superseded":
    case "placeRefused":
      return message.member.job === null ? message.type : "jobPlaceAnswered";
    case "approvalEnded":
      return approvalInput(counted, message, plan);
    case "jobEnded":
      return counted.remaining > 0 ? "jobEnded" : lastJobInput(counted);
    case "jobRetried":
    case "stop":
    case "pause":
    case "resume":
      return message.type;
  }
}

function timerInput(run: RunState, message: RunMessage & { type: "timer" }, plan: RunPlan): RunInput {
  const timer = message.timer === "start" ? run.startTimer : run.timeoutTimer;
  if (timer?.generation !== message.generation) return "staleTimer";
  if (message.timer === "timeout") return "timedOut";
  if (plan.approval !== undefined) return "approvalNeeded";
  return plan.group === null ? "start" : "placeNeeded";
}

/** The approval of the run is the only one that is asked for before it begins. */
function approvalInput(run: RunState, { result }: RunMessage & { type: "approvalEnded" }, plan: RunPlan): RunInput {
  if (run.startedAt !== null || plan.approval === undefined) return "stageApprovalEnded";
  if (result !== "approved") return "notApproved";
  return plan.group === null ? "approved" : "approvedToEnter";
}

function lastJobInput(counted: RunState): RunInput {
  if (counted.state === "stopping") return counted.timedOut ? "timeoutDone" : "stopDone";
  if (counted.failedJobs > 0) return "someFailed";
  return counted.toleratedJobs > 0 ? "onlyTolerated" : "allSucceeded";
}

/** Takes events of a step into the log: the step publishes them, each with its sequence. */
function logEvents(run: RunState, message: EventsPushed, peers: Peers): RunDecision {
  const { input, through, taken } = takeEvents(run, message, peers);
  const entry = lookUp("run", RUN_TRANSITIONS, input, run.state);
  const outcome = input === "eventsRefused" ? "refused" : "accepted";
  const verdict = { outcome, status: runStatus(run.state), through } as const;
  const answered: RunEffect = { type: "answer", commandId: message.commandId, verdict };
  if (entry === "late" || entry === "same") return { entry, next: run, effects: [answered] };
  const told: RunEffect = {
    type: "send",
    to: { kind: "step", id: message.stepRunId },
    message: { type: "logEvents", through },
  };
  return moved({ ...run, pushedEvents: (run.pushedEvents ?? 0) + taken }, [answered, told]);
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

/** True for a result that makes the run fail. */
export function isFailure(result: JobResult | null): boolean {
  return result === "failed" || result === "cancelled";
}

function countAttempt(run: RunState, { index, attempt }: RunMessage & { type: "jobRetried" }): RunState {
  // Thousands of jobs may be retried in one turn: the list is copied as a whole, and searched only for a third attempt.
  const at = attempt === 2 ? -1 : run.attempts.findIndex((other) => other[0] === index);
  const attempts = at === -1 ? [...run.attempts, [index, attempt] as const] : run.attempts.with(at, [index, attempt]);
  return { ...run, attempts };
}

/** Announces the new run and asks people for its approval. What it needs then, it asks for once it has been approved. */
function askForApproval(run: RunState, now: number, plan: RunPlan): RunDecision {
  const gate = { run: true } as const;
  const { message, timeoutMs } = plan.approval!;
  const next: RunState = { ...run, startTimer: null, stageApproval: approvalId(run.runId, gate) };
  const requested = requestApproval({ runId: run.runId, gate, message, timeoutMs }, now, plan);
  return moved(next, [publish(next, "created"), ...requested, publishWaiting(next, "approval", gateName(gate, plan))]);
}

/** Announces the new run and asks its group for a place. The run starts when it has the place. */
function askForPlace(run: RunState, plan: RunPlan): RunDecision {
  const { place, effect } = enterGroup(memberOf(run), plan.projectId, plan.group!);
  const next: RunState = { ...run, startTimer: null, place };
  return moved(next, [...announce(next, plan), publishWaiting(next, "concurrency", place.name), effect]);
}

function start(run: RunState, now: number, plan: RunPlan, peers: Peers): RunDecision {
  const running: RunState = {
    ...run,
    state: "running",
    place: run.place && { ...run.place, held: true },
    startedAt: now,
    startTimer: null,
    timeoutTimer: plan.timeoutMs === null ? null : { generation: 1, dueAt: now + plan.timeoutMs },
  };
  const opened = openStage(running, 0, now, plan, peers);
  return moved(opened.next, [
    ...(run.place === null ? announce(run, plan) : []),
    publish(running, "started"),
    ...schedule(running),
    ...opened.effects,
  ]);
}

/** Opens the next stage when all jobs of the open one have ended and the run is not stopping. */
function openNextStage(run: RunState, now: number, plan: RunPlan, peers: Peers): RunDecision {
  const isDone = run.remainingInStage === 0 && run.state !== "stopping" && run.stage + 1 < plan.stages.length;
  return isDone ? openStage(run, run.stage + 1, now, plan, peers) : moved(run, []);
}

/**
 * Tells the other cells of a matrix that one has ended: after a failure with `failFast` they are cancelled, else the
 * next one may begin.
 */
function tellCells(run: RunState, { index, result }: JobEnded, plan: RunPlan, peers: Peers): readonly RunEffect[] {
  if (run.state === "stopping") return [];
  const { failFast, maxParallel } = plan.jobs[index]!;
  const ended = { runId: run.runId, index, cell: null };
  if (failFast && result === "failed") {
    return endedByFailure(ended, plan, peers).map(({ jobId }) => tell(jobId, { type: "cancel", reason: "fail_fast" }));
  }
  if (maxParallel === null || !hasRoom(ended, plan, peers)) return [];
  const next = nextPending(ended, plan, peers);
  return next === undefined ? [] : [tell(next.jobId, { type: "cellEnded" })];
}

/**
 * Opens the stage, or requests the approval that it needs first. When all jobs of the stage have ended already, because
 * they are reused or were cancelled, the stage after it is opened instead.
 */
function openStage(run: RunState, stage: number, now: number, plan: RunPlan, peers: Peers): RunDecision {
  const { name, when, approval } = plan.stages[stage]!;
  const survey = surveyStage(run, stage, plan, peers);
  const { waiting, failed } = survey;
  if (waiting.length === 0) return openNextStage({ ...run, stage, remainingInStage: 0 }, now, plan, peers);
  const status = { success: !failed, failure: failed, cancelled: false };
  const facts = jobFacts(run.runId, plan, peers);
  const gate = when === null ? "open" : decideGate(when, facts, status);
  // After a failure no approval is requested for a stage whose jobs cannot run.
  const mayRun = !failed || when !== null || waiting.some((job) => job.when !== null);
  if (gate !== "open" || approval === null || !mayRun) return enterStage(run, stage, gate, plan, survey);
  const message = resolveMessage(approval.message, facts);
  const request = { runId: run.runId, gate: { stage }, message, timeoutMs: approval.timeoutMs };
  const next: RunState = { ...run, stageApproval: approvalId(run.runId, { stage }) };
  return moved(next, [...requestApproval(request, now, plan), publishWaiting(next, "approval", `stage ${name}`)]);
}

/**
 * Tells the jobs of the stage that it opens, or why it does not run. After a failure in an earlier stage each job
 * decides by its own condition, unless the stage has a condition: when that is met, the jobs begin as if nothing had
 * failed.
 */
function enterStage(
  run: RunState,
  stage: number,
  gate: "open" | ClosedGate,
  plan: RunPlan,
  { waiting, failed }: StageSurvey,
): RunDecision {
  const hasCondition = plan.stages[stage]!.when !== null;
  const message: JobMessage =
    gate === "open" ? { type: "stageOpened", failed: failed && !hasCondition } : { type: "stageClosed", gate };
  return moved(
    { ...run, stage, remainingInStage: waiting.length },
    tellJobs(
      run,
      waiting.map(({ index }) => index),
      plan,
      message,
    ),
  );
}

interface StageSurvey {
  /** The jobs of the stage that have not ended. */
  readonly waiting: readonly PlannedJob[];
  /** True when a job of another stage has failed. */
  readonly failed: boolean;
}

function surveyStage(run: RunState, stage: number, plan: RunPlan, peers: Peers): StageSurvey {
  const jobs = jobsOfStage(stage, plan);
  const ends = newestIds(run, jobs, plan).map((id) => endOf(id, plan, peers));
  return {
    waiting: jobs.filter((_, at) => ends[at] === null).map((index) => plan.jobs[index]!),
    failed: run.failedJobs > ends.filter(isFailure).length,
  };
}

const LIFECYCLE_OF_END: Partial<Record<RunPhase, "completed" | "failed" | "cancelled">> = {
  success: "completed",
  partial: "completed",
  failed: "failed",
  cancelled: "cancelled",
};

function end(run: RunState, state: RunPhase, now: number): RunDecision {
  const next: RunState = { ...run, state, endedAt: now, timeoutTimer: null, place: null };
  const published = publish(next, LIFECYCLE_OF_END[state]!);
  return moved(next, [published, ...leaveGroup(run.place, memberOf(run)), ...tellSchedule(run)]);
}

function tellSchedule({ scheduleId, runId }: RunState): readonly OwedEffect[] {
  if (scheduleId === undefined) return [];
  const commandId = commandIdOf("runEnded", scheduleId, runId);
  return [{ type: "command", to: scheduleId, commandId, body: { kind: "runEnded", runId } }];
}

/** Stops the run. A run that is stopping because of its timeout ends as cancelled after this; its jobs know already. */
function stop(run: RunState, message: RunMessage, reason: string, plan: RunPlan): RunDecision {
  const next: RunState = {
    ...run,
    state: "stopping",
    reason,
    timedOut: false,
    startTimer: null,
    timeoutTimer: null,
    stageApproval: null,
  };
  const cancels = run.state === "stopping" ? [] : tellAll(run, plan, { type: "cancel", reason: "cancelled" });
  const answers = [...answer(next, message, "accepted"), publish(next, "stopping")];
  return moved(next, [...answers, ...withdrawApproval(run), ...cancels]);
}

function withdrawApproval({ stageApproval }: RunState): readonly RunEffect[] {
  if (stageApproval === null) return [];
  return [{ type: "send", to: { kind: "approval", id: stageApproval }, message: { type: "withdraw" } }];
}

function memberOf({ runId }: RunState): GroupMember {
  return { runId, job: null, cell: null };
}

/** Passes the answer of a job's group on to the job. */
function tellMember(
  run: RunState,
  { type, member, by }: PlaceMessage,
  plan: RunPlan,
  peers: Peers,
): readonly RunEffect[] {
  const id = newestAttempt(run.runId, member.job!, member.cell, plan, peers);
  if (id === undefined) return [];
  const message: JobMessage = type === "placed" ? { type } : { type, by };
  return [tell(id, message)];
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
    ...tellAll(run, plan, { type }),
  ]);
}

function answer(run: RunState, message: RunMessage, outcome: "accepted" | "refused"): readonly RunEffect[] {
  if (!("commandId" in message)) return [];
  return [{ type: "answer", commandId: message.commandId, verdict: { outcome, status: runStatus(run.state) } }];
}

function tellAll(run: RunState, plan: RunPlan, message: JobMessage): readonly RunEffect[] {
  return tellJobs(
    run,
    plan.jobs.map(({ index }) => index),
    plan,
    message,
  );
}

/** Tells the newest attempts of the jobs at these positions. */
function tellJobs(run: RunState, jobs: readonly number[], plan: RunPlan, message: JobMessage): readonly RunEffect[] {
  return newestIds(run, jobs, plan).map((id) => tell(id, message));
}

function tell(id: JobRunId, message: JobMessage): RunEffect {
  return { type: "send", to: { kind: "job", id }, message };
}

/** The newest attempts of the jobs at these positions. */
function newestIds({ runId, attempts }: RunState, jobs: readonly number[], plan: RunPlan): readonly JobRunId[] {
  const newest = new Map(attempts);
  return jobs.map((index) => {
    const attempt = newest.get(index) ?? 1;
    return attempt === 1 ? firstAttemptId(runId, index, plan) : jobRunId(runId, index, attempt);
  });
}

/** A run that needs an approval was announced when it asked for it. */
function announce(run: RunState, { approval }: RunPlan): readonly OwedEffect[] {
  return approval === undefined ? [publish(run, "created")] : [];
}

function schedule(run: RunState): readonly OwedEffect[] {
  if (run.timeoutTimer === null) return [];
  return [{ type: "schedule", to: { kind: "run", id: run.runId }, timer: "timeout", ...run.timeoutTimer }];
}

function publish(run: RunState, lifecycle: Exclude<LifecycleOf<"pipeline">, "waiting">): OwedEffect {
  const { jobId, stepRunId, status, data } = eventOf(run);
  return { type: "publish", event: { object: "pipeline", lifecycle, jobId, stepRunId, status, data } };
}

/**
 * The event that says what the run waits for: the approval of the stage, or a place in the group, that `text` names.
 */
function publishWaiting(run: RunState, waitingFor: "approval" | "concurrency", text: string): OwedEffect {
  const { data, ...event } = eventOf(run);
  return {
    type: "publish",
    event: { object: "pipeline", lifecycle: "waiting", ...event, data: { ...data, waitingFor, text } },
  };
}

function eventOf({ runId, reason, retryOf, state }: RunState) {
  return { jobId: null, stepRunId: null, status: runStatus(state), data: { runId, reason, retryOf } };
}

function moved(next: RunState, effects: readonly RunEffect[]): RunDecision {
  return { entry: "moved", next, effects };
}
