/** Counts of the tests of a run and of its jobs, from the overviews of the steps' test reports. */
import type { StepState } from "../../../actors/step/state.ts";
import type { JobRunId, RunId, StepRunId } from "../../domain/ids.ts";
import { addCounts, NO_TESTS, type TestCounts, type TestOverview } from "../../domain/notes/notes.ts";
import type { RunPlan } from "../../domain/plan.ts";
import type { WithStores } from "../context.ts";
import { loopShare } from "../loop-share.ts";
import { shape, wholeNumber } from "../shapes.ts";

/** Overviews that are read in one piece. */
const READ_AT_ONCE = 500;

export const testCountFields = () => ({
  total: wholeNumber,
  failed: wholeNumber,
  skipped: wholeNumber,
  /** Tests that have failed and passed in the same step. */
  flaky: wholeNumber,
  /** The time of all test cases together, milliseconds. */
  durationMs: wholeNumber,
});

export const TestCountsShape = shape("TestCounts", testCountFields);

/** Counts by step run and fencing token. */
export type CountsByStep = ReadonlyMap<string, TestCounts>;

export function declaresTests({ jobs }: RunPlan): boolean {
  return jobs.some(({ steps }) => steps.some(({ hasTests }) => hasTests === true));
}

/** The counts of all steps of the run, those of stale agents too. */
export async function readTestCounts({ stores }: WithStores<"notes">, runId: RunId): Promise<CountsByStep> {
  const places = await stores.notes.placesOf(runId, "tests");
  const counts = new Map<string, TestCounts>();
  for (let at = 0; at < places.length; at += READ_AT_ONCE) {
    await loopShare.enter();
    for (const { stepRunId, token, body } of await stores.notes.find(places.slice(at, at + READ_AT_ONCE))) {
      const { total, failed, skipped, flaky, durationMs } = JSON.parse(body) as TestOverview;
      counts.set(keyOf(stepRunId, token), { total, failed, skipped, flaky, durationMs });
    }
  }
  return counts;
}

/**
 * The counts of each job that has some, of the newest attempts of its steps. A reused step has none: its tests are with the
 * run that ran it.
 */
export function testsByJob(
  steps: readonly StepState[],
  counts: CountsByStep,
  isSuperseded: (stepRunId: StepRunId) => boolean,
): ReadonlyMap<JobRunId, TestCounts> {
  const sums = new Map<JobRunId, TestCounts>();
  for (const { stepRunId, jobId, grant, reusedFrom } of steps) {
    if (grant === null || reusedFrom !== null || isSuperseded(stepRunId)) continue;
    const found = counts.get(keyOf(stepRunId, grant.token));
    if (found !== undefined) sums.set(jobId, addCounts(sums.get(jobId) ?? NO_TESTS, found));
  }
  return sums;
}

/** Null when there are none. */
export function sumOfTests(all: Iterable<TestCounts | undefined>): TestCounts | null {
  let sum: TestCounts | null = null;
  for (const one of all) if (one !== undefined) sum = addCounts(sum ?? NO_TESTS, one);
  return sum;
}

function keyOf(stepRunId: StepRunId, token: number): string {
  return `${stepRunId}/${token}`;
}
