/**
 * The group's whole state machine.
 *
 *   idle ◀──▶ busy
 */
import type { TransitionTable } from "../../src/domain/transition-table.ts";
import type { GroupPhase } from "./state.ts";

/**
 * Each input, and the situation in which `inputOf` (decide.ts) looks it up. A member is a run or a job that has a place
 * or waits for one.
 */
// prettier-ignore
export const GROUP_INPUTS = [
  "enters",          // A run or a job asks for a place, and the group takes it as a member.
  "entersAgain",     // A member asks for a place again.
  "entryRefused",    // A run or a job asks for a place, and gets none: it may not wait, or too many members wait.
  "leaves",          // A member leaves, and other members stay.
  "lastLeaves",      // The only member leaves.
  "nonMemberLeaves", // A run or a job leaves that is not a member, or no longer.
] as const;
export type GroupInput = (typeof GROUP_INPUTS)[number];

/** What each input does in each state; for the words `same`, `late` and `never` see transition-table.ts. */
// prettier-ignore
export const GROUP_TRANSITIONS = {
  enters:          { idle: "busy",  busy: "busy" },
  entersAgain:     { idle: "never", busy: "same" },
  entryRefused:    { idle: "never", busy: "late" },
  leaves:          { idle: "never", busy: "busy" },
  lastLeaves:      { idle: "never", busy: "idle" },
  nonMemberLeaves: { idle: "late",  busy: "late" },
} as const satisfies TransitionTable<GroupPhase, GroupInput>;
