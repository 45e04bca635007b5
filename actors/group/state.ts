/** What a group actor remembers: who is in the group, and how many of them may work at once. */
import { memberOf } from "../../src/domain/groups.ts";
import type { GroupId, ProjectId, RunId } from "../../src/domain/ids.ts";
import type { PlannedGroup } from "../../src/domain/plan.ts";

export const GROUP_STATES = ["idle", "busy"] as const;
export type GroupPhase = (typeof GROUP_STATES)[number];

/** A member, as it is kept: there may be ten thousand of them. */
export interface Seat {
  /** See `memberKey`: seats are kept in its order, which is that of creation. */
  readonly key: string;
  readonly onConflict: PlannedGroup["onConflict"];
  /** Unix milliseconds. */
  readonly enteredAt: number;
  /** It works; else it waits. */
  readonly held: boolean;
  /** The run for which it has been asked to end; null for one that has not. */
  readonly supersededBy: RunId | null;
}

export interface GroupState {
  readonly groupId: GroupId;
  /** Null until somebody enters for the first time. */
  readonly projectId: ProjectId | null;
  readonly name: string;
  readonly state: GroupPhase;
  /** As the newest definition says of which a run has entered, and that definition's revision. */
  readonly limit: number;
  readonly definedBy: string;
  readonly seats: readonly Seat[];
}

/** Those that wait, at most. */
export const MAX_WAITING = 10_000;

/** The run of the member that has had its place longest, by creation; null when nobody has one. */
export function holderOf({ seats }: Pick<GroupState, "seats">): RunId | null {
  const holder = seats.find(({ held }) => held);
  return holder === undefined ? null : memberOf(holder.key).runId;
}
