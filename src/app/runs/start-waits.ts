/**
 * Measures for the metrics of an installation how long starts have waited, save by save. The waits of one run are in
 * its view. Pure.
 */
import type { JobState } from "../../../actors/job/state.ts";
import type { RunState } from "../../../actors/run/state.ts";
import type { StepState } from "../../../actors/step/state.ts";
import { timeOf } from "../../domain/ids.ts";
import type { StoredActor } from "../../stores/ports/aggregates.ts";
import type { Wait } from "./start-timing.ts";
import { elapsed } from "../times.ts";

/** A wait that is due to the installation, and not to the definition of the pipeline or to a pause. */
export interface StartWait {
  /** `total`: from the trigger to the start of a first step whose job waited for no other job and for no pause. */
  readonly wait: Extract<Wait, "plan" | "agent" | "start"> | "total";
  /** Milliseconds. */
  readonly ms: number;
}

type Actor = Pick<StoredActor, "kind" | "id" | "state">;

/**
 * The waits that end with a save. `changed`: the actors that the save stores; `before`: all actors of the aggregate
 * before the save, by id.
 */
export function startWaitsOf(changed: readonly Actor[], before: ReadonlyMap<string, Actor>): readonly StartWait[] {
  return changed.flatMap((actor) => {
    // Approvals and groups have no `startedAt`.
    const { startedAt = null } = actor.state as Partial<Startable>;
    const was = before.get(actor.id)?.state as Startable | undefined;
    return startedAt === null || (was?.startedAt ?? null) !== null ? [] : endedWaitsOf(actor, startedAt, before);
  });
}

/** The part of a state that runs, jobs and steps share. */
type Startable = Pick<RunState | JobState | StepState, "startedAt">;

function endedWaitsOf(
  { kind, state }: Actor,
  startedAt: number,
  before: ReadonlyMap<string, Actor>,
): readonly StartWait[] {
  switch (kind) {
    case "run": {
      return [measured("plan", timeOf((state as RunState).runId), startedAt)];
    }
    case "job": {
      const { reusedFrom, queuedAt } = state as JobState;
      return reusedFrom === null ? [measured("agent", queuedAt!, startedAt)] : [];
    }
    case "step": {
      const { runId, jobId, index, queuedAt, reusedFrom } = state as StepState;
      if (reusedFrom !== null) return [];
      const start = measured("start", queuedAt!, startedAt);
      // Run and job were saved by earlier turns: the agent reports a step only after its dispatch, which follows a
      // save.
      const run = before.get(runId)!.state as RunState;
      const job = before.get(jobId)!.state as JobState;
      const isImmediate = index === 0 && job.queuedAt === run.startedAt;
      return isImmediate ? [start, measured("total", timeOf(runId), startedAt)] : [start];
    }
    case "approval":
    case "group":
    case "schedule":
    case "timetable":
      return [];
  }
}

function measured(wait: StartWait["wait"], from: number, to: number): StartWait {
  return { wait, ms: elapsed(from, to) };
}
