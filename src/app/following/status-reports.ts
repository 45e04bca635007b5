/** What programs are told of the status of a run, a job or a step: the stored one first, then each change. */
import type { JobState } from "../../../actors/job/state.ts";
import type { RunState } from "../../../actors/run/state.ts";
import type { StepState } from "../../../actors/step/state.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { RunEvent } from "../../domain/events.ts";
import { type JobRunId, jobRunId, type PipelineId, type RunId, type StepRunId, stepRunId } from "../../domain/ids.ts";
import { authoriseUser, type Caller } from "../identity/access.ts";
import type { FollowingContext } from "./context.ts";
import { findRunHead } from "../find.ts";
import { type FollowedObject, followObject, type ObjectNews } from "./follow-object.ts";
import type { RunTails } from "./run-tails.ts";
import { noStepRun } from "../step-runs.ts";
import { retriedBy } from "../runs/succession.ts";

export interface StatusReport {
  /** The word that users see for that kind of object. */
  readonly status: string;
  readonly reason: string;
  /** Number of the event up to which it is true. */
  readonly eventNumber: number;
  /** Unix milliseconds; 0 for an object that has not been queued. */
  readonly timeMs: number;
  /** Id of the next attempt, once this one is final; else empty. */
  readonly retriedBy: string;
}

/** A run, job or step that is there, and how its next attempt is found. */
export interface ReportedObject extends FollowedObject {
  readonly findRetry: () => Promise<string>;
}

/** Throws `not_found`. */
export async function reportedStep(
  context: FollowingContext,
  caller: Caller,
  id: StepRunId,
): Promise<ReportedObject & { readonly jobId: JobRunId }> {
  authoriseUser(caller, "readEvents");
  const found = await context.stores.aggregates.findStep(id);
  if (found === undefined) throw noStepRun(id);
  const { runId, jobId } = found;
  const { index, attempt } = found.actor.state as StepState;
  const next = stepRunId(runId, jobId, index, attempt + 1);
  return { runId, kind: "step", id, jobId, findRetry: () => findActor(context, runId, next) };
}

/** Throws `not_found`. */
export async function reportedJob(context: FollowingContext, caller: Caller, id: JobRunId): Promise<ReportedObject> {
  authoriseUser(caller, "readEvents");
  const found = await context.stores.aggregates.findJob(id);
  if (found === undefined) throw new MillraceError("not_found", `there is no job run ${JSON.stringify(id)}`);
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
  authoriseUser(caller, "readEvents");
  const { pipelineId } = (await findRunHead(context, id)).summary;
  const findRetry = async () => (await retriedBy(context, await findRunHead(context, id))) ?? "";
  return { runId: id, kind: "run", id, pipelineId, findRetry };
}

/** Ends after the final status. `after`: number of the last event that is known, to be told only of changes since. */
export async function* reportStatus(
  context: FollowingContext,
  tails: RunTails,
  object: ReportedObject,
  following: { readonly after: number | undefined; readonly abort: AbortSignal },
): AsyncGenerator<StatusReport, void, void> {
  for await (const news of followObject(context, tails, object, following)) {
    if (news.type === "event" && isNoTransition(news.event)) continue;
    yield { ...reportOf(news), retriedBy: news.isFinal ? await object.findRetry() : "" };
  }
}

/** It says why the object waits, or who has asked for its end. */
function isNoTransition({ lifecycle }: Pick<RunEvent, "lifecycle">): boolean {
  return lifecycle === "waiting" || lifecycle === "stopping";
}

function reportOf(news: ObjectNews): Omit<StatusReport, "retriedBy"> {
  if (news.type === "event") {
    const { status, data, number, timeMs } = news.event;
    return { status, reason: String(data["reason"] ?? ""), eventNumber: number, timeMs };
  }
  const { head, actor } = news;
  const { reason, startedAt, endedAt, ...rest } = actor.state as RunState | JobState | StepState;
  const begunAt = "queuedAt" in rest ? rest.queuedAt : rest.createdAt;
  return {
    status: actor.index.status,
    reason,
    eventNumber: head.eventNumber,
    timeMs: endedAt ?? startedAt ?? begunAt ?? 0,
  };
}

async function findActor({ stores }: FollowingContext, runId: RunId, id: string): Promise<string> {
  return (await stores.aggregates.loadActors(runId, [id]))?.actors[0]?.id ?? "";
}
