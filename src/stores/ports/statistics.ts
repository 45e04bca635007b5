/**
 * The ports of statistics: counters of what has ended, by pipeline, name of the job and day, and how each test of a pipeline
 * has ended in the newest runs that ran it. Ended runs wait in the store until they are counted, so nothing is lost when a
 * node ends.
 */
import type { PipelineId, RunId } from "../../domain/ids.ts";
import type { TestOutcome } from "../../domain/notes/notes.ts";

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

/** How a test has ended in one run. */
export interface TestResult {
  readonly runId: RunId;
  /** When the run has ended, Unix milliseconds. */
  readonly at: number;
  readonly outcome: TestOutcome;
  /** True when it passed after a failure on the same revision. */
  readonly isFlaky: boolean;
  readonly durationMs: number;
  /** Stands for the revision of the definition and the commit. */
  readonly revision: string;
}

/** What identifies a test within its pipeline. */
export interface TestIdentity {
  /** The names of the job and the step. */
  readonly job: string;
  readonly step: string;
  readonly suite: string;
  readonly name: string;
}

export interface TestHistory extends TestIdentity {
  readonly pipelineId: PipelineId;
  /** Follows from the {@link TestIdentity}. */
  readonly testId: string;
  /** As the newest report has it; empty for none. */
  readonly file: string;
  /** 0 for none. */
  readonly line: number;
  /** The oldest first. */
  readonly results: readonly TestResult[];
  /** How many of the results are flaky. */
  readonly flaky: number;
  /** How many of the newest results are failures without a success between them. */
  readonly failing: number;
  /** The mean time of the results that were not skipped. */
  readonly meanMs: number;
  /** When the newest run with the test has ended, Unix milliseconds. */
  readonly seenAt: number;
  /** From 1; grows by one with each change. */
  readonly version: number;
}

export const TEST_ORDERS = ["flaky", "failing", "slowest"] as const;
export type TestOrder = (typeof TEST_ORDERS)[number];

/** The figure of each order. */
export const ORDER_FIGURES = { flaky: "flaky", failing: "failing", slowest: "meanMs" } as const satisfies Readonly<
  Record<TestOrder, keyof TestHistory>
>;

export interface TestPageRequest {
  /** Tests whose figure of this order is above 0, the largest first; of equal ones that with the larger id first. */
  readonly order: TestOrder;
  /** The place of the last test of the page before: its figure and its id. */
  readonly after?: { readonly at: number; readonly id: string } | undefined;
  readonly limit: number;
}

export interface TestHistoryStore {
  /** Those that are stored, in no particular order. */
  find(pipelineId: PipelineId, testIds: readonly string[]): Promise<readonly TestHistory[]>;
  /**
   * Stores each history whose version follows the stored one, or is 1 when none is stored. Answers whether all were stored;
   * the caller reads again those that were not.
   */
  put(histories: readonly TestHistory[]): Promise<boolean>;
  list(pipelineId: PipelineId, request: TestPageRequest): Promise<readonly TestHistory[]>;
  /** Deletes what the pipeline has beyond `most` tests, first those not seen for longest. */
  trim(pipelineId: PipelineId, most: number): Promise<void>;
  /** Deletes tests that were seen last before this time, at most `limit`; answers how many. */
  forget(before: number, limit: number): Promise<number>;
  /** Deletes all of a pipeline. */
  drop(pipelineId: PipelineId): Promise<void>;
}
