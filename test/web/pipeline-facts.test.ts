/** What the page of a pipeline tells of its runs and of its definition. */
import { expect } from "chai";
import { readEvents } from "../../web/src/pipeline/events.ts";
import { type EndedRun, trendOf } from "../../web/src/pipeline/trend.ts";

/** Runs as the API lists them, the newest first, of durations that begin with the oldest; a text is a failure. */
function runs(durations: readonly (number | "failed")[]): readonly EndedRun[] {
  return durations
    .map((one, at) => ({
      runId: `run_${at}`,
      status: one === "failed" ? "failed" : "success",
      duration: one === "failed" ? 5 : one,
    }))
    .toReversed();
}

const times = (n: number, duration: number): readonly number[] => Array.from({ length: n }, () => duration);

describe("the trend of the runs of a pipeline", () => {
  it("compares the last successful runs with those before, and counts failures in both", () => {
    const { change, failures } = trendOf(runs([...times(10, 100), ...times(4, 150), "failed", ...times(6, 150)]));
    expect(change).to.deep.equal({ runs: 10, median: 150, percent: 50 });
    expect(failures).to.deep.equal({ runs: 10, now: 1, before: 0 });
    expect(trendOf(runs([...times(5, 200), ...times(5, 100)])).change?.percent).to.equal(-50);
  });

  it("draws a median of successful runs alone, the oldest first", () => {
    const { points } = trendOf(runs(["failed", 10, 30, "failed", 20]));
    expect(points.map(({ median }) => median)).to.deep.equal([null, 10, 10, 10, 20]);
    expect(points.map(({ runId }) => runId)).to.deep.equal(["run_0", "run_1", "run_2", "run_3", "run_4"]);
  });

  it("says nothing of too few runs, and leaves room for the others beside one that took very long", () => {
    const few = trendOf(runs([1, 2, 3]));
    expect([few.change, few.failures]).to.deep.equal([null, null]);
    expect(few.most).to.equal(3);
    expect(trendOf(runs([...times(9, 10), 100_000])).most).to.equal(60);
    expect(trendOf([]).points).to.deep.equal([]);
  });
});

describe("the event triggers of a definition", () => {
  it("are read in both spellings of a filter, and of the key", () => {
    const event = [
      { provider: "github", event: "push", branches: ["main"], paths: { include: ["src/**"], exclude: ["docs/**"] } },
      { provider: "generic", event: "built", when: "trigger.ok == true" },
    ];
    const expected = [
      {
        provider: "github",
        event: "push",
        filters: [
          { name: "branches", only: ["main"], except: [] },
          { name: "paths", only: ["src/**"], except: ["docs/**"] },
        ],
      },
      { provider: "generic", event: "built", filters: [{ name: "when", only: ["trigger.ok == true"], except: [] }] },
    ];
    for (const key of ["triggers", "Triggers"]) expect(readEvents({ [key]: { event } })).to.deep.equal(expected);
  });

  it("are none where a definition has none", () => {
    for (const spec of [undefined, null, {}, { triggers: {} }, { triggers: { event: "push" } }]) {
      expect(readEvents(spec)).to.deep.equal([]);
    }
  });
});
