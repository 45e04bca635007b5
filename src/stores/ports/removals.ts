/**
 * The port of removals: a record for each run that is removed. It is stored before anything of the run is removed, so
 * that a removal that was cut off can be finished. After the removal the record stays for a time, so that a repeat of
 * the call that created the run does not create it again.
 */
import type { ApprovalId, JobRunId, RunId, StepRunId } from "../../domain/ids.ts";

/** A settled run with the ids of its jobs, steps and approvals. The caller reads them from the run's snapshot. */
export interface RunRecords {
  readonly runId: RunId;
  readonly jobIds: readonly JobRunId[];
  readonly stepRunIds: readonly StepRunId[];
  readonly approvalIds: readonly ApprovalId[];
}

/**
 * Removes the snapshot first, so that no reader sees half a run, and then its look-ups, plan, events, outputs, notes, images, logs,
 * agent events and unanswered commands. A repeat with the same ids finishes a removal that was cut off, and changes
 * nothing else.
 */
export type RemoveRun = (run: RunRecords) => Promise<void>;

export interface Removal extends RunRecords {
  /** Unix milliseconds. */
  readonly at: number;
  /** True for a run that reruns another one. Its record stays until that other run is removed too. */
  readonly isRepeat: boolean;
  /**
   * The idempotency key of the claim for the run's rerun, which is removed with the run; and the rerun, or the run
   * itself if none.
   */
  readonly succession: { readonly key: string; readonly runId: RunId };
}

export interface RemovalStore {
  /** Stores the record of a removal that begins. A repeat changes nothing. */
  begin(removal: Removal): Promise<void>;
  /** Removals that began and are not finished, in no particular order. */
  unfinished(limit: number): Promise<readonly Removal[]>;
  /**
   * `removal` is null once the removal is finished. Undefined when the run was never removed, or its record is
   * forgotten.
   */
  find(runId: RunId): Promise<{ readonly removal: Removal | null } | undefined>;
  /** Marks the removal as finished. The record keeps only the fact that the run was removed. */
  finish(runId: RunId): Promise<void>;
  /**
   * Removes at most `limit` records of finished removals that began before `before`, except those of reruns; answers
   * how many.
   */
  forget(before: number, limit: number): Promise<number>;
  /** Removes one record. Changes nothing when it is missing. */
  drop(runId: RunId): Promise<void>;
}
