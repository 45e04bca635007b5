/** The state of a group actor: the members of the group, and how many of them may work at once. */
import { memberOf } from "../../src/domain/groups.ts";
import type { GroupId, ProjectId, RunId } from "../../src/domain/ids.ts";
import type { PlannedGroup } from "../../src/domain/plan.ts";

export const GROUP_STATES = ["idle", "busy"] as const;
export type GroupPhase = (typeof GROUP_STATES)[number];

/** A member of the group. Seats are small, because a group may have ten thousand of them. */
export interface Seat {
  /** See `memberKey`. Seats are sorted by their keys: by the creation of their runs. */
  readonly key: string;
  readonly onConflict: PlannedGroup["onConflict"];
  /** Unix milliseconds. */
  readonly enteredAt: number;
  /** True while the member has a place and works; false while it waits for one. */
  readonly held: boolean;
  /** The run for which the group has asked this member to end; null when it has not. */
  readonly supersededBy: RunId | null;
}

export interface GroupState {
  readonly groupId: GroupId;
  /** Null until the first member enters. */
  readonly projectId: ProjectId | null;
  readonly name: string;
  readonly state: GroupPhase;
  /** How many members may work at once: the limit of the newest definition among the runs that have entered. */
  readonly limit: number;
  /** The revision of that definition. */
  readonly definedBy: string;
  readonly seats: readonly Seat[];
}

/** Greatest number of members that wait for a place. */
export const MAX_WAITING = 10_000;

/** The oldest run, by creation, that has a place; null when no member has one. */
export function holderOf({ seats }: Pick<GroupState, "seats">): RunId | null {
  const holder = seats.find(({ held }) => held);
  return holder === undefined ? null : memberOf(holder.key).runId;
}
