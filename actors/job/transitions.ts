/**
 * The job's whole state machine: one attempt of one job. A retry is another job run, so the machine enters no state
 * twice.
 *
 *   pending ──▶ waiting ──▶ queued ──▶ running ──▶ success │ failed │ cancelled
 *      │           │          │           └──▶ cancelling ──▶ cancelled │ failed (by its timeout)
 *      │           │          └──▶ failed (queue timeout) │ cancelled
 *      │           └──▶ cancelled (not approved) │ failed (no place in its group)
 *      ├──▶ spread ──▶ success │ failed │ cancelled (as its cells)
 *      └──▶ cancelled │ success, failed (by its condition)
 */
import type { TransitionTable } from "../../src/domain/transition-table.ts";
import type { JobPhase } from "./state.ts";

/**
 * Each input, and the situation in which `inputOf` (inputs.ts) looks it up. "Between two steps" is a job that an agent
 * holds and that runs no step: the run is paused, or the next attempt of a step waits for its time.
 */
// prettier-ignore
export const JOB_INPUTS = [
  "stillBlocked",          // The stage has opened, or a need or another cell has ended; the job still lacks something, or is not pending.
  "gated",                 // The job lacks only an approval, or a place in its concurrency group.
  "staleGateAnswer",       // An approval, a group or another cell lets a job go on that does not wait for it, or no longer does.
  "notApproved",           // The approval of the job or of its stage was rejected, or has expired.
  "placeDenied",           // The group refuses the job a place, or the name of the group is not valid.
  "ready",                 // The job lacks nothing but an agent.
  "noStepRuns",            // The job could begin, and the conditions of its stage, of the job and of its steps let no step run.
  "conditionFailed",       // The job could begin, and a condition that decides whether it runs cannot be evaluated.
  "spread",                // The job could begin, and the values of its matrix are known now: its cells can be made.
  "cannotSpread",          // The job could begin, and its cells cannot be made: an axis is not a list of values, or the cells are too many.
  "cellsRemain",           // A cell has ended or makes another attempt, and at least one cell has not ended.
  "cellsPassed",           // The last cell has ended, and all cells have succeeded.
  "cellsFailed",           // The last cell has ended, and at least one cell has failed.
  "cellsCancelled",        // The last cell has ended, no cell has failed, and not all of them have succeeded.
  "upstreamFailed",        // A job before this one has failed, and no condition lets this job run after a failure.
  "claimed",               // A gateway claims the queued job for an agent.
  "claimedAgain",          // A gateway repeats the claim that the job has granted.
  "claimRefused",          // A gateway claims a job that was granted to another claim, or that is paused or not queued.
  "waitChanged",           // The queue watcher says why no agent takes the job, and the reason is new; or the job is not queued.
  "waitUnchanged",         // The queue watcher says why no agent takes the job, and the reason is known; or the run is paused.
  "stepRetried",           // A step has failed or timed out, and its retry rules ask for another attempt.
  "retryDue",              // The wait before the next attempt of a step, or of the job, is over.
  "stepsRemain",           // A step has ended, and another step is to run.
  "lastStepDone",          // A step has ended, no other step is to run, and the job has succeeded.
  "stepFailed",            // A step has ended, no other step is to run, and the job has failed.
  "stepCancelled",         // The step that runs was cancelled, and the job was not.
  "stepLost",              // The step that runs says that its agent is lost, has lost the step, or could not start it.
  "cancelDone",            // The job was cancelled, its step has ended, and no cleanup step is to run.
  "cleanUp",               // The job is to end, no step runs, and the condition of a later step still lets that step run.
  "cleanupOver",           // The cleanup steps have run for too long, or a user cancels the cleanup step that runs.
  "timeoutDone",           // The job has timed out, its step has ended, and no cleanup step is to run.
  "cancel",                // The run, the group or a user asks to end the job, and the job is not between two steps.
  "cancelBetweenSteps",    // The run, the group or a user asks to end the job between two steps, and no cleanup step is to run.
  "cancelAgain",           // A user asks to end a job that is already ending.
  "cancelRefused",         // A user asks to end a job whose stage has not opened or that has ended, or a step that does not run.
  "updated",               // A user changes the priority or the metadata of a step of the job that is not dispatched.
  "updateRefused",         // A user changes a step that is dispatched or has ended, the priority of a job with an agent, or a matrix that is not spread.
  "timedOut",              // The timeout of the job has passed while a step runs.
  "timedOutBetweenSteps",  // The timeout of the job has passed between two steps, and no cleanup step is to run.
  "queueTimedOut",         // The queue timeout has passed: no agent has taken the job.
  "staleTimer",            // A timer fires that the job has since replaced or cleared.
  "agentLost",             // The lease watcher or a gateway says that the job's agent is lost, while a step runs.
  "agentLostBetweenSteps", // The lease watcher or a gateway says that the job's agent is lost, between two steps.
  "otherAgentLost",        // The agent that is lost does not hold the job, or held it under another boot id.
  "pause",                 // The run pauses.
  "resume",                // The run resumes.
] as const;
export type JobInput = (typeof JOB_INPUTS)[number];

