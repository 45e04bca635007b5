/**
 * The job's whole state machine: one attempt of one job. A retry is another job run, so no state is left again.
 *
 *   pending ──▶ queued ──▶ running ──▶ success │ failed │ cancelled
 *      │          │           └──▶ cancelling ──▶ cancelled │ failed (by its timeout)
 *      │          └──▶ failed (queue timeout) │ cancelled
 *      ├──▶ spread ──▶ success │ failed │ cancelled (as its cells)
 *      └──▶ cancelled │ success, failed (by its condition)
 */
import type { TransitionTable } from "../../src/domain/transition-table.ts";
import type { JobPhase } from "./state.ts";

/**
 * `held`: its stage is open or a need has ended, and something else is still missing; `ready`: nothing is.
 * `spread`: nothing is, and its cells can be made; `spreadInVain`: and they cannot. `cells...`: what a cell has told leaves
 * others at work, or was the last word of all.
 * `readyInVain`: and no step of it is to run; `readyBroken`: and what decides that cannot be evaluated.
 * `claimedInVain`: somebody else has it, or it is not to be had now. `waits`: nobody takes it, for another
 * reason than was told before. `...BetweenSteps`: the run is paused and no step
 * is out. `stepLost` and `agentLost` differ in who says so: the step's end, or the watcher of leases; a step that its agent
 * could not start counts as lost.
 */
export const JOB_INPUTS = [
  "held",
  "ready",
  "readyInVain",
  "readyBroken",
  "spread",
  "spreadInVain",
  "cellsRemain",
  "cellsPassed",
  "cellsFailed",
  "cellsCancelled",
  "upstreamFailed",
  "claimed",
  "claimedAgain",
  "claimedInVain",
  "waits",
  "waitsStill",
  "stepRetried",
  "retryDue",
  "stepsRemain",
  "lastStepDone",
  "stepFailed",
  "stepCancelled",
  "stepLost",
  "cancelDone",
  "timeoutDone",
  "cancel",
  "cancelBetweenSteps",
  "timedOut",
  "timedOutBetweenSteps",
  "queueTimedOut",
  "staleTimer",
  "agentLost",
  "agentLostBetweenSteps",
  "strangerLost",
  "pause",
  "resume",
] as const;
export type JobInput = (typeof JOB_INPUTS)[number];

// prettier-ignore
export const JOB_TRANSITIONS = {
  held:                  { pending: "pending",   spread: "never",   queued: "never",     running: "never",      cancelling: "never",      success: "late",  failed: "late",  cancelled: "late"  },
  ready:                 { pending: "queued",    spread: "never",   queued: "never",     running: "never",      cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  readyInVain:           { pending: "success",   spread: "never",   queued: "never",     running: "never",      cancelling: "never",      success: "never", failed: "never", cancelled: "late"  },
  readyBroken:           { pending: "failed",    spread: "never",   queued: "never",     running: "never",      cancelling: "never",      success: "never", failed: "never", cancelled: "late"  },
  spread:                { pending: "spread", spread: "never", queued: "never", running: "never", cancelling: "never", success: "never", failed: "never", cancelled: "never" },
  spreadInVain:          { pending: "failed", spread: "never", queued: "never", running: "never", cancelling: "never", success: "never", failed: "never", cancelled: "never" },
  cellsRemain:           { pending: "never", spread: "spread", queued: "never", running: "never", cancelling: "never", success: "never", failed: "never", cancelled: "never" },
  cellsPassed:           { pending: "never", spread: "success", queued: "never", running: "never", cancelling: "never", success: "never", failed: "never", cancelled: "never" },
  cellsFailed:           { pending: "never", spread: "failed", queued: "never", running: "never", cancelling: "never", success: "never", failed: "never", cancelled: "never" },
  cellsCancelled:        { pending: "never", spread: "cancelled", queued: "never", running: "never", cancelling: "never", success: "never", failed: "never", cancelled: "never" },
  upstreamFailed:        { pending: "cancelled", spread: "never",   queued: "never",     running: "never",      cancelling: "never",      success: "never", failed: "never", cancelled: "late"  },
  claimed:               { pending: "never",     spread: "never",   queued: "running",   running: "never",      cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  claimedAgain:          { pending: "never",     spread: "never",   queued: "never",     running: "same",       cancelling: "late",       success: "late",  failed: "late",  cancelled: "late"  },
  claimedInVain:         { pending: "late",      spread: "late",    queued: "late",      running: "late",       cancelling: "late",       success: "late",  failed: "late",  cancelled: "late"  },
  waits:                 { pending: "late",      spread: "late",    queued: "queued",    running: "late",       cancelling: "late",       success: "late",  failed: "late",  cancelled: "late"  },
  waitsStill:            { pending: "never",     spread: "never",   queued: "same",      running: "never",      cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  stepRetried:           { pending: "never",     spread: "never",   queued: "never",     running: "running",    cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  retryDue:              { pending: "queued",    spread: "never",   queued: "never",     running: "running",    cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  stepsRemain:           { pending: "never",     spread: "never",   queued: "never",     running: "running",    cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  lastStepDone:          { pending: "never",     spread: "never",   queued: "never",     running: "success",    cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  stepFailed:            { pending: "never",     spread: "never",   queued: "never",     running: "failed",     cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  stepCancelled:         { pending: "never",     spread: "never",   queued: "never",     running: "cancelled",  cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  stepLost:              { pending: "never",     spread: "never",   queued: "never",     running: "failed",     cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  cancelDone:            { pending: "never",     spread: "never",   queued: "never",     running: "never",      cancelling: "cancelled",  success: "never", failed: "never", cancelled: "never" },
  timeoutDone:           { pending: "never",     spread: "never",   queued: "never",     running: "never",      cancelling: "failed",     success: "never", failed: "never", cancelled: "never" },
  cancel:                { pending: "cancelled", spread: "spread",  queued: "cancelled", running: "cancelling", cancelling: "cancelling", success: "same",  failed: "same",  cancelled: "same"  },
  cancelBetweenSteps:    { pending: "never",     spread: "never",   queued: "never",     running: "cancelled",  cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  timedOut:              { pending: "never",     spread: "never",   queued: "never",     running: "cancelling", cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  timedOutBetweenSteps:  { pending: "never",     spread: "never",   queued: "never",     running: "failed",     cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  queueTimedOut:         { pending: "never",     spread: "never",   queued: "failed",    running: "never",      cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  staleTimer:            { pending: "late",      spread: "late",    queued: "late",      running: "late",       cancelling: "late",       success: "late",  failed: "late",  cancelled: "late"  },
  agentLost:             { pending: "never",     spread: "never",   queued: "never",     running: "running",    cancelling: "cancelling", success: "late",  failed: "late",  cancelled: "late"  },
  agentLostBetweenSteps: { pending: "never",     spread: "never",   queued: "never",     running: "failed",     cancelling: "never",      success: "late",  failed: "late",  cancelled: "late"  },
  strangerLost:          { pending: "late",      spread: "late",    queued: "late",      running: "late",       cancelling: "late",       success: "late",  failed: "late",  cancelled: "late"  },
  pause:                 { pending: "pending",   spread: "spread",  queued: "queued",    running: "running",    cancelling: "same",       success: "same",  failed: "same",  cancelled: "same"  },
  resume:                { pending: "pending",   spread: "spread",  queued: "queued",    running: "running",    cancelling: "same",       success: "same",  failed: "same",  cancelled: "same"  },
} as const satisfies TransitionTable<JobPhase, JobInput>;
