/** A schedule as the store holds it when an outage begins: its next times pass before any worker looks at it again. */
import { SCHEDULE_AGGREGATE } from "../../actors/schedule/aggregate.ts";
import { decideSchedule } from "../../actors/schedule/decide.ts";
import { wakeAt, type ScheduleState } from "../../actors/schedule/state.ts";
import { shardOf } from "../../queues/shard-map.ts";
import {
  asId,
  type CommandId,
  DEFAULT_PROJECT,
  type PipelineId,
  type RootId,
  scheduleIdOf,
} from "../../src/domain/ids.ts";
import { DEFAULT_CATCH_UP_MS, type ScheduleSpec } from "../../src/domain/schedules.ts";
import type { Aggregate } from "../../src/stores/ports/aggregates.ts";

export interface MissedTimes extends Pick<ScheduleSpec, "name" | "schedule" | "overlap"> {
  readonly pipelineId: PipelineId;
  /** When the schedule was defined, and looked at for the last time, Unix milliseconds. */
  readonly definedAt: number;
}

/** The schedule makes up for all times since `definedAt`. */
export function scheduleBeforeOutage(missed: MissedTimes, shards: number): Aggregate<RootId> {
  const { pipelineId, name, schedule, overlap, definedAt } = missed;
  const scheduleId = scheduleIdOf(pipelineId, name);
  const { head, actors } = SCHEDULE_AGGREGATE.initial!(scheduleId, shardOf(scheduleId, shards));
  const spec: ScheduleSpec = {
    name,
    schedule,
    timezone: "UTC",
    overlap,
    catchUp: "all",
    catchUpMs: DEFAULT_CATCH_UP_MS,
    jitterMs: 0,
    ref: null,
    variables: [],
  };
  const command = { kind: "define", pipelineId, projectId: DEFAULT_PROJECT, generation: 1, spec } as const;
  const begin = actors[0]!.state as ScheduleState;
  const state = decideSchedule(begin, { ...command, commandId: asId<CommandId>("cmd_define") }, definedAt).next;
  return {
    head: { ...head, final: false, settled: false, nextDueAt: wakeAt(state) },
    actors: [{ ...actors[0]!, state, index: { ...actors[0]!.index, status: state.state } }],
  };
}
