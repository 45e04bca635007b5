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
 * `stray` is a report of a grant that is not (or no longer) this step's. `lost` is the agent's own word that it
 * cannot say what became of the step, `notStarted` that it could not start it; `agentLost` is the plane's word. A start is known from the first report or implied
 * by the last one; `startedAgain` is any report of it after that.
 */
export const STEP_INPUTS = [
  "dispatched",
  "started",
  "startedAgain",
  "succeeded",
  "failed",
  "timedOut",
  "endedByCancel",
  "lost",
  "notStarted",
  "stray",
  "cancel",
  "skip",
  "agentLost",
] as const;
export type StepInput = (typeof STEP_INPUTS)[number];

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
  stray:         { pending: "late",    queued: "late",       running: "late",       cancelling: "late",       success: "late",  failed: "late",  cancelled: "late",  timeout: "late",  skipped: "late"  },
  cancel:        { pending: "never",   queued: "cancelling", running: "cancelling", cancelling: "same",       success: "never", failed: "never", cancelled: "never", timeout: "never", skipped: "never" },
  skip:          { pending: "skipped", queued: "never",      running: "never",      cancelling: "never",      success: "never", failed: "never", cancelled: "never", timeout: "never", skipped: "same"  },
  agentLost:     { pending: "never",   queued: "failed",     running: "failed",     cancelling: "cancelled",  success: "never", failed: "never", cancelled: "never", timeout: "never", skipped: "never" },
} as const satisfies TransitionTable<StepPhase, StepInput>;
