/** How a run comes to be, whoever asks for it: planned, its first turn taken, stored. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { takeFirstTurn } from "../../../actors/kernel/first-turn.ts";
import { eventsOf, performOwed } from "../../../actors/kernel/performer.ts";
import { RUN_AGGREGATE } from "../../../actors/run/aggregate.ts";
import { createRunAggregate } from "../../../actors/run/create.ts";
import type { Beginning } from "../../../actors/run/reuse.ts";
import { shardOf } from "../../../queues/shard-map.ts";
import type { Definition } from "../../definition/definition.ts";
import type { RunId } from "../../domain/ids.ts";
import type { JobSpec, RunPlan } from "../../domain/plan.ts";
import type { PluginLookup } from "../../domain/plugins.ts";
import { planRun } from "../../planner/plan-run.ts";
import type { RunOrigin } from "../../stores/ports/aggregates.ts";
import type { Pipeline } from "../../stores/ports/pipelines.ts";
import { readingOutputs } from "../../stores/ports/reading-outputs.ts";
import type { TriggeringContext } from "./context.ts";
import { ringDoorbell } from "../commands/doorbell.ts";
import { planRefused } from "./plan-refused.ts";

/** A larger run is made in parts, so that others get their turn in between. */
const JOBS_AT_ONCE = 200;

export interface NewRun {
  readonly runId: RunId;
  readonly origin: RunOrigin;
  readonly pipeline: Pipeline;
}

export interface PlannedRun extends NewRun {
  readonly plan: RunPlan;
  readonly jobs: readonly JobSpec[];
}

/** Throws `invalid_definition` or `malformed_request` when the definition cannot be planned with these variables. */
export function planNewRun(definition: Definition, run: NewRun, plugins: PluginLookup): PlannedRun {
  const { runId, origin, pipeline } = run;
  const outcome = planRun({
    definition,
    runId,
    attempt: origin.attempt,
    revisionId: origin.revisionId,
    trigger: { ...origin.trigger, payload: {} },
    variables: origin.variables,
    pipelineId: pipeline.pipelineId,
    pipelineName: pipeline.name,
    projectId: pipeline.projectId,
    repoUrl: pipeline.repoUrl,
    plugins,
  });
  if (!outcome.ok) throw planRefused(outcome);
  return { ...run, plan: outcome.plan, jobs: outcome.jobs };
}

/**
 * A repeat changes nothing. The run's first turn is taken here, and what it owes is performed at once: so its offers are on
 * the board before any worker has heard of it. `beginning`: that of a rerun.
 */
export async function storeNewRun(
  context: TriggeringContext,
  { runId, origin, plan, jobs }: PlannedRun,
  beginning?: Beginning,
): Promise<void> {
  const { shards, stores, clock, log } = context;
  const isLarge = plan.jobs.length > JOBS_AT_ONCE;
  if (isLarge) await nextTurn();
  const now = clock.now();
  const shard = shardOf(runId, shards);
  const created = createRunAggregate({ runId, shard, plan, origin, now, ...(beginning && { beginning }) });
  const begun = await readingOutputs(stores.outputs, (outputs) =>
    takeFirstTurn(created, plan, now, RUN_AGGREGATE, outputs),
  );
  const { head } = begun;
  if (isLarge) await nextTurn();
  const events = eventsOf(head, head.owed);
  const outcome = await stores.aggregates.create(begun, { plan: { graph: plan, jobs }, events });
  if (outcome === "exists") return ringDoorbell(context, runId);
  context.onRunBegun?.(begun.actors);
  // The owner of the shard performs by and by what fails here.
  performOwed(context, head, head.owed).catch((error: unknown) => {
    log.debug({ runId, error: String(error) }, "the first offers of a run are left to its owner");
  });
}
