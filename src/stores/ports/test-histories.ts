/**
 * The port of test histories: how each test of a pipeline has ended in the newest runs that ran it, with the figures by which
 * tests are listed.
 */
import type { PipelineId, RunId } from "../../domain/ids.ts";
import type { TestOutcome } from "../../domain/notes.ts";

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
