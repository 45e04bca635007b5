/**
 * Creates a run: plans it, takes its first turn, reserves idle slots for its first jobs, stores it, and performs its first
 * effects.
 */
import { setImmediate as nextEventLoopTurn } from "node:timers/promises";
import { recorded, type Trail } from "../../audit/trail.ts";
import { CREATOR_MS, grantAtOnce, offersOf, takeFirstTurn } from "../../../actors/kernel/first-turn.ts";
import { eventsOf, performOwed } from "../../../actors/kernel/performer.ts";
import { RUN_AGGREGATE } from "../../../actors/run/aggregate.ts";
import type { ClaimRequested } from "../../../actors/job/messages.ts";
import { createRunAggregate } from "../../../actors/run/create.ts";
import type { Beginning } from "../../../actors/run/reuse.ts";
import { shardOf } from "../../../queues/shard-map.ts";
import type { KnownDefinition } from "../../definition-work/definition-work.ts";
import type { KnownPlugins } from "../../definition-work/tasks.ts";
import { type Reservation, RESERVED_MS } from "../../board/board.ts";
import type { Offer } from "../../domain/effects.ts";
import type { JobRunId, RunId } from "../../domain/ids.ts";
import { FULL_COMMIT } from "../../domain/names.ts";
import type { JobSpec, PlannedApproval, RunPlan } from "../../domain/plan.ts";
import type { ScheduledTime } from "../../domain/schedules.ts";
import type { TrustDemand } from "../../domain/labels.ts";
import type { PlanInput, PlanResult } from "../../planner/plan-run.ts";
import { type Aggregate, isUntrusted, type RunOrigin } from "../../stores/ports/aggregates.ts";
import type { Pipeline } from "../../stores/ports/pipelines.ts";
import { withStepOutputs } from "../../stores/ports/reading-outputs.ts";
import type { TriggeringContext } from "./context.ts";
import { requireNoDeletion } from "../catalogue/pipeline-deletion.ts";
import type { Asking } from "../catalogue/plugin-lookup.ts";
import { ringDoorbell } from "../commands/commands.ts";
import { isInGit } from "../git/repository.ts";
import { reportedBy } from "../commit-statuses/reporting.ts";
import { markNotified } from "../notifications/notified-projects.ts";
import { projectFactsOf } from "../project-facts.ts";
import { planRefused } from "./plan-refused.ts";
import type { ToldEvent } from "./told-event.ts";

/** Slots that are reserved for a new run at most; its other jobs are offered. */
const GRANTS = 64;
/** Slots that are asked for at the same time. The next ones are asked for when there were as many. */
const GRANTS_AT_ONCE = 8;
/** A run with more jobs yields to the event loop between the parts of its creation. */
const LARGE_RUN_JOBS = 200;

export interface NewRun {
  readonly runId: RunId;
  readonly origin: RunOrigin;
  readonly pipeline: Pipeline;
  /** What came with the event that starts the run; absent for another trigger. */
  readonly told?: ToldEvent;
  /** True when the run builds what the default branch of the pipeline holds or has held; absent for another run. */
  readonly isOfDefaultBranch?: boolean | undefined;
  /** The approval that the run needs before it begins; absent for none. */
  readonly approval?: PlannedApproval | undefined;
}

export interface PlannedRun extends NewRun {
  readonly plan: RunPlan;
  readonly jobs: readonly JobSpec[];
}

/**
 * Throws `invalid_definition` or `malformed_request` when the definition cannot be planned with these variables, and rejects as
 * `Threads.run` does.
 */
export async function planKnownRun(
  context: Pick<TriggeringContext, "stores" | "clock">,
  { work, caller }: Asking,
  known: KnownDefinition,
  run: NewRun,
  plugins: KnownPlugins,
): Promise<PlannedRun> {
  const facts = await projectFactsOf(context, run.pipeline.projectId);
  const input = planInputOf(run, context.stores.snapshotBytes, facts);
  return plannedOf(run, await work.plan(caller, known, { input, plugins }));
}

