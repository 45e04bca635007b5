/** All kinds of aggregates, by the ids of their roots. */
import type { RootId } from "../src/domain/ids.ts";
import { GROUP_AGGREGATE } from "./group/aggregate.ts";
import type { AggregateType } from "./kernel/actor-kind.ts";
import { RUN_AGGREGATE } from "./run/aggregate.ts";

export function aggregateTypeOf(rootId: RootId): AggregateType {
  return isGroup(rootId) ? GROUP_AGGREGATE : RUN_AGGREGATE;
}

function isGroup(rootId: RootId): boolean {
  return rootId.startsWith("grp_");
}
