/**
 * Checks the transitions of one run: each object's life is in order, and the last transitions match the stored
 * snapshot. Pure.
 */
import type { EventObject, Lifecycle } from "../../../src/domain/events.ts";
import type { RunEvidence, Transition, Violation, ViolationKind } from "./evidence.ts";

/** The part of a run's evidence that tells its transitions. */
export type LifeEvidence = Pick<RunEvidence, "runId" | "status" | "eventNumber" | "events" | "jobs" | "approvals">;

/** The position of a transition in the life of its object. A transition without a position must not occur. */
const PLACES: Record<EventObject, Partial<Record<Lifecycle, number>>> = {
  pipeline: { created: 0, started: 1, paused: 2, resumed: 2, stopping: 2.5, completed: 3, failed: 3, cancelled: 3 },
  job: {
    retried: 0,
    queued: 1,
    waiting: 1,
    started: 2,
    stopping: 2.5,
    completed: 3,
    failed: 3,
    cancelled: 3,
    skipped: 3,
  },
  step: {
    retried: 0,
    updated: 0,
    queued: 1,
    started: 2,
    completed: 3,
    failed: 3,
    cancelled: 3,
    timeout: 3,
    skipped: 3,
  },
  approval: { requested: 0, approved: 1, rejected: 2, expired: 2, cancelled: 2 },
};

/** The transition that must have come before. A transition that is not listed here may be the first of its object. */
const NEEDS: Record<EventObject, Partial<Record<Lifecycle, Lifecycle>>> = {
  pipeline: { started: "created", paused: "started", resumed: "paused", completed: "started", failed: "started" },
  job: { waiting: "queued", started: "queued", completed: "started" },
  step: { started: "queued", completed: "started", timeout: "started", cancelled: "queued", failed: "queued" },
  approval: { approved: "requested", rejected: "requested", expired: "requested", cancelled: "requested" },
};

export function checkTransitions(run: LifeEvidence): readonly Violation[] {
  return [...checkNumbers(run), ...checkLives(run), ...checkPushed(run), ...checkSnapshot(run), ...checkEnd(run)];
}

/** The numbers of the transitions go from 1 to the snapshot's number, each once and in the order of time. */
function checkNumbers({ runId, eventNumber, events }: LifeEvidence): readonly Violation[] {
  const found: Violation[] = [];
  const say = (kind: ViolationKind, text: string) => found.push({ kind, text: `run ${runId}: ${text}` });
  const seen = new Set<number>();
  let previous: Transition | undefined;
  for (const event of events) {
    if (seen.has(event.number)) say("doubled", `transition ${event.number} is stored twice`);
    else if (previous !== undefined && event.number < previous.number)
      say("reordered", `transition ${event.number} stands after ${previous.number}`);
    else if (previous !== undefined && event.timeMs < previous.timeMs)
      say("reordered", `transition ${event.number} has an earlier time than ${previous.number}`);
    seen.add(event.number);
    previous = event;
  }
  const highest = Math.max(eventNumber, ...seen);
  for (let number = 1; number <= highest; number++) {
    if (!seen.has(number)) say("lost", `transition ${number} of ${highest} is missing`);
  }
  if (highest > eventNumber) say("lost", `the snapshot counts ${eventNumber} transitions, the event log ${highest}`);
  return found;
}

