/** The end of a run's records. */
import type { ApprovalId, JobRunId, RunId, StepRunId } from "../../domain/ids.ts";

/** A run that is settled, with the ids of all that it consists of: whoever removes it has them from its snapshot. */
export interface RunRecords {
  readonly runId: RunId;
  readonly jobIds: readonly JobRunId[];
  readonly stepRunIds: readonly StepRunId[];
  readonly approvalIds: readonly ApprovalId[];
}

/**
 * Removes the snapshot first, so that nobody sees half a run, and then its look-ups, plan, events, outputs, logs, what
 * agents have told of it, and unanswered commands. A repeat with the same ids finishes what was cut off, and changes nothing else.
 */
export type RemoveRun = (run: RunRecords) => Promise<void>;
