/** What must hold of a schedule at the end: each of its times has one run, or is skipped for a reason that the load gives. */
import type { ScheduleState } from "../../../actors/schedule/state.ts";
import { nextOccurrence } from "../../../src/schedules/occurrences.ts";
import type { Violation } from "../../chaos/check/evidence.ts";
import { SCHEDULE } from "../load/schedules.ts";
import type { Document, StoreServer } from "../store/store-server.ts";

function stateOf(store: StoreServer): ScheduleState | undefined {
  return store.documents.get(SCHEDULE)?.actors.get(SCHEDULE)?.state as ScheduleState | undefined;
}

/** True when no time waits and all runs of the schedule have ended and are known to it. */
export function areTimesDone(store: StoreServer): boolean {
  const state = stateOf(store);
  if (state === undefined) return true;
  return state.outcomes.length > 0 && state.starting === null && state.waiting.length + state.active.length === 0;
}

export function checkSchedules(store: StoreServer): readonly Violation[] {
  const state = stateOf(store);
  if (state?.spec == null) return [];
  const violations: Violation[] = [];
  const runs = [...store.documents.values()].filter(({ head }) => head.origin.trigger.scheduled !== undefined);
  const byTime = new Map<number, Document[]>();
  for (const run of runs) {
    const { at } = run.head.origin.trigger.scheduled!;
    byTime.set(at, [...(byTime.get(at) ?? []), run]);
  }
  for (const [at, ofTime] of byTime) {
    if (ofTime.length > 1) violations.push({ kind: "doubled", text: `${ofTime.length} runs of the time ${at}` });
  }
  const { outcomes, spec } = state;
  let expected: number | null = outcomes[0]?.at ?? null;
  for (const { at, until, runId, reason } of outcomes) {
    if (at !== expected) violations.push({ kind: "lost", text: `the time ${expected} has no outcome before ${at}` });
    expected = nextOccurrence(spec, until);
    const hasRun = runId !== null && byTime.get(at)?.some(({ head }) => head.rootId === runId) === true;
    if (runId !== null && !hasRun)
      violations.push({ kind: "lost", text: `the run ${runId} of the time ${at} is missing` });
    if (reason !== null && byTime.has(at))
      violations.push({ kind: "doubled", text: `the skipped time ${at} has a run` });
    if (reason !== null && !(reason === "overlap" && spec.overlap === "skip"))
      violations.push({ kind: "lost", text: `the time ${at} is skipped: ${reason}` });
  }
  const told = new Set(outcomes.map(({ runId }) => runId));
  for (const { head } of runs) {
    if (!told.has(head.rootId as never)) violations.push({ kind: "wrong", text: `run ${head.rootId} has no outcome` });
  }
  return violations;
}
