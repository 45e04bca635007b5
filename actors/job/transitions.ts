/**
 * The job's whole state machine: one attempt of one job. A retry is another job run, so no state is left again.
 *
 *   pending ──▶ waiting ──▶ queued ──▶ running ──▶ success │ failed │ cancelled
 *      │           │          │           └──▶ cancelling ──▶ cancelled │ failed (by its timeout)
 *      │           │          └──▶ failed (queue timeout) │ cancelled
 *      │           └──▶ cancelled (not approved) │ failed (no place to be had)
 *      ├──▶ spread ──▶ success │ failed │ cancelled (as its cells)
 *      └──▶ cancelled │ success, failed (by its condition)
 */
import type { TransitionTable } from "../../src/domain/transition-table.ts";
import type { JobPhase } from "./state.ts";

/**
 * `held`: its stage is open or a need has ended, and something else is still missing; `gated`: only an approval or a place in
 * its group is; `ready`: nothing is. `refused`: it is not approved; `placeDenied`: it gets no place; `gateLate`: it waits for
 * neither (any more).
 * `spread`: nothing is, and its cells can be made; `spreadInVain`: and they cannot. `cells...`: what a cell has told leaves
 * others at work, or was the last word of all.
 * `readyInVain`: and no step of it is to run; `readyBroken`: and what decides that cannot be evaluated.
 * `claimedInVain`: somebody else has it, or it is not to be had now. `waits`: nobody takes it, for another reason than was
 * told before. `...BetweenSteps`: the run is paused and no step is out. `cancelAgain`: a user asks for the end of one that is
 * ending; `cancelInVain`: of one that has not begun, or has ended, or does not run the step that they name. `cleanUp`: it ends, and a step asks to run all the
 * same; `cleanupOver`: that takes too long. `stepLost` and `agentLost` differ in who says so: the step's end, or the watcher of
 * leases; a step that its agent could not start counts as lost.
 */
