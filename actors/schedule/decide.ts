/** The schedule's decisions: when a run is due, whether it may begin beside the runs before it, and what a new definition changes. Pure. */
import type { Decision, OwedEffect, Verdict } from "../../src/domain/effects.ts";
import { commandIdOf, type RunId, scheduledRunId } from "../../src/domain/ids.ts";
import { startKeyOf } from "../../src/domain/schedules.ts";
import { lookUp } from "../../src/domain/transition-table.ts";
import { nextOccurrence } from "../../src/schedules/occurrences.ts";
import { skipOf, skipRange, takeDue, withOutcome } from "./due-times.ts";
import type { ScheduleMessage, ScheduleOrder } from "./messages.ts";
import { isPending, MAX_ACTIVE, type ScheduleState, wakeAt } from "./state.ts";
import { SCHEDULE_TRANSITIONS, type ScheduleInput } from "./transitions.ts";

type ScheduleDecision = Decision<ScheduleState, OwedEffect>;
type Define = ScheduleOrder & { readonly kind: "define" };
type Answer = ScheduleOrder & { readonly kind: "startAnswered" };

/**
 * Decides one message. `now` is the owner's clock in Unix milliseconds. Throws `IllegalTransition` where the table says
 * `never`.
 */
export function decideSchedule(schedule: ScheduleState, message: ScheduleMessage, now: number): ScheduleDecision {
  const input = situationOf(schedule, message, now);
  if (input === null) return unchanged(schedule, message, "staleTimer");
  if (SCHEDULE_TRANSITIONS[input][schedule.state] === "late") return unchanged(schedule, message, input);
  const changed = change(schedule, message, now);
  const { schedule: begun, effects } = beginNext(changed, now);
  const ended = inputAfter(input, begun);
  const entry = lookUp("schedule", SCHEDULE_TRANSITIONS, ended, schedule.state);
  if (entry === "late" || entry === "same") return unchanged(schedule, message, ended);
  const next: ScheduleState = { ...begun, state: entry };
  return { entry: "moved", next, effects: [...answer(next, message, "accepted"), ...effects] };
}

function unchanged(schedule: ScheduleState, message: ScheduleMessage, input: ScheduleInput): ScheduleDecision {
  const entry = lookUp("schedule", SCHEDULE_TRANSITIONS, input, schedule.state);
  const isRefused = message.kind === "pause" || message.kind === "resume";
  const effects = answer(schedule, message, isRefused ? "refused" : "accepted");
  return { entry: entry === "same" ? "same" : "late", next: schedule, effects };
}

/** The input, before it is known whether a time is pending afterwards; null for a timer with nothing to do. */
function situationOf(schedule: ScheduleState, message: ScheduleMessage, now: number): ScheduleInput | null {
  switch (message.kind) {
    case "define":
    case "withdraw": {
      if (message.generation <= schedule.generation) return "staleOrder";
      if (message.kind === "define") return "defined";
      return schedule.state === "absent" ? "withdrawn" : "withdrawnBusy";
    }
    case "timer":
      return (wakeAt(schedule) ?? Infinity) <= now ? "due" : null;
    case "startAnswered":
      return schedule.starting?.at === message.at ? "answered" : "staleAnswer";
    case "runEnded":
      return schedule.active.includes(message.runId) || schedule.starting?.runId === message.runId
        ? "runEnded"
        : "otherRunEnded";
    case "pause":
    case "resume":
      return message.kind;
  }
}

/** Inputs that say whether a time is pending after them. */
function inputAfter(input: ScheduleInput, after: ScheduleState): ScheduleInput {
  if (isPending(after)) return input;
  if (input === "withdrawnBusy") return "withdrawn";
  if (input === "due") return "lastDue";
  return input === "answered" ? "lastAnswered" : input;
}

function change(schedule: ScheduleState, message: ScheduleMessage, now: number): ScheduleState {
  switch (message.kind) {
    case "define":
      return define(schedule, message, now);
    // What was due before the change keeps its run.
    case "withdraw":
      return { ...takeDue(schedule, now), generation: message.generation, next: null, pause: null };
    case "timer":
      return takeDue(schedule, now);
    case "startAnswered":
      return noteStart(schedule, message, now);
    case "runEnded":
      return noteEnd(schedule, message.runId);
    case "pause": {
      const { operator: by, reason } = message;
      const due = takeDue(schedule, now);
      return { ...due, next: null, pause: { at: now, by, reason }, decidedUntil: Math.max(due.decidedUntil, now) };
    }
    case "resume":
      return resume(schedule, now);
  }
}

