/**
 * What the live channels of one listener share: what one viewer has read serves the others too, and the limits count
 * all that a caller has open there, over whichever protocol.
 */
import type { RunsContext } from "../runs/context.ts";
import type { FollowingContext } from "./context.ts";
import { type FollowerBounds, FollowerLimits } from "./follower-limits.ts";
import type { ApprovalState } from "../../../actors/approval/state.ts";
import { approvalStates } from "./approval-states.ts";
import { AgentPresenceFeed } from "./agent-presence-feed.ts";
import { LiveSnapshots } from "./live-snapshots.ts";
import { LogPages } from "./log-pages.ts";
import { RunEventFeed } from "./run-event-feed.ts";
import { runStates, type RunStateOfSave } from "./run-states.ts";
import type { SystemEventContext } from "../system-events/context.ts";
import { SystemEventFeed } from "../system-events/system-event-feed.ts";
import { StateFeed } from "./state-feed.ts";

/** What live channels work with. */
export type LiveContext = FollowingContext & RunsContext & SystemEventContext;

export class Followers {
  readonly context: LiveContext;
  readonly runEvents: RunEventFeed;
  readonly liveSnapshots: LiveSnapshots;
  readonly runs: StateFeed<RunStateOfSave>;
  readonly approvals: StateFeed<ApprovalState>;
  readonly agents: AgentPresenceFeed;
  readonly systemEvents: SystemEventFeed;
  readonly logPages: LogPages;
  readonly limits: FollowerLimits;

  constructor(context: LiveContext, bounds: Partial<FollowerBounds> = {}) {
    this.context = context;
    this.runEvents = new RunEventFeed(context);
    this.liveSnapshots = new LiveSnapshots(context);
    this.runs = new StateFeed(context, runStates(context));
    this.approvals = new StateFeed(context, approvalStates(context));
    this.agents = new AgentPresenceFeed(context);
    this.systemEvents = new SystemEventFeed(context);
    this.logPages = new LogPages(context);
    this.limits = new FollowerLimits(bounds);
  }
}
