/** The port that removes all records of a run. */
import type { ApprovalId, JobRunId, RunId, StepRunId } from "../../domain/ids.ts";

/** A settled run with the ids of its jobs, steps and approvals. The caller reads them from the run's snapshot. */
export interface RunRecords {
  readonly runId: RunId;
  readonly jobIds: readonly JobRunId[];
  readonly stepRunIds: readonly StepRunId[];
  readonly approvalIds: readonly ApprovalId[];
}

/**
 * Removes the snapshot first, so that no reader sees half a run, and then its look-ups, plan, events, outputs, notes, logs,
 * agent events and unanswered commands. A repeat with the same ids finishes a removal that was cut off, and changes
 * nothing else.
 */
export type RemoveRun = (run: RunRecords) => Promise<void>;