function define(schedule: ScheduleState, { pipelineId, projectId, generation, spec }: Define, now: number) {
  const due = takeDue(schedule, now);
  const decidedUntil = Math.max(due.decidedUntil, now);
  const next = due.state === "paused" ? null : nextOccurrence(spec, decidedUntil);
  return { ...due, pipelineId, projectId, generation, spec, decidedUntil, next };
}

function noteStart(schedule: ScheduleState, { at, outcome }: Answer, now: number): ScheduleState {
  const { starting, outcomes, active } = schedule;
  if ("refused" in outcome) {
    return {
      ...schedule,
      starting: null,
      outcomes: withOutcome(outcomes, skipOf(at, "refused", now, outcome.refused)),
    };
  }
  const { runId } = outcome;
  const started = { at, until: at, count: 1, runId, reason: null, text: "", decidedAt: now };
  return {
    ...schedule,
    starting: null,
    active: starting?.hasEnded === true ? active : [...active, runId].slice(-MAX_ACTIVE),
    outcomes: withOutcome(outcomes, started),
  };
}

function noteEnd(schedule: ScheduleState, runId: RunId): ScheduleState {
  const { starting } = schedule;
  if (starting?.runId === runId) return { ...schedule, starting: { ...starting, hasEnded: true } };
  return { ...schedule, active: schedule.active.filter((one) => one !== runId) };
}

/** The times of the pause are skipped. */
function resume(schedule: ScheduleState, now: number): ScheduleState {
  const { spec, decidedUntil, outcomes } = schedule;
  if (spec === null) return schedule;
  const { outcome, next } = skipRange(spec, nextOccurrence(spec, decidedUntil), now + 1, "paused", now);
  return {
    ...schedule,
    pause: null,
    decidedUntil: Math.max(decidedUntil, now),
    next,
    outcomes: outcome === null ? outcomes : withOutcome(outcomes, outcome),
  };
}

/** Begins to create the run of the oldest pending time, unless one is being created or a run before it has to end first. */
function beginNext(
  schedule: ScheduleState,
  now: number,
): { readonly schedule: ScheduleState; readonly effects: readonly OwedEffect[] } {
  const { spec, pipelineId, scheduleId, active } = schedule;
  let { waiting, outcomes } = schedule;
  while (spec !== null && pipelineId !== null && schedule.starting === null) {
    const [first] = waiting;
    if (first === undefined || first.notBefore > now || (spec.overlap === "queue" && active.length > 0)) break;
    waiting = waiting.slice(1);
    if (spec.overlap === "skip" && active.length > 0) {
      outcomes = withOutcome(outcomes, skipOf(first.at, "overlap", now, `run ${active.at(-1)} has not ended`));
      continue;
    }
    const { at, ref, variables } = first;
    const { name } = spec;
    const runId = scheduledRunId(startKeyOf(pipelineId, name, at), now);
    const stops = spec.overlap === "cancelRunning" ? active.map((run) => stop(schedule, run, runId)) : [];
    return {
      schedule: { ...schedule, waiting, outcomes, starting: { at, runId, hasEnded: false } },
      effects: [...stops, { type: "startRun", scheduleId, pipelineId, name, at, runId, ref, variables }],
    };
  }
  return { schedule: waiting === schedule.waiting ? schedule : { ...schedule, waiting, outcomes }, effects: [] };
}

/** The stop of a run that gives way to a newer one. */
function stop({ scheduleId, spec }: ScheduleState, runId: RunId, newer: RunId): OwedEffect {
  const by = `schedule ${spec?.name}`;
  return {
    type: "command",
    to: runId,
    commandId: commandIdOf("stop", scheduleId, runId),
    body: { kind: "stop", reason: `run ${newer} of the same schedule begins`, operator: by, actor: by },
  };
}

/** The verdict on a stored command. */
function answer(
  { state }: ScheduleState,
  message: ScheduleMessage,
  outcome: Verdict["outcome"],
): readonly OwedEffect[] {
  if (message.kind === "timer") return [];
  const status = state === "paused" ? "paused" : state === "active" ? "running" : "cancelled";
  return [{ type: "answer", commandId: message.commandId, verdict: { outcome, status } }];
}
