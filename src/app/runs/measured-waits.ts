/** What starts have waited for, save by save, for the figures of a whole installation; a run's own are in its view. Pure. */
import type { JobState } from "../../../actors/job/state.ts";
import type { RunState } from "../../../actors/run/state.ts";
import type { StepState } from "../../../actors/step/state.ts";
import { timeOf } from "../../domain/ids.ts";
import type { StoredActor } from "../../stores/ports/aggregates.ts";
import type { Wait } from "./start-timing.ts";
import { elapsed } from "../times.ts";

/** A wait that an installation is to blame for: not what a definition makes a job wait for, nor a pause. */
export interface MeasuredWait {
  /** `total`: from the trigger to the start of a first step whose job waited for no other and for no pause. */
  readonly wait: Extract<Wait, "plan" | "agent" | "start"> | "total";
  /** Milliseconds. */
  readonly ms: number;
}

type Actor = Pick<StoredActor, "kind" | "id" | "state">;

/** The stretches that end with a save: `changed` are the actors that it stores, `before` is the aggregate as it was. */
export function measuredWaits(changed: readonly Actor[], before: ReadonlyMap<string, Actor>): readonly MeasuredWait[] {
  return changed.flatMap((actor) => {
    // What is no run, job or step never starts.
    const { startedAt = null } = actor.state as Partial<Startable>;
    const was = before.get(actor.id)?.state as Startable | undefined;
    return startedAt === null || (was?.startedAt ?? null) !== null ? [] : waitsOf(actor, startedAt, before);
  });
}

/** What states of all kinds have. */
type Startable = Pick<RunState | JobState | StepState, "startedAt">;

function waitsOf(
  { kind, state }: Actor,
  startedAt: number,
  before: ReadonlyMap<string, Actor>,
): readonly MeasuredWait[] {
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
      // Both were saved by turns before this one: an agent reports what it has been sent.
      const run = before.get(runId)!.state as RunState;
      const job = before.get(jobId)!.state as JobState;
      const isImmediate = index === 0 && job.queuedAt === run.startedAt;
      return isImmediate ? [start, measured("total", timeOf(runId), startedAt)] : [start];
    }
    case "approval":
    case "group":
      return [];
  }
}

function measured(wait: MeasuredWait["wait"], from: number, to: number): MeasuredWait {
  return { wait, ms: elapsed(from, to) };
}
