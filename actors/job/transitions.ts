/**
 * The job's whole state machine: one attempt of one job. A retry is another job run, so no state is left again.
 *
 *   pending ──▶ queued ──▶ running ──▶ success │ failed │ cancelled
 *      │          │           └──▶ cancelling ──▶ cancelled │ failed (by its timeout)
 *      │          └──▶ failed (queue timeout) │ cancelled
 *      └──▶ cancelled │ success, failed (by its condition)
 */
import type { TransitionTable } from "../../src/domain/transition-table.ts";
import type { JobPhase } from "./state.ts";

/**
 * `held`: its stage is open or a need has ended, and something else is still missing; `ready`: nothing is.
 * `readyInVain`: and no step of it is to run; `readyBroken`: and what decides that cannot be evaluated.
 * `claimedInVain`: somebody else has it, or it is not to be had now. `...BetweenSteps`: the run is paused and no step
 * is out. `stepLost` and `agentLost` differ in who says so: the step's end, or the watcher of leases.
 */
export const JOB_INPUTS = [
  "held",
  "ready",
  "readyInVain",
  "readyBroken",
  "upstreamFailed",
  "claimed",
  "claimedAgain",
  "claimedInVain",
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
  held:                  { pending: "pending",   queued: "never",     running: "never",      cancelling: "never",      success: "late",  failed: "late",  cancelled: "late"  },
  ready:                 { pending: "queued",    queued: "never",     running: "never",      cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  readyInVain:           { pending: "success",   queued: "never",     running: "never",      cancelling: "never",      success: "never", failed: "never", cancelled: "late"  },
  readyBroken:           { pending: "failed",    queued: "never",     running: "never",      cancelling: "never",      success: "never", failed: "never", cancelled: "late"  },
  upstreamFailed:        { pending: "cancelled", queued: "never",     running: "never",      cancelling: "never",      success: "never", failed: "never", cancelled: "late"  },
  claimed:               { pending: "never",     queued: "running",   running: "never",      cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  claimedAgain:          { pending: "never",     queued: "never",     running: "same",       cancelling: "late",       success: "late",  failed: "late",  cancelled: "late"  },
  claimedInVain:         { pending: "late",      queued: "late",      running: "late",       cancelling: "late",       success: "late",  failed: "late",  cancelled: "late"  },
  stepRetried:           { pending: "never",     queued: "never",     running: "running",    cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  retryDue:              { pending: "queued",    queued: "never",     running: "running",    cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  stepsRemain:           { pending: "never",     queued: "never",     running: "running",    cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  lastStepDone:          { pending: "never",     queued: "never",     running: "success",    cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  stepFailed:            { pending: "never",     queued: "never",     running: "failed",     cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  stepCancelled:         { pending: "never",     queued: "never",     running: "cancelled",  cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  stepLost:              { pending: "never",     queued: "never",     running: "failed",     cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  cancelDone:            { pending: "never",     queued: "never",     running: "never",      cancelling: "cancelled",  success: "never", failed: "never", cancelled: "never" },
  timeoutDone:           { pending: "never",     queued: "never",     running: "never",      cancelling: "failed",     success: "never", failed: "never", cancelled: "never" },
  cancel:                { pending: "cancelled", queued: "cancelled", running: "cancelling", cancelling: "cancelling", success: "same",  failed: "same",  cancelled: "same"  },
  cancelBetweenSteps:    { pending: "never",     queued: "never",     running: "cancelled",  cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  timedOut:              { pending: "never",     queued: "never",     running: "cancelling", cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  timedOutBetweenSteps:  { pending: "never",     queued: "never",     running: "failed",     cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  queueTimedOut:         { pending: "never",     queued: "failed",    running: "never",      cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  staleTimer:            { pending: "late",      queued: "late",      running: "late",       cancelling: "late",       success: "late",  failed: "late",  cancelled: "late"  },
  agentLost:             { pending: "never",     queued: "never",     running: "running",    cancelling: "cancelling", success: "late",  failed: "late",  cancelled: "late"  },
  agentLostBetweenSteps: { pending: "never",     queued: "never",     running: "failed",     cancelling: "never",      success: "late",  failed: "late",  cancelled: "late"  },
  strangerLost:          { pending: "late",      queued: "late",      running: "late",       cancelling: "late",       success: "late",  failed: "late",  cancelled: "late"  },
  pause:                 { pending: "pending",   queued: "queued",    running: "running",    cancelling: "same",       success: "same",  failed: "same",  cancelled: "same"  },
  resume:                { pending: "pending",   queued: "queued",    running: "running",    cancelling: "same",       success: "same",  failed: "same",  cancelled: "same"  },
} as const satisfies TransitionTable<JobPhase, JobInput>;
