/** Reads the cron triggers of a pipeline's definition, and stores them for the timetable of the pipeline. */
import type { TimetableState } from "../../../actors/timetable/state.ts";
import type { ReadTriggersEffect } from "../../domain/effects.ts";
import { MillraceError } from "../../domain/errors.ts";
import { commandIdOf, type PipelineId, type ProjectId, timetableIdOf } from "../../domain/ids.ts";
import type { ScheduleSpec } from "../../domain/schedules.ts";
import { definitionOfRevision } from "../catalogue/known-definitions.ts";
import { askingFor } from "../catalogue/plugin-lookup.ts";
import { storeCommand } from "../commands/commands.ts";
import type { SchedulesContext } from "./context.ts";

/** Idempotent: the first answer to a reading counts. Rejects while the store cannot answer. */
export async function readTriggers(context: SchedulesContext, effect: ReadTriggersEffect): Promise<void> {
  const { timetableId, pipelineId, generation } = effect;
  const id = commandIdOf("triggersRead", timetableId, String(generation));
  const body = { kind: "triggersRead", generation, ...(await triggersOf(context, pipelineId)) } as const;
  await storeCommand(context, { id, rootId: timetableId, body });
}

interface Triggers {
  readonly projectId: ProjectId | null;
  readonly schedules: readonly ScheduleSpec[];
}

async function triggersOf(context: SchedulesContext, pipelineId: PipelineId): Promise<Triggers> {
  const { pipelines } = context.stores;
  const pipeline = await pipelines.find(pipelineId);
  if (pipeline === undefined) return { projectId: null, schedules: [] };
  const { projectId, headRevisionId } = pipeline;
  if (headRevisionId === null) return { projectId, schedules: [] };
  try {
    const definition = await definitionOfRevision(pipelines, askingFor(context, pipelineId), headRevisionId);
    return { projectId, schedules: definition?.schedules ?? [] };
  } catch (error) {
    if (!(error instanceof MillraceError) || error.reason !== "invalid_definition") throw error;
    context.log.warn(
      { pipelineId, error: error.message },
      "a definition is not valid: its schedules stay as they were",
    );
    return { projectId, schedules: await formerSchedules(context, pipelineId) };
  }
}

/**
 * The schedules of the last definition that was valid. A broken one keeps them: their times start no run, and the outcomes of
 * a schedule say why. Without them the schedules would end in silence, and a pause with them.
 */
async function formerSchedules({ stores }: SchedulesContext, pipelineId: PipelineId): Promise<readonly ScheduleSpec[]> {
  const timetable = await stores.aggregates.load(timetableIdOf(pipelineId));
  return (timetable?.actors[0]?.state as TimetableState | undefined)?.schedules ?? [];
}