export function planInputOf(
  { runId, origin, pipeline, told, approval, isOfDefaultBranch = false }: NewRun,
  snapshotBytes: number | null,
  {
    trustDemand,
    demandsContainers = false,
  }: Pick<PlanInput, "demandsContainers"> & { readonly trustDemand: TrustDemand },
): Omit<PlanInput, "definition" | "plugins"> {
  const { kind, ref, scheduled } = origin.trigger;
  return {
    runId,
    attempt: origin.attempt,
    revisionId: origin.revisionId,
    defaultBranch: { name: pipeline.defaultBranch, isBuilt: isOfDefaultBranch },
    trigger: {
      kind,
      ref,
      payload: payloadOf(scheduled),
      ...told,
      ...(origin.uploads && { uploads: origin.uploads }),
    },
    variables: origin.variables,
    inherited: origin.inherited ?? [],
    pipelineId: pipeline.pipelineId,
    pipelineName: pipeline.name,
    projectId: pipeline.projectId,
    repoUrl: pipeline.repoUrl,
    snapshotBytes,
    trustDemand,
    demandsContainers,
    ...inGitOf(isUntrusted(origin) ? { ...pipeline, repoCredential: "" } : pipeline, origin.commitSha),
    ...(approval && { approval }),
    ...(isUntrusted(origin) &&
      FULL_COMMIT.test(origin.trigger.event!.sha) && { forkCommit: origin.trigger.event!.sha }),
  };
}

/** What expressions read of the trigger besides its kind and its ref. */
function payloadOf(scheduled: ScheduledTime | undefined): PlanInput["trigger"]["payload"] {
  return scheduled === undefined ? {} : { schedule: scheduled.name, scheduledAt: new Date(scheduled.at).toISOString() };
}

/** What a plan knows of a definition in Git. Runs of the pipeline from before it was connected have no commit. */
export function inGitOf(pipeline: Pipeline, commit: string): Pick<PlanInput, "inGit"> {
  const { repoCredential: credential = "" } = pipeline;
  return isInGit(pipeline) && FULL_COMMIT.test(commit) ? { inGit: { commit, credential } } : {};
}

/** Throws as {@link planKnownRun} when the definition could not be planned. */
export function plannedOf(run: NewRun, outcome: PlanResult): PlannedRun {
  if (!outcome.ok) throw planRefused(outcome);
  return Object.assign({}, run, { plan: outcome.plan, jobs: outcome.jobs });
}

/**
 * Stores a new run after its first turn, and performs the effects that the run then owes. So the run's offers are on
 * the board before any worker knows of the run. Resolves when the run is stored; a repeat changes nothing. Throws
 * `conflict` when the pipeline is deleted meanwhile; the run is stopped then. `by` is the caller, and `beginning` what a
 * rerun takes over from the run before.
 */
