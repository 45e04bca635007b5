/**
 * The port of statistics: counters of what has ended, by pipeline, name of the job and day. Ended runs wait in the store
 * until they are counted, so nothing is lost when a node ends.
 */
import type { PipelineId, RunId } from "../../domain/ids.ts";

/** What is counted together. The job with an empty name is the run itself. */
export interface CountedOf {
  readonly pipelineId: PipelineId;
  readonly job: string;
}

/** Counters by name. A name has no dot and no dollar sign. */
export type Counters = Readonly<Record<string, number>>;

export interface DayCounters extends CountedOf {
  /** Days since 1970 in UTC. */
  readonly day: number;
  readonly counters: Counters;
}

/** Revisions on which the newest end was a failure, the newest last. */
export interface FailingRevisions extends CountedOf {
  readonly revisions: readonly string[];
}

/** What some ended runs add. */
export interface Addition {
  readonly runIds: readonly RunId[];
  readonly counters: readonly DayCounters[];
  /** These take the place of what is stored. */
  readonly failing: readonly FailingRevisions[];
}

export interface StatisticsStore {
  /** Runs that have ended and are not counted, in the order of their ends. */
  uncounted(limit: number): Promise<readonly RunId[]>;
  /** What is stored for these; what is missing has none. */
  failing(of: readonly CountedOf[]): Promise<readonly FailingRevisions[]>;
  /**
   * Adds the counters and marks the runs as counted, both or nothing, also when the process is killed: then it is done or
   * undone before the next call stores anything. False, and nothing is added, when one of the runs is counted already.
   */
  add(addition: Addition): Promise<boolean>;
  /** The counters of a pipeline from one day to another, both included, by day. */
  read(pipelineId: PipelineId, from: number, to: number): Promise<readonly DayCounters[]>;
  /** Deletes counters of days before this one, at most `limit`; answers how many. */
  forget(before: number, limit: number): Promise<number>;
  /** Deletes all of a pipeline. */
  drop(pipelineId: PipelineId): Promise<void>;
}
