/** The trigger by hand: plans a run of a pipeline's head definition and stores it. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { z } from "zod";
import { takeFirstTurn } from "../../actors/kernel/first-turn.ts";
import { eventsOf, performOwed } from "../../actors/kernel/performer.ts";
import { RUN_AGGREGATE } from "../../actors/run/aggregate.ts";
import { createRunAggregate } from "../../actors/run/create.ts";
import { shardOf } from "../../queues/shard-map.ts";
import { MillraceError } from "../domain/errors.ts";
import { newId, type PipelineId, type RevisionId, type RunId } from "../domain/ids.ts";
import type { JobSpec, Pairs, RunPlan } from "../domain/plan.ts";
import { RUN_STATUS_CODES } from "../domain/status.ts";
import { planRun } from "../planner/plan-run.ts";
import type { RunOrigin } from "../stores/aggregates.ts";
import type { Pipeline } from "../stores/pipelines.ts";
import { authoriseUser, type Caller, claimedIdentity } from "./access.ts";
import type { AppContext } from "./context.ts";
import { planRefused } from "./plan-refused.ts";
import { ringDoorbell } from "./doorbell.ts";
import { findPipeline, noPipeline } from "./find.ts";
import { definitionOf } from "./known-definitions.ts";
import { claimRequest } from "./request-ids.ts";
import { boundTriggerInput, defaultRef } from "./trigger-input.ts";

const FIRST_ATTEMPT = 1;
const JOBS_AT_ONCE = 200;

export const triggerBody = z.strictObject({
  variables: z.record(z.string(), z.string({ error: "must be a string" })).default({}),
  triggeredBy: z.string().max(200).optional(),
  requestId: z.string().max(200).optional(),
});

export interface TriggerView {
  readonly runId: RunId;
  readonly pipelineId: PipelineId;
  readonly status: "pending";
  readonly statusCode: number;
}

/**
 * Answers once the run is stored; it begins by itself. Throws `not_found`, `conflict` for a pipeline without a
 * definition, `invalid_definition`, `too_large`, `request_id_reused`. A repeat of a `requestId` answers the same run,
 * and finishes its creation when the first call was cut off.
 */
export async function triggerRun(
  context: AppContext,
  caller: Caller,
  input: z.output<typeof triggerBody> & { readonly pipelineId: PipelineId },
): Promise<TriggerView> {
  // Its time is that of the trigger, so it is made before anything is waited for.
  const freshRunId = newId("run");
  const user = authoriseUser(caller, "triggerRun");
  const triggeredBy = claimedIdentity(user, input.triggeredBy, "triggeredBy");
  boundTriggerInput("variables", input.variables);
  const pipeline = await findPipeline(context, input.pipelineId);
  const head = pipeline.headRevisionId;
  if (head === null) {
    throw new MillraceError("conflict", "the pipeline has no definition: save one with POST .../spec/save first");
  }
  // The revision is part of what is claimed: a repeat that finishes a creation plans what the first call planned.
  const { id: claim, repeated } = await claimRequest(context, {
    caller: user,
    scope: `trigger/${input.pipelineId}`,
    requestId: input.requestId,
    body: input,
    freshId: () => `${freshRunId}/${head}`,
  });
  const [runId, revisionId] = claim.split("/") as [RunId, RevisionId];
  if (!repeated || (await context.stores.aggregates.loadHead(runId)) === undefined) {
    await createRun(context, {
      runId,
      revisionId,
      pipeline,
      variables: Object.entries(input.variables),
      triggeredBy,
      actor: user.name,
    });
  }
  return { runId, pipelineId: input.pipelineId, status: "pending", statusCode: RUN_STATUS_CODES.pending };
}

interface NewRun {
  readonly runId: RunId;
  readonly revisionId: RevisionId;
  readonly pipeline: Pipeline;
  readonly variables: Pairs<string>;
  readonly triggeredBy: string;
  readonly actor: string;
}

/**
 * A repeat changes nothing. The run's first turn is taken here, and what it owes is performed at once: so its offers are on
 * the board before any worker has heard of it.
 */
async function createRun(context: AppContext, run: NewRun): Promise<void> {
  const { runId, revisionId, pipeline, variables, triggeredBy, actor } = run;
  const { shards, stores, clock, log } = context;
  const ref = defaultRef(variables, pipeline);
  const { plan, jobs } = await planned(context, run, ref);
  const trigger = { kind: "manual", ref } as const;
  const origin: RunOrigin = {
    trigger,
    variables,
    triggeredBy,
    actor,
    revisionId,
    commitSha: revisionId,
    attempt: FIRST_ATTEMPT,
    retryOf: null,
    firstRunId: null,
  };
  // What follows takes long for thousands of steps, as what came before did: others get their turn in between.
  if (plan.jobs.length > JOBS_AT_ONCE) await nextTurn();
  const now = clock.now();
  const created = createRunAggregate({ runId, shard: shardOf(runId, shards), plan, origin, now });
  const begun = takeFirstTurn(created, plan, now, RUN_AGGREGATE);
  const { head } = begun;
  if (plan.jobs.length > JOBS_AT_ONCE) await nextTurn();
  const events = eventsOf(head, head.owed);
  const outcome = await stores.aggregates.create(begun, { plan: { graph: plan, jobs }, events });
  if (outcome === "exists") return ringDoorbell(context, runId);
  context.onRunBegun?.(begun.actors);
  // The owner of the shard performs by and by what fails here.
  performOwed(context, head, head.owed).catch((error: unknown) => {
    log.debug({ runId, error: String(error) }, "the first offers of a run are left to its owner");
  });
}

/** Rejects with `invalid_definition` when the definition cannot be planned with these variables. */
async function planned(
  context: AppContext,
  { runId, revisionId, pipeline, variables }: NewRun,
  ref: string,
): Promise<{ readonly plan: RunPlan; readonly jobs: readonly JobSpec[] }> {
  const definition = await definitionOf(context.stores.pipelines, revisionId);
  if (definition === undefined) throw noPipeline(pipeline.pipelineId);
  await nextTurn();
  const outcome = planRun({
    definition,
    runId,
    attempt: FIRST_ATTEMPT,
    trigger: { kind: "manual", ref, payload: {} },
    variables,
    pipelineId: pipeline.pipelineId,
    pipelineName: pipeline.name,
    projectId: pipeline.projectId,
  });
  if (!outcome.ok) throw planRefused(outcome);
  return outcome;
}
