/** Counts what the saves of runs begin and end, for the metrics. Each save tells it once, so each end is counted once. */
import type { JobState } from "../../../actors/job/state.ts";
import type { RunState } from "../../../actors/run/state.ts";
import type { StepState } from "../../../actors/step/state.ts";
import type { AggregateHead, StoredActor } from "../../stores/ports/aggregates.ts";
import type { RootId } from "../../domain/ids.ts";
import type { Meters } from "../../telemetry/meters.ts";
import { elapsed } from "../times.ts";

type Actor = Pick<StoredActor, "kind" | "id" | "state">;

/**
 * Counts what ends with a save. `changed`: the actors that the save stores; `before`: all actors of the aggregate before
 * the save, by id.
 */
export function countEnds(
  meters: Meters,
  changed: readonly Actor[],
  before: ReadonlyMap<string, Actor>,
  { origin }: Pick<AggregateHead<RootId>, "origin">,
): void {
  for (const { kind, id, state } of changed) {
    if (kind === "run") countRun(meters, state as RunState, before.get(id)?.state as RunState, origin.trigger.kind);
    else if (kind === "job") countJob(meters, state as JobState, before.get(id)?.state as JobState);
    else if (kind === "step") countStep(meters, state as StepState, before.get(id)?.state as StepState);
  }
}

function countRun(meters: Meters, run: RunState, was: RunState | undefined, trigger: string): void {
  const { state, createdAt, endedAt } = run;
  if (endedAt === null || (was?.endedAt ?? null) !== null) return;
  meters.runsEnded.add(`${state} ${trigger}`);
  meters.runSeconds.of(state).observe(elapsed(createdAt, endedAt) / 1_000);
}

function countJob({ totals, jobsEnded }: Meters, job: JobState, was: JobState | undefined): void {
  if (job.reusedFrom !== null) return;
  if (job.startedAt !== null && (was?.startedAt ?? null) === null) totals.jobsStarted++;
  if (job.endedAt !== null && (was?.endedAt ?? null) === null) jobsEnded.add(job.state);
}

function countStep({ stepsEnded, stepSeconds }: Meters, step: StepState, was: StepState | undefined): void {
  const { state, startedAt, endedAt, reusedFrom } = step;
  if (reusedFrom !== null || endedAt === null || (was?.endedAt ?? null) !== null) return;
  stepsEnded.add(state);
  if (startedAt !== null) stepSeconds.of(state).observe(elapsed(startedAt, endedAt) / 1_000);
}
