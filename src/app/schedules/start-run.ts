/** Creates the run of a time of a schedule, or says why there is none, and stores the answer for the schedule. */
import type { StartRunEffect } from "../../domain/effects.ts";
import { ERROR_TABLE, MillraceError } from "../../domain/errors.ts";
import { commandIdOf, type RevisionId, type RunId } from "../../domain/ids.ts";
import { type StartOutcome, startKeyOf } from "../../domain/schedules.ts";
import { inheritedVariables } from "../catalogue/inherited-variables.ts";
import { definitionOfRevision } from "../catalogue/known-definitions.ts";
import { findPipelineToRun } from "../catalogue/pipeline-deletion.ts";
import { askingFor, pluginsForRun } from "../catalogue/plugin-lookup.ts";
import { storeCommand } from "../commands/commands.ts";
import { isRunRemoved } from "../runs/remove-run.ts";
import { planKnownRun, type PlannedRun, storeNewRun } from "../triggering/create-run.ts";
import { reserveGroupPlace } from "../triggering/group-place.ts";
import type { SchedulesContext } from "./context.ts";

const FIRST_ATTEMPT = 1;
/** Before the reason, in the claim of a time that gets no run. */
const REFUSED = "refused/";
const MAX_TEXT = 500;

/**
 * Idempotent: the worker that claims the time first decides what becomes of it. So two workers cannot make two runs, and
 * neither can say that there is none beside the run of the other one. Rejects while the store or a group cannot answer.
 */
export async function startScheduledRun(context: SchedulesContext, effect: StartRunEffect): Promise<void> {
  const { scheduleId, at, runId } = effect;
  const id = commandIdOf("startAnswered", scheduleId, String(at), runId);
  if ((await context.stores.inbox.verdict(id)) !== undefined) return;
  const outcome = await startOnce(context, effect);
  if ("refused" in outcome) {
    const { pipelineId, name } = effect;
    context.log.warn({ pipelineId, schedule: name, at, reason: outcome.refused }, "a schedule could not start a run");
  }
  await storeCommand(context, { id, rootId: scheduleId, body: { kind: "startAnswered", at, outcome } });
}

async function startOnce(context: SchedulesContext, effect: StartRunEffect): Promise<StartOutcome> {
  const { stores, clock } = context;
  const { pipelineId, name, at, runId } = effect;
  const key = startKeyOf(pipelineId, name, at);
  const found = await stores.idempotency.find(key);
  let planned = found === undefined ? await orRefusal(() => planOf(context, effect, null)) : null;
  const wish = planned === null || "refused" in planned ? null : `${runId}/${planned.origin.revisionId}`;
  const refusal = planned !== null && "refused" in planned ? `${REFUSED}${planned.refused}` : "";
  const claim =
    found ??
    (await stores.idempotency.claim({ key, bodyHash: "schedule", createdId: wish ?? refusal, at: clock.now() }));
  const { createdId } = claim;
  if (createdId.startsWith(REFUSED)) return { refused: createdId.slice(REFUSED.length) };
  const [claimed, revisionId] = createdId.split("/") as [RunId, RevisionId];
  if (claimed !== runId) return { refused: `this time has its run already: ${claimed}` };
  const isMade = async () => (await stores.aggregates.loadHead(runId)) !== undefined;
  if ((await isMade()) || (await isRunRemoved(context, runId))) return { runId };
  if (createdId !== wish) planned = await orRefusal(() => planOf(context, effect, revisionId));
  if (planned === null || "refused" in planned) return planned ?? { refused: "" };
  const run = planned;
  const stored = await orRefusal(async () => {
    await reserveGroupPlace(context, run);
    await storeNewRun(context, {}, run);
    return { runId };
  });
  // A run that lost the race against the deletion of its pipeline is stored, and stopped.
  return "refused" in stored && (await isMade()) ? { runId } : stored;
}

/** `revisionId` null: of the head. */
async function planOf(
  context: SchedulesContext,
  { pipelineId, name, at, runId, ref, variables }: StartRunEffect,
  revisionId: RevisionId | null,
): Promise<PlannedRun> {
  const pipeline = await findPipelineToRun(context, pipelineId);
  const { projectId, defaultBranch } = pipeline;
  const chosen = revisionId ?? pipeline.headRevisionId;
  const asking = askingFor(context, pipelineId);
  const definition = chosen === null ? undefined : await definitionOfRevision(context.stores.pipelines, asking, chosen);
  if (chosen === null || definition === undefined) {
    throw new MillraceError("conflict", "the pipeline has no definition any more");
  }
  const inherited = await inheritedVariables(context, projectId);
  const origin = {
    trigger: { kind: "cron", ref: ref ?? defaultBranch, scheduled: { name, at } },
    variables,
    ...(inherited.length > 0 && { inherited }),
    triggeredBy: `schedule ${name}`,
    actor: "",
    revisionId: chosen,
    commitSha: chosen,
    attempt: FIRST_ATTEMPT,
    retryOf: null,
    firstRunId: null,
  } as const;
  const plugins = await pluginsForRun(context, projectId, definition);
  return planKnownRun(context, asking, definition, { runId, origin, pipeline }, plugins);
}

/** An error that a repeat would meet again is an answer. Rejects with the others. */
async function orRefusal<T>(work: () => Promise<T>): Promise<T | { readonly refused: string }> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof MillraceError) || ERROR_TABLE[error.reason].retry === "later") throw error;
    return { refused: error.message.slice(0, MAX_TEXT) };
  }
}