export async function storeNewRun(
  context: TriggeringContext,
  by: { readonly trail?: Trail | undefined; readonly traceparent?: string | undefined },
  { runId, origin: planned, pipeline, plan, jobs }: PlannedRun,
  beginning?: Beginning,
): Promise<void> {
  const { shards, stores, clock, log } = context;
  const begunAt = clock.monotonic();
  const origin = tracedOrigin(planned, by.traceparent);
  const isLarge = plan.jobs.length > LARGE_RUN_JOBS;
  if (isLarge) await nextEventLoopTurn();
  const now = clock.now();
  const shard = shardOf(runId, shards);
  const created = createRunAggregate({ runId, shard, plan, origin, now, ...(beginning && { beginning }) });
  const offering = await withStepOutputs(stores.outputs, (outputs) =>
    takeFirstTurn(created, plan, now, RUN_AGGREGATE, outputs),
  );
  if (isLarge) await nextEventLoopTurn();
  const begun = await withGrants(context, offering, plan);
  const { head } = begun;
  const events = eventsOf(head, head.owed);
  const { revisionId, attempt, retryOf } = origin;
  const { pipelineId, projectId } = pipeline;
  const after = { pipelineId, revisionId, attempt, retryOf };
  const change = { kind: "run", id: runId, name: pipeline.name, area: { projectId }, after } as const;
  if (plan.notifications !== undefined || reportedBy(pipeline) !== "off") await markNotified(context, projectId);
  const outcome = await recorded(by, change, async () => {
    const creating = stores.aggregates.create(begun, { plan: { graph: plan, jobs }, events });
    context.begunRuns?.tellComing(head.owed, { aggregate: begun, plan, jobs });
    const created = await creating;
    if (created === "exists") by.trail?.changedNothing();
    return created;
  });
  // Before the offers: a run that loses the race against the deletion of its pipeline is given to no agent here.
  const mayBeDeleted = outcome !== "created" || !stores.aggregates.seesDeletions;
  if (mayBeDeleted) await requireNoDeletion(context, { runId, pipelineId: pipeline.pipelineId });
  if (outcome === "exists") return ringDoorbell(context, runId);
  log.debug({ runId, pipelineId, requestId: by.trail?.requestId ?? undefined }, "a run is created");
  // After a long pause of this process, the owner has performed the first effects, and the run may even have ended since.
  if (clock.monotonic() - begunAt >= CREATOR_MS) return;
  const run = { aggregate: begun, plan, jobs };
  const dispatches = head.owed.some(({ effect }) => effect.type === "dispatch");
  context.begunRuns?.tell(run);
  if (!dispatches) context.begunRuns?.tellSent(run);
  // If this fails, the owner of the shard performs these effects on its next sweep.
  performOwed(context, head, head.owed).then(
    () => context.begunRuns?.tellDone(runId),
    (error: unknown) => {
      log.debug({ runId, error: String(error) }, "the first effects of a run are left to its owner");
    },
  );
  if (!dispatches) return;
  // A dispatch leaves this process when the event loop turns. An answer that is written before would hold it up.
  await nextEventLoopTurn();
  if (clock.monotonic() - begunAt < CREATOR_MS) context.begunRuns?.tellSent(run);
}

/** A rerun is traced to its own call, and not to that of the run before. */
function tracedOrigin(planned: RunOrigin, traceparent: string | undefined): RunOrigin {
  if (planned.traceparent === undefined && traceparent === undefined) return planned;
  const { traceparent: _, ...origin } = planned;
  return traceparent === undefined ? origin : { ...origin, traceparent };
}

/**
 * The run with grants of its first jobs, for which idle agents have slots: such a job needs no offer, no claim and no
 * second save. Unchanged when no slot could be reserved. A reservation that leads to no stored run ends by itself.
 */
async function withGrants(context: TriggeringContext, offering: Aggregate, plan: RunPlan): Promise<Aggregate> {
  const { clock, stores } = context;
  const [first, ...others] = offersOf(offering).slice(0, GRANTS);
  if (first === undefined) return offering;
  const askedAt = clock.monotonic();
  // Where the first job finds no slot, the others probably find none: they are offered without a call for each.
  const claims = [...(await reserve(context, first))];
  if (claims.length === 0) return offering;
  for (let at = 0; at < others.length && claims.length === at + 1; at += GRANTS_AT_ONCE) {
    const some = await Promise.all(others.slice(at, at + GRANTS_AT_ONCE).map((offer) => reserve(context, offer)));
    claims.push(...some.flat());
  }
  // The slots may have been given to other jobs since.
  if (clock.monotonic() - askedAt >= RESERVED_MS / 2) return offering;
  const now = Math.max(offering.head.summary.createdAt, clock.now());
  return withStepOutputs(stores.outputs, (outputs) => grantAtOnce(offering, claims, plan, now, RUN_AGGREGATE, outputs));
}

/** The claim of a job with a slot that was reserved for it; none without a slot, and when the board cannot be reached. */
async function reserve({ board, log }: TriggeringContext, offer: Offer): Promise<readonly JobClaim[]> {
  let reserved: Reservation | undefined;
  try {
    reserved = await board.reserve(offer);
  } catch (error) {
    log.debug({ runId: offer.runId, error: String(error) }, "no slot could be reserved: the job is offered");
  }
  if (reserved === undefined) return [];
  const message: ClaimRequested = { type: "claimRequested", ...reserved };
  return [{ to: { kind: "job", id: offer.jobId }, message }];
}

interface JobClaim {
  readonly to: { readonly kind: "job"; readonly id: JobRunId };
  readonly message: ClaimRequested;
}
