/** The status of a run, job or step as programs follow it: the stored status first, then each change. */
import type { JobState } from "../../../actors/job/state.ts";
import type { RunState } from "../../../actors/run/state.ts";
import type { StepState } from "../../../actors/step/state.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { RunEvent } from "../../domain/events.ts";
import { type JobRunId, jobRunId, type PipelineId, type RunId, type StepRunId, stepRunId } from "../../domain/ids.ts";
import type { Caller } from "../identity/access.ts";
import type { FollowingContext } from "./context.ts";
import { findRunHead } from "../lookups.ts";
import { type FollowedObject, followObject, type ObjectUpdate } from "./object-updates.ts";
import type { RunEventFeed } from "./run-event-feed.ts";
import { reachJob, reachRun, reachStep } from "../reaching.ts";
import { noStepRun } from "../step-runs.ts";
import { findRerun } from "../runs/succession.ts";

export interface StatusReport {
  /** The status word of the object. */
  readonly status: string;
  readonly reason: string;
  /** Number of the newest event that the status includes. */
  readonly eventNumber: number;
  /** Unix milliseconds; 0 for an object that has not been queued. */
  readonly timeMs: number;
  /** Id of the next attempt, once this one is final; else empty. */
  readonly retriedBy: string;
}

/** A run, job or step that exists. `findRetry` answers the id of its next attempt, or an empty text. */
export interface ReportedObject extends FollowedObject {
  readonly findRetry: () => Promise<string>;
}

/** Throws `not_found`. */
export async function reportedStep(
  context: FollowingContext,
  caller: Caller,
  id: StepRunId,
): Promise<ReportedObject & { readonly jobId: JobRunId }> {
  const { found } = await reachStep(context, caller, "readEvents", id, () => noStepRun(id));
  const { runId, jobId } = found;
  const { index, attempt } = found.actor.state as StepState;
  const next = stepRunId(runId, jobId, index, attempt + 1);
  return { runId, kind: "step", id, jobId, findRetry: () => findActor(context, runId, next) };
}

/** Throws `not_found`. */
export async function reportedJob(context: FollowingContext, caller: Caller, id: JobRunId): Promise<ReportedObject> {
  const missing = () => new MillraceError("not_found", `there is no job run ${JSON.stringify(id)}`);
  const { found } = await reachJob(context, caller, "readEvents", id, missing);
  const { runId } = found;
  const { index, attempt, cell } = found.actor.state as JobState;
  const next = jobRunId(runId, index, attempt + 1, cell);
  return { runId, kind: "job", id, findRetry: () => findActor(context, runId, next) };
}

/** Throws `not_found`. */
export async function reportedRun(
  context: FollowingContext,
  caller: Caller,
  id: RunId,
): Promise<ReportedObject & { readonly pipelineId: PipelineId }> {
  const { found } = await reachRun(context, caller, "readEvents", id);
  const { pipelineId } = found.summary;
  const findRetry = async () => (await findRerun(context, await findRunHead(context, id))) ?? "";
  return { runId: id, kind: "run", id, pipelineId, findRetry };
}

/**
 * Ends after the final status. `after`: number of the last event that the client has; then only later changes are
 * given.
 */
export async function* reportStatus(
  runEvents: RunEventFeed,
  object: ReportedObject,
  request: { readonly after: number | undefined; readonly abort: AbortSignal },
): AsyncGenerator<StatusReport, void, void> {
  for await (const update of followObject(runEvents, object, request)) {
    if (update.type === "event" && keepsStatus(update.event)) continue;
    yield { ...reportOf(update), retriedBy: update.isFinal ? await object.findRetry() : "" };
  }
}

/** True for an event that changes no status: it says why the object waits, who asked for its end, or what an agent pushed. */
function keepsStatus({ lifecycle }: Pick<RunEvent, "lifecycle">): boolean {
  return ["waiting", "stopping", "updated", "pushed"].includes(lifecycle);
}

function reportOf(update: ObjectUpdate): Omit<StatusReport, "retriedBy"> {
  if (update.type === "event") {
    const { status, data, number, timeMs } = update.event;
    return { status, reason: String(data["reason"] ?? ""), eventNumber: number, timeMs };
  }
  const { eventNumber, actor } = update;
  const { reason, startedAt, endedAt, ...rest } = actor.state as RunState | JobState | StepState;
  const createdAt = "queuedAt" in rest ? rest.queuedAt : rest.createdAt;
  return {
    status: actor.index.status,
    reason,
    eventNumber,
    timeMs: endedAt ?? startedAt ?? createdAt ?? 0,
  };
}

async function findActor({ stores }: FollowingContext, runId: RunId, id: string): Promise<string> {
  return (await stores.aggregates.loadActors(runId, [id]))?.actors[0]?.id ?? "";
}
