/**
 * The group's whole state machine.
 *
 *   idle ◀──▶ busy
 */
import type { TransitionTable } from "../../src/domain/transition-table.ts";
import type { GroupPhase } from "./state.ts";

/** `refused`: there is no place for one that does not wait, or no room to wait. `strangerLeaves`: it is not in the group (any more). */
export const GROUP_INPUTS = ["enters", "entersAgain", "refused", "leaves", "lastLeaves", "strangerLeaves"] as const;
export type GroupInput = (typeof GROUP_INPUTS)[number];

// prettier-ignore
export const GROUP_TRANSITIONS = {
  enters:         { idle: "busy",  busy: "busy" },
  entersAgain:    { idle: "never", busy: "same" },
  refused:        { idle: "never", busy: "late" },
  leaves:         { idle: "never", busy: "busy" },
  lastLeaves:     { idle: "never", busy: "idle" },
  strangerLeaves: { idle: "late",  busy: "late" },
} as const satisfies TransitionTable<GroupPhase, GroupInput>;
