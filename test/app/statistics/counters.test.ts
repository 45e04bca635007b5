import { expect } from "chai";
import fc from "fast-check";
import { addSample, distributionOf, type Sample, together } from "../../../src/app/statistics/counters.ts";
import type { Counters } from "../../../src/stores/ports/statistics.ts";

const sample = (durationMs: number | null, more: Partial<Sample> = {}): Sample => {
  return { result: "success", flaky: false, durationMs, waits: {}, ...more };
};

function withSample(counters: Counters, added: Sample): Counters {
  const sum = { ...counters };
  addSample(sum, added);
  return sum;
}

describe("counters of statistics", () => {
  it("give quantiles that are at most 5 % off", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 20, max: 30 * 86_400_000 }), { minLength: 1, maxLength: 100 }), (all) => {
        const sorted = all.toSorted((a, b) => a - b);
        const found = distributionOf(
          all.reduce((counters, ms) => withSample(counters, sample(ms)), {}),
          "duration",
        )!;
        expect(found.count).to.equal(all.length);
        for (const [share, value] of [
          [0.5, found.p50],
          [0.95, found.p95],
        ] as const) {
          const exact = sorted[Math.ceil(all.length * share) - 1]!;
          expect(Math.abs(value - exact)).to.be.at.most(exact * 0.05 + 0.5);
        }
      }),
    );
  });

  it("of several days add up to those of all samples", () => {
    const samples = [sample(3, { waits: { agent: 7, plan: null } }), sample(null, { result: "failed" }), sample(0)];
    const all = samples.reduce(withSample, {} as Counters);
    expect(together(samples.map((one) => withSample({}, one)))).to.deep.equal(all);
    expect(all).to.include({ success: 2, failed: 1 });
    expect(distributionOf(all, "duration")!.count).to.equal(2);
    expect(distributionOf(all, "agent")).to.deep.equal({ count: 1, p50: 7, p95: 7 });
    expect(distributionOf(all, "plan")).to.equal(null);
  });
});
