/**
 * What the live channels of one listener share: what one viewer has read serves the others too, and the limits count
 * all that a caller has open there, over whichever protocol.
 */
import type { RunsContext } from "../runs/context.ts";
import type { FollowingContext } from "./context.ts";
import { type FollowerBounds, FollowerLimits } from "./follower-limits.ts";
import { RunEventFeed } from "./run-event-feed.ts";

/** What live channels work with. */
export type LiveContext = FollowingContext & RunsContext & { readonly eventNamespace: string };

export class Followers {
  readonly context: LiveContext;
  readonly runEvents: RunEventFeed;
  readonly limits: FollowerLimits;

  constructor(context: LiveContext, bounds: Partial<FollowerBounds> = {}) {
    this.context = context;
    this.runEvents = new RunEventFeed(context);
    this.limits = new FollowerLimits(bounds);
  }
}
