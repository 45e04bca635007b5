/**
 * When the start of a step is reported. A step that ends before needs only one report, because the report of an end implies
 * the start. The delay is too short for a user to notice, and the report says since when the step has run.
 */

const ALONE_MS = 20;
/** Steps that run beside others take longer, and the report of a start costs the control plane a save of the step. */
const BESIDE_ANOTHER_MS = 2;
const LONGEST_MS = 200;

/** Milliseconds from the start of a step to its report. `running`: steps that the agent runs, this one among them. */
export function startReportDelayMs(running: number): number {
  return Math.min(LONGEST_MS, ALONE_MS + BESIDE_ANOTHER_MS * (running - 1));
}
