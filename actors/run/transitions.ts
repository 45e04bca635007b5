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
 * `grouped`: it is to start, and needs a place in its group first. `jobEnded` when others have not; `all...`, `some...`,
 * `only...` and `...Done` when it was the last one. `gateEnded`: the approval of a stage. `superseded` and `placeRefused` come from
 * the group and end the run as a stop does; `jobPlace` speaks of the group of a job. A command in a state that does not
 * allow it is `late`: answered as refused, with the status that stood in its way.
 */
export const RUN_INPUTS = [
  "start",
  "grouped",
  "placed",
  "superseded",
  "placeRefused",
  "jobPlace",
  "gateEnded",
  "jobEnded",
  "jobRetried",
  "allSucceeded",
  "someFailed",
  "onlyTolerated",
  "stopDone",
  "timeoutDone",
  "stop",
  "pause",
  "resume",
  "timedOut",
  "staleTimer",
] as const;
export type RunInput = (typeof RUN_INPUTS)[number];

// prettier-ignore
export const RUN_TRANSITIONS = {
  start:         { pending: "running",  running: "never",    paused: "never",    stopping: "never",     success: "never", failed: "never", cancelled: "never", partial: "never" },
  grouped:       { pending: "pending",  running: "never",    paused: "never",    stopping: "never",     success: "never", failed: "never", cancelled: "never", partial: "never" },
  placed:        { pending: "running",  running: "late",     paused: "late",     stopping: "late",      success: "late",  failed: "late",  cancelled: "late",  partial: "late"  },
  superseded:    { pending: "stopping", running: "stopping", paused: "stopping", stopping: "late",      success: "late",  failed: "late",  cancelled: "late",  partial: "late"  },
  placeRefused:  { pending: "stopping", running: "late",     paused: "late",     stopping: "late",      success: "late",  failed: "late",  cancelled: "late",  partial: "late"  },
  jobPlace:      { pending: "never",    running: "running",  paused: "paused",   stopping: "stopping",  success: "late",  failed: "late",  cancelled: "late",  partial: "late"  },
  gateEnded:     { pending: "never",    running: "running",  paused: "paused",   stopping: "late",      success: "never", failed: "never", cancelled: "never", partial: "never" },
  jobEnded:      { pending: "never",    running: "running",  paused: "paused",   stopping: "stopping",  success: "never", failed: "never", cancelled: "never", partial: "never" },
  jobRetried:    { pending: "never",    running: "running",  paused: "paused",   stopping: "never",     success: "never", failed: "never", cancelled: "never", partial: "never" },
  allSucceeded:  { pending: "never",    running: "success",  paused: "success",  stopping: "never",     success: "never", failed: "never", cancelled: "never", partial: "never" },
  someFailed:    { pending: "never",    running: "failed",   paused: "failed",   stopping: "never",     success: "never", failed: "never", cancelled: "never", partial: "never" },
  onlyTolerated: { pending: "never",    running: "partial",  paused: "partial",  stopping: "never",     success: "never", failed: "never", cancelled: "never", partial: "never" },
  stopDone:      { pending: "never",    running: "never",    paused: "never",    stopping: "cancelled", success: "never", failed: "never", cancelled: "never", partial: "never" },
  timeoutDone:   { pending: "never",    running: "never",    paused: "never",    stopping: "failed",    success: "never", failed: "never", cancelled: "never", partial: "never" },
  stop:          { pending: "stopping", running: "stopping", paused: "stopping", stopping: "stopping",  success: "late",  failed: "late",  cancelled: "late",  partial: "late"  },
  pause:         { pending: "late",     running: "paused",   paused: "late",     stopping: "late",      success: "late",  failed: "late",  cancelled: "late",  partial: "late"  },
  resume:        { pending: "late",     running: "late",     paused: "running",  stopping: "late",      success: "late",  failed: "late",  cancelled: "late",  partial: "late"  },
  timedOut:      { pending: "never",    running: "stopping", paused: "stopping", stopping: "never",     success: "never", failed: "never", cancelled: "never", partial: "never" },
  staleTimer:    { pending: "late",     running: "late",     paused: "late",     stopping: "late",      success: "late",  failed: "late",  cancelled: "late",  partial: "late"  },
} as const satisfies TransitionTable<RunPhase, RunInput>;
