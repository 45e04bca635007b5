/** A run, job or step as it changes: what is stored first, or the events after a number, up to the one that makes it final. */
import { MillraceError } from "../../domain/errors.ts";
import type { RunEvent } from "../../domain/events.ts";
import type { RunId } from "../../domain/ids.ts";
import {
  isActiveStepStatus,
  isFinalJobStatus,
  isFinalRunStatus,
  type JobStatus,
  type RunStatus,
  type StepStatus,
} from "../../domain/status.ts";
import type { AggregateHead, StoredActor } from "../../stores/ports/aggregates.ts";
import type { WithStores } from "../context.ts";
import { noRun } from "../find.ts";
import type { RunTails } from "./run-tails.ts";

export interface FollowedObject {
  readonly runId: RunId;
  readonly kind: "run" | "job" | "step";
  /** The id of the run, job run or step run. */
  readonly id: string;
}

export type ObjectNews = (
  | { readonly type: "snapshot"; readonly head: AggregateHead; readonly actor: StoredActor }
  | { readonly type: "event"; readonly event: RunEvent }
) & { readonly isFinal: boolean };

interface ObjectFollowing {
  /** Number of the last event that is known; undefined to begin with a snapshot. */
  readonly after: number | undefined;
  readonly abort: AbortSignal;
}

/**
 * Ends after the event that makes the object final; at once for one that was final already, after its snapshot. State and
 * number of a snapshot belong together: nothing is lost or repeated between it and the first event. Throws `not_found`, and
 * `malformed_request` for a number that the run has not reached.
 */
export async function* followObject(
  { stores }: WithStores<"aggregates">,
  tails: RunTails,
  { runId, kind, id }: FollowedObject,
  { after, abort }: ObjectFollowing,
): AsyncGenerator<ObjectNews, void, void> {
  const aggregate = await stores.aggregates.loadActors(runId, [id]);
  const actor = aggregate?.actors[0];
  if (aggregate === undefined) throw noRun(runId, undefined);
  if (actor === undefined) throw new MillraceError("not_found", `there is no ${kind} run ${id} in run ${runId}`);
  const { head } = aggregate;
  requireReached(head, after ?? 0);
  const isOver = isFinal(kind, actor.index.status);
  if (after === undefined) yield { type: "snapshot", head, actor, isFinal: isOver };
  const from = after ?? head.eventNumber;
  if (isOver && from >= head.eventNumber) return;

  for await (const events of tails.follow({ runId, after: from, abort })) {
    for (const event of events) {
      if (!concerns(event, kind, id)) continue;
      const isLast = isFinal(kind, event.status);
      yield { type: "event", event, isFinal: isLast };
      if (isLast) return;
    }
    // Its final event is one that the caller has.
    if (isOver && events.at(-1)!.number >= head.eventNumber) return;
  }
}

/** Throws `malformed_request` for a number that no event of the run has. */
export function requireReached({ rootId, eventNumber }: AggregateHead, after: number): void {
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
