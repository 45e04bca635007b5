/** The events of a run as programs follow them. */
import type { EventObject, RunEvent } from "../../domain/events.ts";
import type { RunId } from "../../domain/ids.ts";
import { authoriseUser, type Caller } from "../identity/access.ts";
import type { FollowingContext } from "./context.ts";
import { findRunHead } from "../find.ts";
import { requireReached } from "./follow-object.ts";
import type { RunTails } from "./run-tails.ts";

export interface EventsFollowing {
  readonly runId: RunId;
  /** Number of the last event that is known; 0 for all. */
  readonly after: number;
  /** Empty for all. */
  readonly objects: readonly EventObject[];
  readonly abort: AbortSignal;
}

/**
 * Ends when the run has ended and all its events are told. Throws `not_found`, and `malformed_request` for a number that
 * the run has not reached.
 */
export async function* followEvents(
  context: FollowingContext,
  tails: RunTails,
  caller: Caller,
  { objects, ...following }: EventsFollowing,
): AsyncGenerator<RunEvent, void, void> {
  authoriseUser(caller, "readEvents");
  requireReached(await findRunHead(context, following.runId), following.after);
  for await (const events of tails.follow(following)) {
    for (const event of events) if (objects.length === 0 || objects.includes(event.object)) yield event;
  }
}