export const JOB_INPUTS = [
  "held",
  "gated",
  "gateLate",
  "refused",
  "placeDenied",
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
  "cleanUp",
  "cleanupOver",
  "timeoutDone",
  "cancel",
  "cancelBetweenSteps",
  "cancelAgain",
  "cancelInVain",
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
  held:                  { pending: "pending",   waiting: "never",     spread: "never",     queued: "never",     running: "never",      cancelling: "never",      success: "late",  failed: "late",  cancelled: "late" },
  gated:                 { pending: "waiting",   waiting: "waiting",   spread: "never",     queued: "never",     running: "never",      cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  gateLate:              { pending: "late",      waiting: "late",      spread: "late",      queued: "late",      running: "late",       cancelling: "late",       success: "late",  failed: "late",  cancelled: "late" },
  refused:               { pending: "cancelled", waiting: "cancelled", spread: "never",     queued: "never",     running: "never",      cancelling: "never",      success: "never", failed: "never", cancelled: "late" },
  placeDenied:           { pending: "failed",    waiting: "failed",    spread: "never",     queued: "never",     running: "never",      cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  ready:                 { pending: "queued",    waiting: "queued",    spread: "never",     queued: "never",     running: "never",      cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  readyInVain:           { pending: "success",   waiting: "never",     spread: "never",     queued: "never",     running: "never",      cancelling: "never",      success: "never", failed: "never", cancelled: "late" },
  readyBroken:           { pending: "failed",    waiting: "never",     spread: "never",     queued: "never",     running: "never",      cancelling: "never",      success: "never", failed: "never", cancelled: "late" },
  spread:                { pending: "spread",    waiting: "spread",    spread: "never",     queued: "never",     running: "never",      cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  spreadInVain:          { pending: "failed",    waiting: "failed",    spread: "never",     queued: "never",     running: "never",      cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  cellsRemain:           { pending: "never",     waiting: "never",     spread: "spread",    queued: "never",     running: "never",      cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  cellsPassed:           { pending: "never",     waiting: "never",     spread: "success",   queued: "never",     running: "never",      cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  cellsFailed:           { pending: "never",     waiting: "never",     spread: "failed",    queued: "never",     running: "never",      cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  cellsCancelled:        { pending: "never",     waiting: "never",     spread: "cancelled", queued: "never",     running: "never",      cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  upstreamFailed:        { pending: "cancelled", waiting: "cancelled", spread: "never",     queued: "never",     running: "never",      cancelling: "never",      success: "never", failed: "never", cancelled: "late" },
  claimed:               { pending: "never",     waiting: "never",     spread: "never",     queued: "running",   running: "never",      cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  claimedAgain:          { pending: "never",     waiting: "never",     spread: "never",     queued: "never",     running: "same",       cancelling: "late",       success: "late",  failed: "late",  cancelled: "late" },
  claimedInVain:         { pending: "late",      waiting: "late",      spread: "late",      queued: "late",      running: "late",       cancelling: "late",       success: "late",  failed: "late",  cancelled: "late" },
  waits:                 { pending: "late",       waiting: "late",       spread: "late",       queued: "queued",     running: "late",       cancelling: "late",       success: "late",   failed: "late",   cancelled: "late" },
  waitsStill:            { pending: "never",      waiting: "never",      spread: "never",      queued: "same",       running: "never",      cancelling: "never",      success: "never",  failed: "never",  cancelled: "never" },
  stepRetried:           { pending: "never",     waiting: "never",     spread: "never",     queued: "never",     running: "running",    cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  retryDue:              { pending: "queued",    waiting: "never",     spread: "never",     queued: "never",     running: "running",    cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  stepsRemain:           { pending: "never",     waiting: "never",     spread: "never",     queued: "never",     running: "running",    cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  lastStepDone:          { pending: "never",     waiting: "never",     spread: "never",     queued: "never",     running: "success",    cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  stepFailed:            { pending: "never",     waiting: "never",     spread: "never",     queued: "never",     running: "failed",     cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  stepCancelled:         { pending: "never",     waiting: "never",     spread: "never",     queued: "never",     running: "cancelled",  cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  stepLost:              { pending: "never",     waiting: "never",     spread: "never",     queued: "never",     running: "failed",     cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  cancelDone:            { pending: "never",     waiting: "never",     spread: "never",     queued: "never",     running: "never",      cancelling: "cancelled",  success: "never", failed: "never", cancelled: "never" },
  cleanUp:               { pending: "never",     waiting: "never",     spread: "never",     queued: "never",     running: "cancelling", cancelling: "cancelling", success: "never", failed: "never", cancelled: "never" },
  cleanupOver:           { pending: "never",     waiting: "never",     spread: "never",     queued: "never",     running: "never",      cancelling: "cancelling", success: "never", failed: "never", cancelled: "never" },
  timeoutDone:           { pending: "never",     waiting: "never",     spread: "never",     queued: "never",     running: "never",      cancelling: "failed",     success: "never", failed: "never", cancelled: "never" },
  cancel:                { pending: "cancelled", waiting: "cancelled", spread: "spread",    queued: "cancelled", running: "cancelling", cancelling: "cancelling", success: "same",  failed: "same",  cancelled: "same" },
  cancelBetweenSteps:    { pending: "never",     waiting: "never",     spread: "never",     queued: "never",     running: "cancelled",  cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  cancelAgain:           { pending: "never",     waiting: "never",     spread: "never",     queued: "never",     running: "never",      cancelling: "same",       success: "never", failed: "never", cancelled: "never" },
  cancelInVain:          { pending: "late",      waiting: "late",      spread: "late",      queued: "late",      running: "late",       cancelling: "late",       success: "late",  failed: "late",  cancelled: "late" },
  timedOut:              { pending: "never",     waiting: "never",     spread: "never",     queued: "never",     running: "cancelling", cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  timedOutBetweenSteps:  { pending: "never",     waiting: "never",     spread: "never",     queued: "never",     running: "failed",     cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  queueTimedOut:         { pending: "never",     waiting: "never",     spread: "never",     queued: "failed",    running: "never",      cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  staleTimer:            { pending: "late",      waiting: "late",      spread: "late",      queued: "late",      running: "late",       cancelling: "late",       success: "late",  failed: "late",  cancelled: "late" },
  agentLost:             { pending: "never",     waiting: "never",     spread: "never",     queued: "never",     running: "running",    cancelling: "cancelling", success: "late",  failed: "late",  cancelled: "late" },
  agentLostBetweenSteps: { pending: "never",     waiting: "never",     spread: "never",     queued: "never",     running: "failed",     cancelling: "never",      success: "late",  failed: "late",  cancelled: "late" },
  strangerLost:          { pending: "late",      waiting: "late",      spread: "late",      queued: "late",      running: "late",       cancelling: "late",       success: "late",  failed: "late",  cancelled: "late" },
  pause:                 { pending: "pending",   waiting: "waiting",   spread: "spread",    queued: "queued",    running: "running",    cancelling: "same",       success: "same",  failed: "same",  cancelled: "same" },
  resume:                { pending: "pending",   waiting: "waiting",   spread: "spread",    queued: "queued",    running: "running",    cancelling: "same",       success: "same",  failed: "same",  cancelled: "same" },
} as const satisfies TransitionTable<JobPhase, JobInput>;
