/**
 * Tells the timetable of a pipeline that its definition changes: before the change, so that it is never overlooked, and after
 * it, so that it is seen at once (actors/timetable).
 */
import { commandIdOf, type PipelineId, type RevisionId, type RunId, timetableIdOf } from "../../domain/ids.ts";
import type { PipelineStore, Revision } from "../../stores/ports/pipelines.ts";
import type { WithStores } from "../context.ts";
import { type StoringContext, storeCommand } from "../commands/commands.ts";

type AnnouncingContext = StoringContext & WithStores<"aggregates">;

/** A text without this has no cron trigger: a text may escape the letters of a key. */
const MAY_HAVE_CRON = /cron|\\/i;

/** Makes a revision the head of its pipeline, as the store does, and tells the timetable of the pipeline. */
export async function saveHead(
  context: AnnouncingContext & WithStores<"pipelines">,
  revision: Revision,
  expectedHead: RevisionId | null,
): Promise<Awaited<ReturnType<PipelineStore["saveRevision"]>>> {
  const { pipelineId, revisionId, text } = revision;
  const isScheduled = MAY_HAVE_CRON.test(text) || (await hasTimetable(context, pipelineId));
  if (isScheduled) await announceTriggers(context, pipelineId, revisionId, "before");
  const outcome = await context.stores.pipelines.saveRevision(revision, expectedHead);
  if (!isScheduled || outcome !== "saved") return outcome;
  // The definition is saved already: a failure delays its schedules until the timetable looks again.
  await announceTriggers(context, pipelineId, revisionId, "after").catch((error: unknown) => {
    context.log.warn({ pipelineId, error: String(error) }, "the schedules follow the saved definition within a minute");
  });
  return outcome;
}

/** True when the pipeline has schedules or had some: other pipelines have no timetable. */
export async function hasTimetable({ stores }: WithStores<"aggregates">, pipelineId: PipelineId): Promise<boolean> {
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
