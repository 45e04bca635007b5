/**
 * The run's whole state machine.
 *
 *   pending ──▶ running ◀──▶ paused
 *      │          │             │
 *      │          ├─────────────┴──▶ success │ failed │ partial
 *      └──────────┴──▶ stopping ──▶ cancelled │ failed (by the pipeline's timeout)
 */
import type { TransitionTable } from "../../src/domain/transition-table.ts";
import type { RunPhase } from "./state.ts";

/**
 * Each input, and the situation in which `inputOf` (decide.ts) looks it up. A command in a state that does not allow it
 * is `late`: the run answers that it is refused, with the run's status.
 */
// prettier-ignore
export const RUN_INPUTS = [
  "start",              // The start timer fires, and the run needs no place in a group.
  "placeNeeded",        // The start timer fires, and the run needs a place in its group first.
  "approvalNeeded",     // The start timer fires, and the run needs an approval first.
  "approved",           // The approval of the run was given, and the run needs no place in a group.
  "approvedToEnter",    // The approval of the run was given, and the run needs a place in its group.
  "notApproved",        // The approval of the run was rejected, or has expired.
  "placed",             // The group gives the run a place.
  "superseded",         // The group ends the run, because a newer run takes its place.
  "placeRefused",       // The group refuses the run a place.
  "jobPlaceAnswered",   // The group of one of the run's jobs answers; the run passes the answer on to the job.
  "stageApprovalEnded", // The approval of the next stage was given or rejected, or has expired.
  "jobEnded",           // A job has ended, and other jobs of the run have not.
  "jobRetried",         // A job has lost its agent or could not start a step, and makes another attempt.
  "allSucceeded",       // The last job has ended, and no job counts as failed.
  "someFailed",         // The last job has ended, and at least one job counts as failed.
  "onlyTolerated",      // The last job has ended, and only jobs with `continueOnError` have failed.
  "stopDone",           // The last job of a run that was stopped has ended.
  "timeoutDone",        // The last job of a run that has timed out has ended.
  "stop",               // A user stops the run.
  "pause",              // A user pauses the run.
  "resume",             // A user resumes the run.
  "eventsPushed",       // A gateway has stored events of a step that its agent runs, and the log of the run takes some of them.
  "eventsKnown",        // A gateway says that events of a step are stored, and the log of the run has all of them.
  "eventsRefused",      // A gateway has stored events of a step that the agent does not run any more, or that the log of the run has no room for.
  "timedOut",           // The timeout of the pipeline has passed.
  "staleTimer",         // A timer fires that the run has since replaced or cleared.
] as const;
export type RunInput = (typeof RUN_INPUTS)[number];

/** What each input does in each state; for the words `same`, `late` and `never` see transition-table.ts. */
// prettier-ignore
export const RUN_TRANSITIONS = {
  start:              { pending: "running",  running: "never",    paused: "never",    stopping: "never",     success: "never", failed: "never", cancelled: "never", partial: "never" },
  placeNeeded:        { pending: "pending",  running: "never",    paused: "never",    stopping: "never",     success: "never", failed: "never", cancelled: "never", partial: "never" },
  approvalNeeded:     { pending: "pending",  running: "never",    paused: "never",    stopping: "never",     success: "never", failed: "never", cancelled: "never", partial: "never" },
  approved:           { pending: "running",  running: "never",    paused: "never",    stopping: "late",      success: "never", failed: "never", cancelled: "never", partial: "never" },
  approvedToEnter:    { pending: "pending",  running: "never",    paused: "never",    stopping: "late",      success: "never", failed: "never", cancelled: "never", partial: "never" },
  notApproved:        { pending: "stopping", running: "never",    paused: "never",    stopping: "late",      success: "never", failed: "never", cancelled: "never", partial: "never" },
  placed:             { pending: "running",  running: "late",     paused: "late",     stopping: "late",      success: "late",  failed: "late",  cancelled: "late",  partial: "late"  },
  superseded:         { pending: "stopping", running: "stopping", paused: "stopping", stopping: "late",      success: "late",  failed: "late",  cancelled: "late",  partial: "late"  },
  placeRefused:       { pending: "stopping", running: "late",     paused: "late",     stopping: "late",      success: "late",  failed: "late",  cancelled: "late",  partial: "late"  },
  jobPlaceAnswered:   { pending: "never",    running: "running",  paused: "paused",   stopping: "stopping",  success: "late",  failed: "late",  cancelled: "late",  partial: "late"  },
  stageApprovalEnded: { pending: "never",    running: "running",  paused: "paused",   stopping: "late",      success: "never", failed: "never", cancelled: "never", partial: "never" },
  jobEnded:           { pending: "never",    running: "running",  paused: "paused",   stopping: "stopping",  success: "never", failed: "never", cancelled: "never", partial: "never" },
  jobRetried:         { pending: "never",    running: "running",  paused: "paused",   stopping: "never",     success: "never", failed: "never", cancelled: "never", partial: "never" },
  allSucceeded:       { pending: "never",    running: "success",  paused: "success",  stopping: "never",     success: "never", failed: "never", cancelled: "never", partial: "never" },
  someFailed:         { pending: "never",    running: "failed",   paused: "failed",   stopping: "never",     success: "never", failed: "never", cancelled: "never", partial: "never" },
  onlyTolerated:      { pending: "never",    running: "partial",  paused: "partial",  stopping: "never",     success: "never", failed: "never", cancelled: "never", partial: "never" },
  stopDone:           { pending: "never",    running: "never",    paused: "never",    stopping: "cancelled", success: "never", failed: "never", cancelled: "never", partial: "never" },
  timeoutDone:        { pending: "never",    running: "never",    paused: "never",    stopping: "failed",    success: "never", failed: "never", cancelled: "never", partial: "never" },
  stop:               { pending: "stopping", running: "stopping", paused: "stopping", stopping: "stopping",  success: "late",  failed: "late",  cancelled: "late",  partial: "late"  },
  pause:              { pending: "late",     running: "paused",   paused: "late",     stopping: "late",      success: "late",  failed: "late",  cancelled: "late",  partial: "late"  },
  resume:             { pending: "late",     running: "late",     paused: "running",  stopping: "late",      success: "late",  failed: "late",  cancelled: "late",  partial: "late"  },
  eventsPushed:       { pending: "never",    running: "running",  paused: "paused",   stopping: "stopping",  success: "never", failed: "never", cancelled: "never", partial: "never" },
  eventsKnown:        { pending: "same",     running: "same",     paused: "same",     stopping: "same",      success: "same",  failed: "same",  cancelled: "same",  partial: "same"  },
  eventsRefused:      { pending: "late",     running: "late",     paused: "late",     stopping: "late",      success: "late",  failed: "late",  cancelled: "late",  partial: "late"  },
  timedOut:           { pending: "never",    running: "stopping", paused: "stopping", stopping: "never",     success: "never", failed: "never", cancelled: "never", partial: "never" },
  staleTimer:         { pending: "late",     running: "late",     paused: "late",     stopping: "late",      success: "late",  failed: "late",  cancelled: "late",  partial: "late"  },
} as const satisfies TransitionTable<RunPhase, RunInput>;
