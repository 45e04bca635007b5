/** A schedule that has missed some times when the simulation begins, and makes up for all of them. */
import { asId, type PipelineId, scheduleIdOf } from "../../../src/domain/ids.ts";
import { scheduleBeforeOutage } from "../../support/missed-times.ts";
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
  const overlap = draws.pick(["allow", "queue", "cancelRunning", "skip"] as const);
  const missed = { pipelineId: PIPELINE, name: NAME, schedule: "* * * * *", overlap, definedAt: now - MISSED_MS };
  store.insert(scheduleBeforeOutage(missed, shards));
}
