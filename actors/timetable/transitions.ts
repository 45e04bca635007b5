/**
 * The timetable's whole state machine.
 *
 *   empty ◀──▶ reading ◀──▶ known
 */
import type { TransitionTable } from "../../src/domain/transition-table.ts";
import type { TimetablePhase } from "./state.ts";

/** Each input, and the situation in which `inputOf` (decide.ts) looks it up. */
// prettier-ignore
export const TIMETABLE_INPUTS = [
  "changed",    // The definition changes or has changed, or its pipeline is deleted.
  "read",       // The newest reading has found cron triggers.
  "readNone",   // The newest reading has found none.
  "staleRead",  // A reading is answered that is not the newest one, or that was answered before.
  "lookAgain",  // It is time to read the definition once more.
  "staleTimer", // It is not.
] as const;
export type TimetableInput = (typeof TIMETABLE_INPUTS)[number];

/** What each input does in each state; for the words `same`, `late` and `never` see transition-table.ts. */
// prettier-ignore
export const TIMETABLE_TRANSITIONS = {
  changed:    { empty: "reading", reading: "reading", known: "reading" },
  read:       { empty: "never",   reading: "known",   known: "never" },
  readNone:   { empty: "never",   reading: "empty",   known: "never" },
  staleRead:  { empty: "late",    reading: "late",    known: "late" },
  lookAgain:  { empty: "reading", reading: "reading", known: "reading" },
  staleTimer: { empty: "late",    reading: "late",    known: "late" },
} as const satisfies TransitionTable<TimetablePhase, TimetableInput>;
