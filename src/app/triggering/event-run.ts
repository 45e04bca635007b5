/** Makes the run that an event starts. */
import { type Actor, Trail } from "../../audit/trail.ts";
import type { PipelineId, RevisionId, RunId } from "../../domain/ids.ts";
import type { StartingEvent } from "../../stores/ports/aggregates.ts";
import type { WithStores } from "../context.ts";
import { trailGround } from "../audit-ground.ts";
import { inheritedVariables } from "../catalogue/inherited-variables.ts";
import { definitionOfRevision } from "../catalogue/known-definitions.ts";
import { findPipelineToRun } from "../catalogue/pipeline-deletion.ts";
import { askingFor, pluginsForRun } from "../catalogue/plugin-lookup.ts";
import { noPipeline } from "../lookups.ts";
import { isRunRemoved } from "../runs/remove-run.ts";
import type { TriggeringContext } from "./context.ts";
import { planKnownRun, storeNewRun } from "./create-run.ts";
import { isEventOfDefaultBranch } from "./default-branch.ts";
import { forkApproval } from "./fork-approval.ts";
import { reserveGroupPlace } from "./group-place.ts";
import type { ToldEvent } from "./told-event.ts";

export interface EventRun {
  /** Both were chosen before, so that a repeat makes the same run. */
  readonly runId: RunId;
  readonly revisionId: RevisionId;
  /** Of a definition in Git; undefined for an inline one. */
  readonly commitSha: string | undefined;
  readonly pipelineId: PipelineId;
  readonly event: StartingEvent;
  /** Empty: the default branch of the pipeline. */
  readonly ref: string;
  readonly told: ToldEvent;
  /** Who did it, at the sender. */
  readonly triggeredBy: string;
  /** The hook. */
  readonly actor: string;
}

const FIRST_ATTEMPT = 1;

/**
 * Resolves when the run is stored, by this call or an earlier one. Throws as the manual trigger does: an error that is worth a
 * retry says so in its row of the error table.
 */
export async function makeEventRun(
  context: TriggeringContext & WithStores<"audit">,
  { runId, revisionId, commitSha, pipelineId, event, ref, told, triggeredBy, actor }: EventRun,
): Promise<void> {
  const { aggregates, pipelines } = context.stores;
  if ((await aggregates.loadHead(runId)) !== undefined || (await isRunRemoved(context, runId))) return;
  const pipeline = await findPipelineToRun(context, pipelineId);
  const asking = askingFor(context, pipeline.projectId);
  const definition = await definitionOfRevision(pipelines, asking, revisionId);
  if (definition === undefined) throw noPipeline(pipelineId);
  const inherited = await inheritedVariables(context, pipeline.projectId);
  const origin = {
    trigger: { kind: "event", ref: ref === "" ? pipeline.defaultBranch : ref, event },
    variables: [],
    ...(inherited.length > 0 && { inherited }),
    triggeredBy,
    actor,
    revisionId,
    commitSha: commitSha ?? revisionId,
    attempt: FIRST_ATTEMPT,
    retryOf: null,
    firstRunId: null,
  } as const;
  const approval = await forkApproval(context, { pipeline, origin, told });
  const isOfDefaultBranch = isEventOfDefaultBranch(pipeline, origin, told);
  const run = { runId, origin, pipeline, told, approval, isOfDefaultBranch };
  const plugins = await pluginsForRun(context, pipeline.projectId, definition);
  const planned = await planKnownRun(context, asking, definition, run, plugins);
  await reserveGroupPlace(context, planned);
  await storeNewRun(context, { trail: trailOf(context, actor) }, planned);
}

function trailOf(context: Parameters<typeof trailGround>[0], name: string): Trail {
  const actor: Actor = { kind: "operator", id: null, name, proof: null };
  return new Trail(trailGround(context), {
    operation: "triggerRun",
    actor,
    from: { door: "machine", address: null, userAgent: null },
    requestId: null,
  });
}
