/** Plans the run of a time of a schedule. */
import type { StartRunEffect } from "../../domain/effects.ts";
import { inheritedVariables } from "../catalogue/inherited-variables.ts";
import { definitionOfRevision } from "../catalogue/known-definitions.ts";
import { findPipelineToRun } from "../catalogue/pipeline-deletion.ts";
import { askingFor, pluginsForRun } from "../catalogue/plugin-lookup.ts";
import { findRunSource } from "../git/run-source.ts";
import { isInGit } from "../git/repository.ts";
import { noPipeline } from "../lookups.ts";
import { isDefaultBranch } from "../triggering/default-branch.ts";
import { planKnownRun, type PlannedRun } from "../triggering/create-run.ts";
import type { SchedulesContext } from "./context.ts";
import type { StartSource } from "./start-run.ts";

const FIRST_ATTEMPT = 1;

/** Throws what a manual trigger of the pipeline would throw. */
export async function planStart(
  context: SchedulesContext,
  { pipelineId, name, at, runId, ref, variables }: StartRunEffect,
  given: StartSource | null,
): Promise<PlannedRun> {
  const pipeline = await findPipelineToRun(context, pipelineId);
  const { projectId, defaultBranch } = pipeline;
  const { revisionId, commitSha } =
    given ?? (await findRunSource(context, pipeline, ref === null || !isInGit(pipeline) ? {} : { ref }, variables));
  const asking = askingFor(context, pipelineId);
  const definition = await definitionOfRevision(context.stores.pipelines, asking, revisionId);
  if (definition === undefined) throw noPipeline(pipelineId);
  const inherited = await inheritedVariables(context, projectId);
  const origin = {
    trigger: { kind: "cron", ref: ref ?? defaultBranch, scheduled: { name, at } },
    variables,
    ...(inherited.length > 0 && { inherited }),
    triggeredBy: `schedule ${name}`,
    actor: "",
    revisionId,
    commitSha,
    attempt: FIRST_ATTEMPT,
    retryOf: null,
    firstRunId: null,
  } as const;
  const isOfDefaultBranch = isDefaultBranch(pipeline, origin.trigger.ref);
  const plugins = await pluginsForRun(context, projectId, definition);
  return planKnownRun(context, asking, definition, { runId, origin, pipeline, isOfDefaultBranch }, plugins);
}
