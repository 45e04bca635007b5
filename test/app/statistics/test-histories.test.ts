import { expect } from "chai";
import { KEPT_RESULTS, laterOf, type TestOfRun, withResult } from "../../../src/app/statistics/test-histories.ts";
import { asId, newId, type RunId } from "../../../src/domain/ids.ts";
import type { TestCase, TestOutcome } from "../../../src/domain/notes/notes.ts";
import type { TestHistory, TestResult } from "../../../src/stores/ports/statistics.ts";

describe("the history of a test", () => {
  const place = { pipelineId: newId("pl"), testId: "t", job: "j", step: "s", suite: "", name: "n", file: "", line: 0 };
  let runs = 0;
  const ofRun = (outcome: TestOutcome, revision = "r1", change: Partial<TestResult> = {}): TestOfRun => ({
    ...place,
    result: {
      runId: asId<RunId>(`run_${++runs}`),
      at: runs,
      outcome,
      isFlaky: false,
      durationMs: 10,
      revision,
      ...change,
    },
  });
  const historyOf = (...tests: readonly TestOfRun[]): TestHistory =>
    tests.reduce<TestHistory | undefined>((history, test) => withResult(history, test), undefined)!;
  const marks = ({ results }: TestHistory) => results.map(({ isFlaky }) => isFlaky);

  it("is flaky when the test passes after a failure on the same revision", () => {
    const history = historyOf(ofRun("failed"), ofRun("failed", "r2"), ofRun("passed", "r2"), ofRun("passed"));
    expect([marks(history), history.flaky, history.failing]).to.deep.equal([[false, false, true, true], 2, 0]);
  });

  it("is not flaky when a change of the revision mends or breaks the test, nor twice for one failure", () => {
    expect(historyOf(ofRun("failed"), ofRun("passed", "r2"), ofRun("failed", "r3")).flaky).to.equal(0);
    expect(marks(historyOf(ofRun("failed"), ofRun("passed"), ofRun("passed")))).to.deep.equal([false, true, false]);
    expect(historyOf(ofRun("failed"), ofRun("skipped"), ofRun("passed")).flaky, "a skip between").to.equal(1);
  });

  it("counts the newest failures in a row, and the mean time, without skipped results", () => {
    const skipped = ofRun("skipped", "r4", { durationMs: 0 });
    const last = ofRun("failed", "r5", { durationMs: 40 });
    const history = historyOf(ofRun("failed", "r1"), ofRun("passed", "r2"), ofRun("failed", "r3"), skipped, last);
    expect([history.failing, history.meanMs, history.version]).to.deep.equal([2, 18, 5]);
    expect(historyOf(skipped)).to.deep.include({ failing: 0, meanMs: 0, flaky: 0 });
  });

  it("has one result of each run, and forgets the oldest", () => {
    const first = ofRun("failed");
    const before = historyOf(first);
    expect(withResult(before, first)).to.equal(undefined);
    const many = historyOf(first, ...Array.from({ length: KEPT_RESULTS }, () => ofRun("passed", "r2")));
    expect(many.results).to.have.length(KEPT_RESULTS);
    expect(many.results[0]!.runId).not.to.equal(first.result.runId);
  });

  it("takes the later of two attempts of a step, which is flaky when it passes after a failure", () => {
    const found: TestCase = { ...place, outcome: "passed", isFlaky: false, durationMs: 1, message: "" };
    const failed: TestCase = { ...found, outcome: "failed" };
    expect(laterOf(failed, found)).to.include({ outcome: "passed", isFlaky: true });
    expect(laterOf(found, failed)).to.include({ outcome: "failed", isFlaky: false });
    expect(laterOf({ ...found, isFlaky: true }, failed).isFlaky).to.equal(true);
  });
});
