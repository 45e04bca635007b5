/**
 * The step's whole state machine.
 *
 *   pending ──▶ queued ──▶ running ──▶ success │ failed │ timeout │ cancelled
 *      │           └──────────┴──▶ cancelling ──▶ any of these
 *      └──▶ skipped
 *
 * A final report in `queued` implies the start, so every end is reachable from there.
 */
import type { TransitionTable } from "../../src/domain/transition-table.ts";
import type { StepPhase } from "./state.ts";

/**
 * Each input, and the situation in which `inputOf` (decide.ts) looks it up. A "report" comes from the agent that holds
 * the step.
 */
// prettier-ignore
export const STEP_INPUTS = [
  "dispatched",    // The job hands the step to the agent that holds the job.
  "started",       // The first report of the step says that it has started.
  "startedAgain",  // A report says that the step has started, and the step knows it already.
  "succeeded",     // The final report says that the step has succeeded.
  "failed",        // The final report says that the step has failed.
  "timedOut",      // The final report says that the step has timed out.
  "endedByCancel", // The final report says that the step has ended because it was cancelled.
  "lost",          // The final report says that the agent cannot tell what became of the step.
  "notStarted",    // The final report says that the agent could not start the step.
  "staleReport",   // A report names another agent or another fencing token than the step's grant.
  "cancel",        // The job asks to end the step.
  "skip",          // The job will not run the step.
  "described",     // The job passes on the metadata that a user has set.
  "eventsLogged",  // The run takes events of the step, which the agent has pushed, into its log.
  "agentLost",     // The job says that its agent is lost: the control plane has declared the loss, not the agent.
] as const;
export type StepInput = (typeof STEP_INPUTS)[number];

/** What each input does in each state; for the words `same`, `late` and `never` see transition-table.ts. */
// prettier-ignore
export const STEP_TRANSITIONS = {
  dispatched:    { pending: "queued",  queued: "same",       running: "same",       cancelling: "same",       success: "late",  failed: "late",  cancelled: "late",  timeout: "late",  skipped: "never" },
  started:       { pending: "never",   queued: "running",    running: "never",      cancelling: "cancelling", success: "late",  failed: "late",  cancelled: "late",  timeout: "late",  skipped: "never" },
  startedAgain:  { pending: "never",   queued: "never",      running: "same",       cancelling: "same",       success: "late",  failed: "late",  cancelled: "late",  timeout: "late",  skipped: "never" },
  succeeded:     { pending: "never",   queued: "success",    running: "success",    cancelling: "success",    success: "late",  failed: "late",  cancelled: "late",  timeout: "late",  skipped: "never" },
  failed:        { pending: "never",   queued: "failed",     running: "failed",     cancelling: "failed",     success: "late",  failed: "late",  cancelled: "late",  timeout: "late",  skipped: "never" },
  timedOut:      { pending: "never",   queued: "timeout",    running: "timeout",    cancelling: "timeout",    success: "late",  failed: "late",  cancelled: "late",  timeout: "late",  skipped: "never" },
  endedByCancel: { pending: "never",   queued: "cancelled",  running: "cancelled",  cancelling: "cancelled",  success: "late",  failed: "late",  cancelled: "late",  timeout: "late",  skipped: "never" },
  lost:          { pending: "never",   queued: "failed",     running: "failed",     cancelling: "cancelled",  success: "late",  failed: "late",  cancelled: "late",  timeout: "late",  skipped: "never" },
  notStarted:    { pending: "never",   queued: "failed",     running: "failed",     cancelling: "cancelled",  success: "late",  failed: "late",  cancelled: "late",  timeout: "late",  skipped: "never" },
  staleReport:   { pending: "late",    queued: "late",       running: "late",       cancelling: "late",       success: "late",  failed: "late",  cancelled: "late",  timeout: "late",  skipped: "late"  },
  cancel:        { pending: "never",   queued: "cancelling", running: "cancelling", cancelling: "same",       success: "never", failed: "never", cancelled: "never", timeout: "never", skipped: "never" },
  skip:          { pending: "skipped", queued: "never",      running: "never",      cancelling: "never",      success: "never", failed: "never", cancelled: "never", timeout: "never", skipped: "same"  },
  described:     { pending: "pending", queued: "never",      running: "never",      cancelling: "never",      success: "never", failed: "never", cancelled: "never", timeout: "never", skipped: "never" },
  eventsLogged:  { pending: "never",   queued: "queued",     running: "running",    cancelling: "cancelling", success: "never", failed: "never", cancelled: "never", timeout: "never", skipped: "never" },
  agentLost:     { pending: "never",   queued: "failed",     running: "failed",     cancelling: "cancelled",  success: "never", failed: "never", cancelled: "never", timeout: "never", skipped: "never" },
} as const satisfies TransitionTable<StepPhase, StepInput>;
