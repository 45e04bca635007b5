/** Runs written directly into the store, as the owner of their shard would save them. */
import { createRunAggregate } from "../../actors/run/create.ts";
import { RUN_AGGREGATE } from "../../actors/run/aggregate.ts";
import { isBound, type JobState, type JobPhase, jobStatus } from "../../actors/job/state.ts";
import { type RunPhase, type RunState, runStatus } from "../../actors/run/state.ts";
import { type StepPhase, type StepState, stepStatus } from "../../actors/step/state.ts";
import type { AppContext } from "../../src/app/context.ts";
import type { EventDraft, RunEvent } from "../../src/domain/events.ts";
import {
  asId,
  type AgentId,
  type JobRunId,
  newId,
  type PipelineId,
  type RunId,
  type StepRunId,
} from "../../src/domain/ids.ts";
import type { RunPlan } from "../../src/domain/plan.ts";
import { isFinalRunStatus } from "../../src/domain/status.ts";
import { runChannel, type RunHint, RUNS_CHANNEL } from "../../src/feed/feed.ts";
import type { Aggregate, AggregateHead, RunSummary, StoredActor } from "../../src/stores/ports/aggregates.ts";
import { jobSpecsOf, MANUAL_ORIGIN } from "./plans.ts";

export interface StoredRun {
  readonly runId: RunId;
  readonly pipelineId: PipelineId;
  readonly jobIds: readonly JobRunId[];
  /** Step runs of each job, in the order of `jobIds`. */
  readonly stepIds: readonly (readonly StepRunId[])[];
}

export const AGENT_ID = asId<AgentId>("agt_TEST");

/** Stores a pending run of `plan`. */
export async function storeRun(context: AppContext, plan: RunPlan): Promise<StoredRun> {
  const runId = newId("run");
  await context.stores.plans.put(runId, plan, jobSpecsOf(plan));
  const aggregate = createRunAggregate({
    runId,
    shard: 0,
    plan,
    origin: { ...MANUAL_ORIGIN, variables: [["ref", "main"]], triggeredBy: "admin", actor: "admin" },
    now: context.clock.now(),
  });
  await context.stores.aggregates.create(aggregate);
  const jobs = aggregate.actors.filter(({ kind }) => kind === "job").map(({ state }) => state as JobState);
  const steps = aggregate.actors.filter(({ kind }) => kind === "step").map(({ state }) => state as StepState);
  return {
    runId,
    pipelineId: plan.pipelineId,
    jobIds: jobs.map(({ jobId }) => jobId),
    stepIds: jobs.map((job) => steps.filter(({ jobId }) => jobId === job.jobId).map(({ stepRunId }) => stepRunId)),
  };
}

export interface Turn {
  readonly run?: Partial<RunState> & { readonly state: RunPhase };
  readonly jobs?: readonly (Partial<JobState> & { readonly jobId: JobRunId; readonly state: JobPhase })[];
  readonly steps?: readonly (Partial<StepState> & { readonly stepRunId: StepRunId; readonly state: StepPhase })[];
  readonly events?: readonly EventDraft[];
  /** False stores the events without publishing them to the feed, as when a feed message is lost. */
  readonly published?: boolean;
}

/** Saves changed states with their events, then publishes the events. */
export async function saveTurn(context: AppContext, { runId }: StoredRun, turn: Turn): Promise<readonly RunEvent[]> {
  const aggregate = (await context.stores.aggregates.load(runId))!;
  const changed = aggregate.actors.flatMap((actor): StoredActor[] => {
    const patch = patchOf(actor, turn);
    if (patch === undefined) return [];
    const state = { ...(actor.state as object), ...patch };
    return [{ ...actor, state, index: { ...actor.index, status: statusOf(actor.kind, patch.state) } }];
  });
  const { head } = aggregate;
  const events = (turn.events ?? []).map((draft, at): RunEvent => ({
    ...draft,
    runId,
    pipelineId: head.summary.pipelineId,
    number: head.eventNumber + 1 + at,
    timeMs: context.clock.now(),
  }));
  const saved = await context.stores.aggregates.save({
    expectedVersion: head.version,
    head: nextHead(head, await summaryAfter(context, aggregate, changed), events.length),
    changed,
    events,
  });
  if (saved !== "saved") throw new Error("another writer saved the run");
  if (turn.published === false) return events;
  for (const event of events) await context.feed.publish(runChannel(runId), event);
  await publishHint(context, { runId });
  return events;
}

/** Tells those who follow all runs what the run is now, as its owner does after a save. */
export async function publishHint(context: AppContext, { runId }: Pick<StoredRun, "runId">): Promise<void> {
  if (!context.feed.isFollowed(RUNS_CHANNEL)) return;
  const { version, eventNumber, summary } = (await context.stores.aggregates.loadHead(runId))!;
  const { pipelineId, projectId, status, bound, waits } = summary;
  const hint: RunHint = { runId, pipelineId, projectId, status, bound, waits, version, eventNumber };
  // The owner saves without Redis too: a hint may be lost.
  await context.feed.publish(RUNS_CHANNEL, hint).catch(() => undefined);
}

/** The event that an actor publishes when a step changes. */
export function stepEvent(
  run: StoredRun,
  lifecycle: EventDraft["lifecycle"],
  status: string,
  stepRunId: StepRunId = run.stepIds[0]![0]!,
): EventDraft {
  return { object: "step", lifecycle, jobId: run.jobIds[0]!, stepRunId, status, data: {} };
}

export const GRANT = { agentId: AGENT_ID, bootId: "boot", requestId: "", token: 1 };

function patchOf(actor: StoredActor, turn: Turn) {
  if (actor.kind === "run") return turn.run;
  if (actor.kind === "job") return turn.jobs?.find(({ jobId }) => jobId === actor.id);
  return turn.steps?.find(({ stepRunId }) => stepRunId === actor.id);
}

function statusOf(kind: StoredActor["kind"], state: string): string {
  if (kind === "run") return runStatus(state as RunPhase);
  return kind === "job" ? jobStatus(state as JobPhase) : stepStatus(state as StepPhase);
}

async function summaryAfter(
  context: AppContext,
  { head, actors }: Aggregate,
  changed: readonly StoredActor[],
): Promise<RunSummary> {
  const after = actors.map((actor) => changed.find(({ id }) => id === actor.id) ?? actor);
  const run = after.find(({ kind }) => kind === "run")!.state as RunState;
  const isBoundJob = ({ kind, state }: StoredActor) => kind === "job" && isBound(state as JobState);
  const plan = (await context.stores.plans.loadPlan(head.rootId))!;
  return RUN_AGGREGATE.summarise(run as never, after.some(isBoundJob), after, plan);
}

function nextHead(head: AggregateHead, summary: RunSummary, events: number): AggregateHead {
  const final = isFinalRunStatus(summary.status);
  const [version, eventNumber] = [head.version + 1, head.eventNumber + events];
  return { ...head, version, eventNumber, final, settled: final, summary };
}
