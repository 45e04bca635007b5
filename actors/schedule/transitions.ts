/**
 * The schedule's whole state machine.
 *
 *   absent ──▶ active ◀──▶ paused
 *     ▲          │            │
 *     └── leaving ◀───────────┘
 */
import type { TransitionTable } from "../../src/domain/transition-table.ts";
import type { SchedulePhase } from "./state.ts";

/** Each input, and the situation in which `inputOf` (decide.ts) looks it up. A time is pending until its run is created or refused. */
// prettier-ignore
export const SCHEDULE_INPUTS = [
  "defined",       // The timetable brings the trigger as a newer definition has it.
  "withdrawn",     // A newer definition has no such trigger, and no time is pending.
  "withdrawnBusy", // The same, and a time is pending.
  "staleOrder",    // The timetable tells what an older definition says.
  "due",           // A time is due, or the jitter of one is over.
  "lastDue",       // The same, and no time is pending after it.
  "staleTimer",    // Nothing is due.
  "answered",      // The pending time has its run or was refused.
  "lastAnswered",  // The same, and no other time is pending.
  "staleAnswer",   // The answer is about a time that is not pending.
  "runEnded",      // A run of the schedule has ended.
  "otherRunEnded", // A run has ended that the schedule does not know, or no longer.
  "pause",         // A user pauses the schedule.
  "resume",        // A user resumes the schedule.
] as const;
export type ScheduleInput = (typeof SCHEDULE_INPUTS)[number];

/** What each input does in each state; for the words `same`, `late` and `never` see transition-table.ts. */
// prettier-ignore
export const SCHEDULE_TRANSITIONS = {
  defined:       { absent: "active", active: "active",  paused: "paused",  leaving: "active" },
  withdrawn:     { absent: "late",   active: "absent",  paused: "absent",  leaving: "never" },
  withdrawnBusy: { absent: "never",  active: "leaving", paused: "leaving", leaving: "leaving" },
  staleOrder:    { absent: "late",   active: "late",    paused: "late",    leaving: "late" },
  due:           { absent: "never",  active: "active",  paused: "paused",  leaving: "leaving" },
  lastDue:       { absent: "never",  active: "active",  paused: "paused",  leaving: "absent" },
  staleTimer:    { absent: "late",   active: "late",    paused: "late",    leaving: "late" },
  answered:      { absent: "never",  active: "active",  paused: "paused",  leaving: "leaving" },
  lastAnswered:  { absent: "never",  active: "active",  paused: "paused",  leaving: "absent" },
  staleAnswer:   { absent: "late",   active: "late",    paused: "late",    leaving: "late" },
  runEnded:      { absent: "absent", active: "active",  paused: "paused",  leaving: "leaving" },
  otherRunEnded: { absent: "late",   active: "late",    paused: "late",    leaving: "late" },
  pause:         { absent: "late",   active: "paused",  paused: "late",    leaving: "late" },
  resume:        { absent: "late",   active: "late",    paused: "active",  leaving: "late" },
} as const satisfies TransitionTable<SchedulePhase, ScheduleInput>;