/** What each input does in each state; for the words `same`, `late` and `never` see transition-table.ts. */
// prettier-ignore
export const JOB_TRANSITIONS = {
  stillBlocked:          { pending: "pending",   waiting: "never",     spread: "never",     queued: "never",     running: "never",      cancelling: "never",      success: "late",  failed: "late",  cancelled: "late"  },
  gated:                 { pending: "waiting",   waiting: "waiting",   spread: "never",     queued: "never",     running: "never",      cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  staleGateAnswer:       { pending: "late",      waiting: "late",      spread: "late",      queued: "late",      running: "late",       cancelling: "late",       success: "late",  failed: "late",  cancelled: "late"  },
  notApproved:           { pending: "cancelled", waiting: "cancelled", spread: "never",     queued: "never",     running: "never",      cancelling: "never",      success: "never", failed: "never", cancelled: "late"  },
  placeDenied:           { pending: "failed",    waiting: "failed",    spread: "never",     queued: "never",     running: "never",      cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  ready:                 { pending: "queued",    waiting: "queued",    spread: "never",     queued: "never",     running: "never",      cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  noStepRuns:            { pending: "success",   waiting: "never",     spread: "never",     queued: "never",     running: "never",      cancelling: "never",      success: "never", failed: "never", cancelled: "late"  },
  conditionFailed:       { pending: "failed",    waiting: "never",     spread: "never",     queued: "never",     running: "never",      cancelling: "never",      success: "never", failed: "never", cancelled: "late"  },
  spread:                { pending: "spread",    waiting: "spread",    spread: "never",     queued: "never",     running: "never",      cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  cannotSpread:          { pending: "failed",    waiting: "failed",    spread: "never",     queued: "never",     running: "never",      cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  cellsRemain:           { pending: "never",     waiting: "never",     spread: "spread",    queued: "never",     running: "never",      cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  cellsPassed:           { pending: "never",     waiting: "never",     spread: "success",   queued: "never",     running: "never",      cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  cellsFailed:           { pending: "never",     waiting: "never",     spread: "failed",    queued: "never",     running: "never",      cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  cellsCancelled:        { pending: "never",     waiting: "never",     spread: "cancelled", queued: "never",     running: "never",      cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  upstreamFailed:        { pending: "cancelled", waiting: "cancelled", spread: "never",     queued: "never",     running: "never",      cancelling: "never",      success: "never", failed: "never", cancelled: "late"  },
  claimed:               { pending: "never",     waiting: "never",     spread: "never",     queued: "running",   running: "never",      cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  claimedAgain:          { pending: "never",     waiting: "never",     spread: "never",     queued: "never",     running: "same",       cancelling: "late",       success: "late",  failed: "late",  cancelled: "late"  },
  claimRefused:          { pending: "late",      waiting: "late",      spread: "late",      queued: "late",      running: "late",       cancelling: "late",       success: "late",  failed: "late",  cancelled: "late"  },
  waitChanged:           { pending: "late",      waiting: "late",      spread: "late",      queued: "queued",    running: "late",       cancelling: "late",       success: "late",  failed: "late",  cancelled: "late"  },
  waitUnchanged:         { pending: "never",     waiting: "never",     spread: "never",     queued: "same",      running: "never",      cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
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
  cancel:                { pending: "cancelled", waiting: "cancelled", spread: "spread",    queued: "cancelled", running: "cancelling", cancelling: "cancelling", success: "same",  failed: "same",  cancelled: "same"  },
  cancelBetweenSteps:    { pending: "never",     waiting: "never",     spread: "never",     queued: "never",     running: "cancelled",  cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  cancelAgain:           { pending: "never",     waiting: "never",     spread: "never",     queued: "never",     running: "never",      cancelling: "same",       success: "never", failed: "never", cancelled: "never" },
  cancelRefused:         { pending: "late",      waiting: "late",      spread: "late",      queued: "late",      running: "late",       cancelling: "late",       success: "late",  failed: "late",  cancelled: "late"  },
  updated:               { pending: "pending",   waiting: "waiting",   spread: "never",     queued: "queued",    running: "running",    cancelling: "cancelling", success: "never", failed: "never", cancelled: "never" },
  updateRefused:         { pending: "late",      waiting: "late",      spread: "late",      queued: "late",      running: "late",       cancelling: "late",       success: "late",  failed: "late",  cancelled: "late"  },
  timedOut:              { pending: "never",     waiting: "never",     spread: "never",     queued: "never",     running: "cancelling", cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  timedOutBetweenSteps:  { pending: "never",     waiting: "never",     spread: "never",     queued: "never",     running: "failed",     cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  queueTimedOut:         { pending: "never",     waiting: "never",     spread: "never",     queued: "failed",    running: "never",      cancelling: "never",      success: "never", failed: "never", cancelled: "never" },
  staleTimer:            { pending: "late",      waiting: "late",      spread: "late",      queued: "late",      running: "late",       cancelling: "late",       success: "late",  failed: "late",  cancelled: "late"  },
  agentLost:             { pending: "never",     waiting: "never",     spread: "never",     queued: "never",     running: "running",    cancelling: "cancelling", success: "late",  failed: "late",  cancelled: "late"  },
  agentLostBetweenSteps: { pending: "never",     waiting: "never",     spread: "never",     queued: "never",     running: "failed",     cancelling: "never",      success: "late",  failed: "late",  cancelled: "late"  },
  otherAgentLost:        { pending: "late",      waiting: "late",      spread: "late",      queued: "late",      running: "late",       cancelling: "late",       success: "late",  failed: "late",  cancelled: "late"  },
  pause:                 { pending: "pending",   waiting: "waiting",   spread: "spread",    queued: "queued",    running: "running",    cancelling: "same",       success: "same",  failed: "same",  cancelled: "same"  },
  resume:                { pending: "pending",   waiting: "waiting",   spread: "spread",    queued: "queued",    running: "running",    cancelling: "same",       success: "same",  failed: "same",  cancelled: "same"  },
} as const satisfies TransitionTable<JobPhase, JobInput>;
