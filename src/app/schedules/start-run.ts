/** Creates the run of a time of a schedule, or says why there is none, and stores the answer for the schedule. */
import type { StartRunEffect } from "../../domain/effects.ts";
import { ERROR_TABLE, MillraceError } from "../../domain/errors.ts";
import { commandIdOf, type RevisionId, type RunId } from "../../domain/ids.ts";
import { type StartOutcome, startKeyOf } from "../../domain/schedules.ts";
import { storeCommand } from "../commands/commands.ts";
import { isRunRemoved } from "../runs/remove-run.ts";
import { type PlannedRun, storeNewRun } from "../triggering/create-run.ts";
import type { RunSource } from "../git/run-source.ts";
import { reserveGroupPlace } from "../triggering/group-place.ts";
import type { SchedulesContext } from "./context.ts";

/** Before the reason, in the claim of a time that gets no run. */
const REFUSED = "refused/";
const MAX_TEXT = 500;

/** Of which definition a run is. */
export type StartSource = Pick<RunSource, "revisionId" | "commitSha">;
/** Plans the run of a start: of this definition, or of the newest one for null. Rejects with what makes the run impossible. */
export type PlanStart = (effect: StartRunEffect, source: StartSource | null) => Promise<PlannedRun>;

/**
 * Idempotent: the worker that claims the time first decides what becomes of it. So two workers cannot make two runs, and
 * neither can say that there is none beside the run of the other one. Rejects while the store or a group cannot answer.
 */
export async function startScheduledRun(
  context: SchedulesContext,
  effect: StartRunEffect,
  planOf: PlanStart,
): Promise<void> {
  const { scheduleId, at, runId } = effect;
  const id = commandIdOf("startAnswered", scheduleId, String(at), runId);
  if ((await context.stores.inbox.verdict(id)) !== undefined) return;
  const outcome = await startOnce(context, effect, planOf);
  if ("refused" in outcome) {
    const { pipelineId, name } = effect;
    context.log.warn({ pipelineId, schedule: name, at, reason: outcome.refused }, "a schedule could not start a run");
  }
  await storeCommand(context, { id, rootId: scheduleId, body: { kind: "startAnswered", at, outcome } });
}

async function startOnce(context: SchedulesContext, effect: StartRunEffect, planOf: PlanStart): Promise<StartOutcome> {
  const { stores, clock } = context;
  const { pipelineId, name, at, runId } = effect;
  const key = startKeyOf(pipelineId, name, at);
  const found = await stores.idempotency.find(key);
  let planned = found === undefined ? await orRefusal(() => planOf(effect, null)) : null;
  const wish =
    planned === null || "refused" in planned
      ? null
      : `${runId}/${planned.origin.revisionId}/${planned.origin.commitSha}`;
  const refusal = planned !== null && "refused" in planned ? `${REFUSED}${planned.refused}` : "";
  const claim =
    found ??
    (await stores.idempotency.claim({ key, bodyHash: "schedule", createdId: wish ?? refusal, at: clock.now() }));
  const { createdId } = claim;
  if (createdId.startsWith(REFUSED)) return { refused: createdId.slice(REFUSED.length) };
  const [claimed, revisionId, commitSha] = createdId.split("/") as [RunId, RevisionId, string];
  if (claimed !== runId) return { refused: `this time has its run already: ${claimed}` };
  const isMade = async () => (await stores.aggregates.loadHead(runId)) !== undefined;
  if ((await isMade()) || (await isRunRemoved(context, runId))) return { runId };
  if (createdId !== wish) planned = await orRefusal(() => planOf(effect, { revisionId, commitSha }));
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

/** An error that a repeat would meet again is an answer. Rejects with the others. */
async function orRefusal<T>(work: () => Promise<T>): Promise<T | { readonly refused: string }> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof MillraceError) || ERROR_TABLE[error.reason].retry === "later") throw error;
    return { refused: error.message.slice(0, MAX_TEXT) };
  }
}