/** The transitions of every object follow the positions in order, each at most once. */
function checkLives(run: LifeEvidence): readonly Violation[] {
  return [...livesOf(run)].flatMap(([id, life]) => {
    const found: Violation[] = [];
    const say = (kind: ViolationKind, text: string) => found.push({ kind, text: `${id} of run ${run.runId}: ${text}` });
    const before = new Set<Lifecycle>();
    let last: Transition | undefined;
    for (const event of life) {
      const { object, lifecycle } = event;
      const place = PLACES[object][lifecycle];
      const lastPlace = last === undefined ? -1 : PLACES[object][last.lifecycle]!;
      if (place === undefined) {
        say("wrong", `it cannot be ${lifecycle}`);
        continue;
      }
      // Several users may approve, and a stop may be requested several times.
      const mayRepeat = ["approved", "stopping", "updated"].includes(lifecycle);
      if (last?.lifecycle === lifecycle && !mayRepeat) say("doubled", `${lifecycle} twice in a row`);
      else if (place < lastPlace) say("reordered", `${lifecycle} after ${last!.lifecycle}`);
      else if (place === lastPlace && place === 3) say("doubled", `it ended twice: ${last!.lifecycle}, ${lifecycle}`);
      const needed = NEEDS[object][lifecycle];
      if (needed !== undefined && !before.has(needed)) {
        const later = life.some((other) => other.lifecycle === needed);
        say(later ? "reordered" : "lost", `${lifecycle} ${later ? "stands before" : "without"} ${needed}`);
      }
      before.add(lifecycle);
      last = event;
    }
    return found;
  });
}

/**
 * The status of every object in the snapshot is the status of its last transition. A reused object has no transitions.
 */
function checkSnapshot(run: LifeEvidence): readonly Violation[] {
  const lives = livesOf(run);
  const objects = [
    { id: "the run", status: run.status as string, reused: false },
    ...run.jobs.map(({ jobId, status, reused }) => ({ id: jobId, status: status as string, reused })),
    ...run.approvals.map(({ approvalId, status }) => ({ id: approvalId, status, reused: false })),
    ...run.jobs.flatMap(({ steps }) =>
      steps.map(({ stepRunId, status, reused }) => ({ id: stepRunId, status, reused })),
    ),
  ];
  const known = new Set(objects.map(({ id }) => id));
  const unknownIds = [...lives.keys()].filter((id) => !known.has(id));
  return [
    ...unknownIds.map((id): Violation => ({ kind: "lost", text: `${id} of run ${run.runId} is not in the snapshot` })),
    ...objects.flatMap(({ id, status, reused }): readonly Violation[] => {
      if (reused && lives.has(id))
        return [{ kind: "doubled", text: `${id} of run ${run.runId} was reused, but has transitions` }];
      const last = reused ? status : (lives.get(id)?.at(-1)?.status ?? "pending");
      if (last === status) return [];
      return [{ kind: "lost", text: `${id} of run ${run.runId} is ${status}, but its last transition says ${last}` }];
    }),
  ];
}

/** What an agent has pushed about a step stands between the dispatch of the step and its end. */
function checkPushed(run: LifeEvidence): readonly Violation[] {
  const held = new Set<string>();
  return run.events.flatMap(({ object, lifecycle, stepRunId }): readonly Violation[] => {
    if (object !== "step") return [];
    if (lifecycle === "queued") held.add(stepRunId!);
    else if (PLACES.step[lifecycle] === 3) held.delete(stepRunId!);
    if (lifecycle !== "pushed" || held.has(stepRunId!)) return [];
    return [{ kind: "reordered", text: `${stepRunId} of run ${run.runId}: pushed while no agent has the step` }];
  });
}

/** The end of a run is the last transition of the run. */
function checkEnd(run: LifeEvidence): readonly Violation[] {
  const end = run.events.findIndex(
    ({ object, lifecycle }) => object === "pipeline" && PLACES.pipeline[lifecycle] === 3,
  );
  if (end < 0 || end === run.events.length - 1) return [];
  const after = run.events[end + 1]!;
  return [
    { kind: "reordered", text: `run ${run.runId}: ${after.object} ${after.lifecycle} stands after the run's end` },
  ];
}

function livesOf({ events }: LifeEvidence): ReadonlyMap<string, readonly Transition[]> {
  const lives = new Map<string, Transition[]>();
  for (const event of events) {
    // `waiting` only names a new reason to wait, and `pushed` what the agent says: they do not advance the object.
    if (event.lifecycle === "waiting" || event.lifecycle === "pushed") continue;
    const id = event.stepRunId ?? event.jobId ?? (event.data?.["approvalId"] as string | undefined) ?? "the run";
    const life = lives.get(id);
    if (life === undefined) lives.set(id, [event]);
    else life.push(event);
  }
  return lives;
}
