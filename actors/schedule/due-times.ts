/** Which of the times that are due get a run, and which are skipped. Pure. */
import type { Outcome, ScheduleSpec, SkipReason } from "../../src/domain/schedules.ts";
import { delayOf, startKeyOf } from "../../src/domain/schedules.ts";
import { nextOccurrence } from "../../src/schedules/occurrences.ts";
import { KEPT_OUTCOMES, MAX_WAITING_STARTS, type ScheduleState, type WaitingStart } from "./state.ts";

/** A time that begins within this is not missed: another worker takes over, or the store is away for a moment. */
const ON_TIME_MS = 60_000;
/** Times that are counted one by one, when all of them are skipped. */
const MAX_COUNTED = 2_000;

/** Decides all times up to `now`: those that get a run wait for it, the others are skipped. */
export function takeDue(schedule: ScheduleState, now: number): ScheduleState {
  const { spec, pipelineId, next } = schedule;
  if (spec === null || pipelineId === null || next === null || next > now) return schedule;
  const oldest = now - Math.max(spec.catchUpMs, ON_TIME_MS);
  const { outcome, next: first } = skipRange(spec, next, oldest, "window", now);
  let outcomes = outcome === null ? schedule.outcomes : withOutcome(schedule.outcomes, outcome);
  const due: WaitingStart[] = [];
  let at = first;
  while (at !== null && at <= now) {
    const behind = nextOccurrence(spec, at);
    const key = startKeyOf(pipelineId, spec.name, at);
    const notBefore = at + delayOf(key, spec, at, behind ?? Infinity);
    due.push({ at, notBefore, ref: spec.ref, variables: spec.variables });
    at = behind;
  }
  const room = MAX_WAITING_STARTS - schedule.waiting.length;
  const { chosen, skipped } = choose(spec, due, room, now);
  for (const [time, reason] of skipped) outcomes = withOutcome(outcomes, skipOf(time, reason, now));
  for (const { at: time } of chosen.slice(room)) outcomes = withOutcome(outcomes, skipOf(time, "limit", now));
  const waiting = [...schedule.waiting, ...chosen.slice(0, room)];
  return { ...schedule, outcomes, waiting, next: at, decidedUntil: Math.max(schedule.decidedUntil, now) };
}

/** What the rule of the trigger makes of times that are due; some of them may have been missed. */
function choose(
  { catchUp }: ScheduleSpec,
  due: readonly WaitingStart[],
  room: number,
  now: number,
): { readonly chosen: readonly WaitingStart[]; readonly skipped: readonly (readonly [at: number, SkipReason])[] } {
  const begin = due.findIndex(({ notBefore }) => now - notBefore <= ON_TIME_MS);
  const missed = begin === -1 ? due : due.slice(0, begin);
  const onTime = begin === -1 ? [] : due.slice(begin);
  const madeUp =
    catchUp === "none"
      ? []
      : catchUp === "all"
        ? missed.slice(Math.max(0, missed.length - Math.max(0, room - onTime.length)))
        : missed.slice(missed.length - (onTime.length === 0 ? 1 : 0));
  const reason = ({ none: "missed", latest: "later", all: "limit" } as const)[catchUp];
  const skipped = missed.slice(0, missed.length - madeUp.length).map(({ at }) => [at, reason] as const);
  return { chosen: [...madeUp, ...onTime], skipped };
}

/**
 * The times from `first` to before `end`, which are skipped for one reason, and the first time behind them. The outcome is
 * null when there are none.
 */
export function skipRange(
  spec: ScheduleSpec,
  first: number | null,
  end: number,
  reason: SkipReason,
  now: number,
): { readonly outcome: Outcome | null; readonly next: number | null } {
  if (first === null || first >= end) return { outcome: null, next: first };
  let until = first;
  let count = 1;
  for (let next = nextOccurrence(spec, first); next !== null && next < end; next = nextOccurrence(spec, next)) {
    if (count === MAX_COUNTED) {
      const skipped = { ...skipOf(first, reason, now), until: end - 1, count: null };
      return { outcome: skipped, next: nextOccurrence(spec, end - 1) };
    }
    [until, count] = [next, count + 1];
  }
  return { outcome: { ...skipOf(first, reason, now), until, count }, next: nextOccurrence(spec, until) };
}

export function skipOf(at: number, reason: SkipReason, now: number, text = ""): Outcome {
  return { at, until: at, count: 1, runId: null, reason, text, decidedAt: now };
}

/** The outcomes with a further one. Times that are skipped one after the other for the same reason are one outcome. */
export function withOutcome(outcomes: readonly Outcome[], added: Outcome): readonly Outcome[] {
  const last = outcomes.at(-1);
  const isSame = last !== undefined && last.reason !== null && last.reason === added.reason && last.text === added.text;
  if (!isSame) return [...outcomes, added].slice(-KEPT_OUTCOMES);
  const count = last.count === null || added.count === null ? null : last.count + added.count;
  return [...outcomes.slice(0, -1), { ...last, until: added.until, count, decidedAt: added.decidedAt }];
}
