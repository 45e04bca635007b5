/**
 * The deletion of a pipeline, which is noted before anything of the pipeline is deleted. What a trigger has stored at the
 * same moment is found afterwards: by the trigger itself, which looks for the note after it has stored its run, and by
 * the workers, which carry out every decided deletion until no run of the pipeline is live.
 */
import { MillraceError } from "../../domain/errors.ts";
import { commandIdOf, type PipelineId, type RunId } from "../../domain/ids.ts";
import type { Pipeline, PipelineToRun } from "../../stores/ports/pipelines.ts";
import type { AppContext, WithStores } from "../context.ts";
import { storeCommand } from "../commands/commands.ts";
import { noPipeline } from "../lookups.ts";
import type { ActingUser, Caller } from "../identity/access.ts";
import { projectFactsOf } from "../project-facts.ts";
import { reach } from "../reaching.ts";
import { projectArchived } from "./projects.ts";
import { announceTriggers, hasTimetable } from "./timetable.ts";

/** Live runs that one call stops, at most; the workers stop the others. */
const MAX_STOPS = 10_000;
const REASON = "the pipeline is deleted";

export type DeletionContext = Pick<AppContext, "mailboxes" | "clock" | "log" | "shards"> &
  WithStores<"aggregates" | "inbox" | "pipelines" | "pipelineDeletions" | "secrets" | "statistics" | "testHistories">;

/**
 * Stores a stop for every live run of a pipeline, and answers how many runs are live. A run that has its stop already
 * keeps that one. `by`: the name of the user who deletes the pipeline.
 */
export async function stopRunsOfDeleted(
  context: Pick<DeletionContext, "mailboxes" | "clock" | "log" | "shards"> & WithStores<"aggregates" | "inbox">,
  pipelineId: PipelineId,
  by: string,
): Promise<number> {
  const live = await context.stores.aggregates.liveRuns(pipelineId, MAX_STOPS);
  for (const runId of live) await stopRunOfDeleted(context, runId, by);
  return live.length;
}

/**
 * Deletes what a decided deletion names, and answers how many of its runs are live still. A repeat continues where an
 * earlier call was cut off.
 */
export async function carryOutDeletion(context: DeletionContext, pipelineId: PipelineId, by: string): Promise<number> {
  const { pipelines, secrets, statistics, testHistories } = context.stores;
  const live = await stopRunsOfDeleted(context, pipelineId, by);
  await secrets.deleteOfPipeline(pipelineId);
  await statistics.drop(pipelineId);
  await testHistories.drop(pipelineId);
  await pipelines.delete(pipelineId);
  if (await hasTimetable(context, pipelineId)) await announceTriggers(context, pipelineId, "deleted");
  return live;
}

/**
 * The pipeline of a new run. Throws `not_found`, and `conflict` while the pipeline is being deleted or its project is
 * archived.
 */
export async function findPipelineToRun(context: ToRunContext, pipelineId: PipelineId): Promise<Pipeline> {
  return requireRunnable(context, await findToRun(context, pipelineId));
}

/** {@link findPipelineToRun} for a caller who may call the operation on the pipeline. */
export async function reachPipelineToRun(
  context: ToRunContext,
  caller: Caller,
  operation: "triggerRun" | "runAdHocSteps",
  pipelineId: PipelineId,
): Promise<{ readonly user: ActingUser; readonly pipeline: Pipeline }> {
  const { user, found } = await reach(context, caller, operation, {
    find: () => findToRun(context, pipelineId),
    projectOf: ({ pipeline }) => pipeline.projectId,
    missing: () => noPipeline(pipelineId),
  });
  return { user, pipeline: await requireRunnable(context, found) };
}

type ToRunContext = Pick<AppContext, "clock"> & WithStores<"pipelines" | "rights" | "documents">;

async function findToRun({ stores }: ToRunContext, pipelineId: PipelineId): Promise<PipelineToRun> {
  const found = await stores.pipelines.findToRun(pipelineId);
  if (found === undefined) throw noPipeline(pipelineId);
  return found;
}

async function requireRunnable(context: ToRunContext, found: PipelineToRun): Promise<Pipeline> {
  const { pipeline, isBeingDeleted } = found;
  const { pipelineId, projectId } = pipeline;
  if (isBeingDeleted) throw beingDeleted(pipelineId);
  if ((await projectFactsOf(context, projectId)).archived) throw projectArchived(projectId);
  return pipeline;
}

/**
 * For the creator of a run, right after the run is stored. Ends a deletion that waits for the pipeline to have no live
 * run. When the deletion is decided, stores a stop for the run and throws `conflict`. So either the deletion or the run
 * comes first, and both callers learn which.
 */
export async function requireNoDeletion(
  context: Pick<AppContext, "mailboxes" | "clock" | "log" | "shards"> & WithStores<"inbox" | "pipelineDeletions">,
  run: { readonly runId: RunId; readonly pipelineId: PipelineId },
): Promise<void> {
  const { pipelineDeletions } = context.stores;
  const deletion = await pipelineDeletions.find(run.pipelineId);
  if (deletion === undefined) return;
  if (!deletion.decided && (await pipelineDeletions.withdraw(run.pipelineId))) return;
  await stopRunOfDeleted(context, run.runId, deletion.by);
  throw beingDeleted(run.pipelineId);
}

/** Idempotent: the stop of a run has one id. A run whose stop is stored is not woken again. */
async function stopRunOfDeleted(
  context: Pick<AppContext, "mailboxes" | "clock" | "log" | "shards"> & WithStores<"inbox">,
  runId: RunId,
  by: string,
): Promise<void> {
  const body = { kind: "stop", reason: REASON, operator: by, actor: by } as const;
  const id = commandIdOf("stop", "deleted", runId);
  if ((await context.stores.inbox.verdict(id)) === undefined) await storeCommand(context, { id, rootId: runId, body });
}

function beingDeleted(pipelineId: PipelineId): MillraceError {
  return new MillraceError(
    "conflict",
    `pipeline ${JSON.stringify(pipelineId)} is being deleted: it takes no new run, and its live runs are stopped`,
  );
}
