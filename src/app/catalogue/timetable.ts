/**
 * Tells the timetable of a pipeline that its definition changes: before the change, so that it is never overlooked, and after
 * it, so that it is seen at once (actors/timetable).
 */
import { commandIdOf, type PipelineId, type RunId, timetableIdOf } from "../../domain/ids.ts";
import type { ScheduleSpec } from "../../domain/schedules.ts";
import type { WithStores } from "../context.ts";
import { type StoringContext, storeCommand } from "../commands/commands.ts";

type AnnouncingContext = StoringContext & WithStores<"aggregates">;

/** True when the pipeline has schedules, had some, or gets some: other pipelines have no timetable. */
export async function needsTimetable(
  { stores }: WithStores<"aggregates">,
  pipelineId: PipelineId,
  schedules: readonly ScheduleSpec[],
): Promise<boolean> {
  if (schedules.length > 0) return true;
  // Heads of all aggregates are read in one way.
  const timetableId = timetableIdOf(pipelineId) as string as RunId;
  return (await stores.aggregates.loadHead(timetableId)) !== undefined;
}

/** `change`: what changes the definition, and whether it has done so. A repeat changes nothing. */
export async function announceTriggers(
  context: AnnouncingContext,
  pipelineId: PipelineId,
  ...change: readonly string[]
): Promise<void> {
  const rootId = timetableIdOf(pipelineId);
  const id = commandIdOf("triggersChanged", rootId, ...change);
  if ((await context.stores.inbox.verdict(id)) !== undefined) return;
  await storeCommand(context, { id, rootId, body: { kind: "triggersChanged", pipelineId } });
}
