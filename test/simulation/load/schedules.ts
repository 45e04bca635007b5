/** A schedule that has missed some times when the simulation begins, and makes up for all of them. */
import { SCHEDULE_AGGREGATE } from "../../../actors/schedule/aggregate.ts";
import { decideSchedule } from "../../../actors/schedule/decide.ts";
import { wakeAt, type ScheduleState } from "../../../actors/schedule/state.ts";
import { shardOf } from "../../../queues/shard-map.ts";
import { asId, type CommandId, DEFAULT_PROJECT, type PipelineId, scheduleIdOf } from "../../../src/domain/ids.ts";
import { DEFAULT_CATCH_UP_MS } from "../../../src/domain/schedules.ts";
import type { Draws } from "../engine/draws.ts";
import type { World } from "../engine/world.ts";
import { shapeOf } from "./shapes.ts";

export const SCHEDULED_SHAPE = shapeOf("single");
const PIPELINE = asId<PipelineId>(`pl_${SCHEDULED_SHAPE.name}`);
const NAME = "each minute";
export const SCHEDULE = scheduleIdOf(PIPELINE, NAME);
/** How long ago the schedule was looked at last. */
const MISSED_MS = 200_000;

/** Stores the schedule as it was before the outage. */
export function missTimes({ store, shards, now }: World, draws: Draws): void {
  const shard = shardOf(SCHEDULE, shards);
  const { head, actors } = SCHEDULE_AGGREGATE.initial!(SCHEDULE, shard);
  const begin = actors[0]!.state as ScheduleState;
  const spec = {
    name: NAME,
    schedule: "* * * * *",
    timezone: "UTC",
    overlap: draws.pick(["allow", "queue", "cancelRunning", "skip"] as const),
    catchUp: "all",
    catchUpMs: DEFAULT_CATCH_UP_MS,
    jitterMs: 0,
    ref: null,
    variables: [],
  } as const;
  const define = { kind: "define", pipelineId: PIPELINE, projectId: DEFAULT_PROJECT, generation: 1, spec } as const;
  const command = { ...define, commandId: asId<CommandId>("cmd_define") };
  const state = decideSchedule(begin, command, now - MISSED_MS).next;
  const index = { ...actors[0]!.index, status: state.state };
  store.insert({
    head: { ...head, final: false, settled: false, nextDueAt: wakeAt(state) },
    actors: [{ ...actors[0]!, state, index }],
  });
}
