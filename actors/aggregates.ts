/** All kinds of aggregates, by the ids of their roots. */
import type { RootId } from "../src/domain/ids.ts";
import { GROUP_AGGREGATE } from "./group/aggregate.ts";
import type { AggregateType } from "./kernel/actor-kind.ts";
import { RUN_AGGREGATE } from "./run/aggregate.ts";
import { SCHEDULE_AGGREGATE } from "./schedule/aggregate.ts";
import { TIMETABLE_AGGREGATE } from "./timetable/aggregate.ts";

/** The aggregates that are no runs, by the first part of their ids. */
const BY_PREFIX: ReadonlyMap<string, AggregateType> = new Map([
  ["grp", GROUP_AGGREGATE],
  ["sch", SCHEDULE_AGGREGATE],
  ["tmt", TIMETABLE_AGGREGATE],
]);

export function aggregateTypeOf(rootId: RootId): AggregateType {
  return BY_PREFIX.get(rootId.slice(0, rootId.indexOf("_"))) ?? RUN_AGGREGATE;
}
