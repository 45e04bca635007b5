/**
 * A run, job or step as a client follows it: a snapshot and the events after it, or the events after a number, up to
 * the event that makes the object final.
 */
import { MillraceError } from "../../domain/errors.ts";
import type { RunEvent } from "../../domain/events.ts";
import type { PipelineId, RunId } from "../../domain/ids.ts";
import {
  isActiveStepStatus,
  isFinalJobStatus,
  isFinalRunStatus,
  type JobStatus,
  type RunStatus,
  type StepStatus,
} from "../../domain/status.ts";
import type { AggregateHead, StoredActor } from "../../stores/ports/aggregates.ts";
import { noRun } from "../lookups.ts";
import type { RunEventFeed } from "./run-event-feed.ts";

export interface FollowedObject {
  readonly runId: RunId;
  readonly kind: "run" | "job" | "step";
  /** The id of the run, job run or step run. */
  readonly id: string;
}

export type ObjectUpdate = (
  | {
      readonly type: "snapshot";
      readonly pipelineId: PipelineId;
      /** Number of the newest event that the snapshot includes. */
      readonly eventNumber: number;
      readonly actor: StoredActor;
    }
  | { readonly type: "event"; readonly event: RunEvent }
) & { readonly isFinal: boolean };

interface ObjectUpdatesRequest {
  /** Number of the last event that the client has; undefined to begin with a snapshot. */
  readonly after: number | undefined;
  readonly abort: AbortSignal;
}

/**
 * Ends after the event that makes the object final. For an object that is final already, ends after its snapshot, or at
 * once. State and event number of a snapshot are read together: nothing is lost or repeated between the snapshot and
 * the first event. Throws `not_found`, and `malformed_request` for a number above that of the newest event.
 */
export async function* followObject(
  runEvents: RunEventFeed,
  { runId, kind, id }: FollowedObject,
  { after, abort }: ObjectUpdatesRequest,
): AsyncGenerator<ObjectUpdate, void, void> {
  const snapshot = await runEvents.snapshots.read(runId, id);
  if (snapshot === undefined) throw noRun(runId, undefined);
  const { actor, pipelineId, eventNumber } = snapshot;
  if (actor === undefined) throw new MillraceError("not_found", `there is no ${kind} run ${id} in run ${runId}`);
  requireKnownNumber({ rootId: runId, eventNumber }, after ?? 0);
  const isAlreadyFinal = isFinal(kind, actor.index.status);
  if (after === undefined) yield { type: "snapshot", pipelineId, eventNumber, actor, isFinal: isAlreadyFinal };
  const from = after ?? eventNumber;
  if (isAlreadyFinal && from >= eventNumber) return;

  for await (const events of runEvents.follow({ runId, after: from, abort })) {
    for (const event of events) {
      if (!concerns(event, kind, id)) continue;
      const isLast = isFinal(kind, event.status);
      yield { type: "event", event, isFinal: isLast };
      if (isLast) return;
    }
    // The object is final, and the client has all events up to the newest one at the start.
    if (isAlreadyFinal && events.at(-1)!.number >= eventNumber) return;
  }
}

/** Throws `malformed_request` for a number above that of the newest event of the run. */
export function requireKnownNumber(
  { rootId, eventNumber }: Pick<AggregateHead, "rootId" | "eventNumber">,
  after: number,
): void {
  if (after <= eventNumber) return;
  throw new MillraceError(
    "malformed_request",
    `${after} is above ${eventNumber}, the number of the newest event of ${rootId}: it is a number of another run`,
  );
}

function concerns(event: RunEvent, kind: FollowedObject["kind"], id: string): boolean {
  if (kind === "run") return event.object === "pipeline";
  return event.object === kind && (kind === "job" ? event.jobId : event.stepRunId) === id;
}

function isFinal(kind: FollowedObject["kind"], status: string): boolean {
  if (kind === "run") return isFinalRunStatus(status as RunStatus);
  return kind === "job" ? isFinalJobStatus(status as JobStatus) : !isActiveStepStatus(status as StepStatus);
}
