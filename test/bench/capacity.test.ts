/** The model of capacity. How near it is to measured runs, `npm run capacity` shows. */
import { readFileSync } from "node:fs";
import { expect } from "chai";
import { capacityFor, costOf, FIGURES, fitCosts, type Load, type MeasuredRun } from "../../bench/capacity/model.ts";

const RECORD = new URL("../../bench/history/run-costs.json", import.meta.url);
/** Figures that other programs on the machine do not change, and how far the model may be from them. */
const EXACT = [
  ["storeCalls", 0.25],
  ["bytes", 0.25],
] as const;

const run = (shape: Pick<MeasuredRun, "jobs" | "steps" | "lines">): MeasuredRun => {
  const cost = 5 + 3 * shape.jobs + 2 * shape.steps + 0.5 * shape.lines;
  return {
    ...shape,
    nodeMs: cost,
    redisMs: cost / 10,
    storeCalls: cost * 2,
    redisCalls: cost,
    bytes: cost * 1_000,
  };
};
const measured = [
  run({ jobs: 1, steps: 1, lines: 0 }),
  run({ jobs: 1, steps: 12, lines: 0 }),
  run({ jobs: 8, steps: 8, lines: 0 }),
  run({ jobs: 1, steps: 1, lines: 1_000 }),
] as const;
const load: Load = {
  runsPerDay: 864_000,
  jobs: 2,
  steps: 6,
  lines: 100,
  agents: 3_001,
  peak: 2,
  waiting: 1_000,
  keepRunsDays: 10,
  keepLogsDays: 20,
  storeCallsPerSecond: 10_000,
};

describe("the model of capacity", () => {
  it("finds the parts that measured runs consist of, and answers for runs of other shapes", () => {
    const costs = fitCosts(measured);
    expect(costs.nodeMs).to.deep.equal({ run: 5, job: 3, step: 2, line: 0.5 });
    for (const figure of FIGURES) {
      const other = run({ jobs: 4, steps: 12, lines: 600 });
      expect(costOf(costs, figure, other), figure).to.be.closeTo(other[figure], 1e-6);
    }
  });

  it("takes no part as negative, whatever noise a measurement had", () => {
    const noisy = { ...measured[1], nodeMs: measured[0].nodeMs - 1 };
    const { nodeMs } = fitCosts([measured[0], noisy, measured[2], measured[3]]);
    expect(nodeMs.step).to.equal(0);
    expect(Math.min(nodeMs.run, nodeMs.job)).to.be.at.least(0);
  });

  it("counts pieces for the peak, and names the part of which one carries least", () => {
    const capacity = capacityFor(load, fitCosts(measured));
    // 20 runs/s of 5 + 6 + 12 + 50 = 73 ms, with 600 ms of a core each second.
    expect(capacity.runsPerSecond).to.equal(20);
    expect(capacity.linesPerSecond).to.equal(2_000);
    const needed = Object.fromEntries(capacity.parts.map((part) => [part.name, part.needed]));
    expect(needed).to.deep.equal({
      "nodes of all roles": 3,
      "gateways, for the agents": 3,
      "masters of Redis": 1,
      "replica sets of MongoDB": 1,
    });
    expect(capacity.firstLimit).to.equal("nodes of all roles");
    expect(capacity.runBytes).to.equal(864_000 * 10 * 23_000);
    expect(capacity.logBytes, "logs go with their runs").to.equal(864_000 * 10 * 500 * 100);
    expect(capacity.shards).to.equal(64);
    expect(capacityFor({ ...load, runsPerDay: 86_400_000 }, fitCosts(measured)).shards).to.equal(1_024);
  });

  it("is near the measured runs that it was not fitted to", () => {
    const record = JSON.parse(readFileSync(RECORD, "utf8")) as { costs: (MeasuredRun & { store: string })[] };
    for (const store of ["sqlite", "mongodb"]) {
      const runs = record.costs
        .filter((cost) => cost.store === store)
        .map((cost) => ({ ...cost, steps: cost.jobs * cost.steps, lines: cost.jobs * cost.steps * cost.lines }));
      const costs = fitCosts(runs.slice(0, 4) as unknown as Parameters<typeof fitCosts>[0]);
      expect(runs.length - 4, "checks").to.be.at.least(2);
      for (const other of runs.slice(4)) {
        for (const [figure, share] of EXACT) {
          const text = `${figure} of ${other.jobs} jobs and ${other.steps} steps on ${store}`;
          expect(costOf(costs, figure, other), text).to.be.closeTo(other[figure], share * other[figure]);
        }
      }
    }
  });
});
