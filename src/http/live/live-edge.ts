/** What event streams work with. */
import type { Followers } from "../../app/following/followers.ts";
import type { Clock } from "../../domain/clock.ts";
import type { EventStreams } from "./event-streams.ts";

export interface LiveEdge {
  readonly clock: Clock;
  readonly followers: Followers;
  readonly streams: EventStreams;
}
