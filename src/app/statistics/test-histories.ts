/** What a run adds to the histories of its pipeline's tests. Pure. */
import type { TestCase } from "../../domain/notes/notes.ts";
import type { TestHistory, TestResult } from "../../stores/ports/statistics.ts";

/** Results that are kept of a test: the newest. */
export const KEPT_RESULTS = 20;

/** What a run tells of a test. */
export interface TestOfRun extends Pick<
  TestHistory,
  "pipelineId" | "testId" | "job" | "step" | "suite" | "name" | "file" | "line"
> {
  readonly result: TestResult;
}

/** Of two attempts of a step, the later one counts; a success after a failure makes the test flaky. */
export function laterOf(before: TestCase, found: TestCase): TestCase {
  const isFlaky = before.isFlaky || found.isFlaky || (before.outcome === "failed" && found.outcome === "passed");
  return { ...found, isFlaky };
}

/** The history with the result of one more run; undefined when it has a result of this run. */
export function withResult(
  history: TestHistory | undefined,
  { result: found, ...test }: TestOfRun,
): TestHistory | undefined {
  const before = history?.results ?? [];
  if (before.some(({ runId }) => runId === found.runId)) return undefined;
  const onRevision = before.findLast(({ revision, outcome }) => revision === found.revision && outcome !== "skipped");
  const hasRecovered = found.outcome === "passed" && onRevision?.outcome === "failed";
  const results = [...before, { ...found, isFlaky: found.isFlaky || hasRecovered }].slice(-KEPT_RESULTS);
  const judged = results.filter(({ outcome }) => outcome !== "skipped");
  const lastSuccess = judged.findLastIndex(({ outcome }) => outcome === "passed");
  return {
    ...test,
    results,
    flaky: results.filter(({ isFlaky }) => isFlaky).length,
    failing: judged.length - lastSuccess - 1,
    meanMs: judged.length === 0 ? 0 : Math.round(sumOf(judged) / judged.length),
    seenAt: Math.max(history?.seenAt ?? 0, found.at),
    version: (history?.version ?? 0) + 1,
  };
}

function sumOf(results: readonly TestResult[]): number {
  return results.reduce((sum, { durationMs }) => sum + durationMs, 0);
}
