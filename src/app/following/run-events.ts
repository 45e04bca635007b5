/** The events of a run as programs follow them. */
import type { EventObject, RunEvent } from "../../domain/events.ts";
import type { RunId } from "../../domain/ids.ts";
import type { Caller } from "../identity/access.ts";
import type { FollowingContext } from "./context.ts";
import { reachRun } from "../reaching.ts";
import { requireKnownNumber } from "./object-updates.ts";
import type { RunEventFeed } from "./run-event-feed.ts";

export interface RunEventsRequest {
  readonly runId: RunId;
  /** Number of the last event that the follower has; 0 for all events. */
  readonly after: number;
  /** Kinds of objects; empty for all. */
  readonly objects: readonly EventObject[];
  readonly abort: AbortSignal;
}

/**
 * Ends when the run has ended and all of its events were given. Throws `not_found`, and `malformed_request` for a
 * number that is above that of the newest event.
 */
export async function* followEvents(
  context: FollowingContext,
  runEvents: RunEventFeed,
  caller: Caller,
  { objects, ...request }: RunEventsRequest,
): AsyncGenerator<RunEvent, void, void> {
  const { found } = await reachRun(context, caller, "readEvents", request.runId);
  requireKnownNumber(found, request.after);
  for await (const events of runEvents.follow(request)) {
    for (const event of events) if (objects.length === 0 || objects.includes(event.object)) yield event;
  }
}
