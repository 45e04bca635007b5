/** Runs at the limits of a definition: the work of each turn grows with the run, and not with its square. */
import { expect } from "chai";
import { LIMITS } from "../../src/definition/schema/limits.ts";
import { LargeRun } from "../support/large-runs.ts";
import { largeShapes } from "../support/large-run-shapes.ts";
import { WorkMeter } from "../support/work-meter.ts";

/**
 * Hashes and reads that a turn may cost for each actor of the run, each message that it decides and eight needs. Most
 * shapes cost 2 to 10; one more search through the jobs for each job would cost hundreds.
 */
const WORK_OF_ONE = 24;

interface TurnCounts {
  readonly decided: number;
  readonly read: number;
}

describe("a run at the limits of a definition", function () {
  this.timeout(60_000);

  for (const { name, plan, play, end } of largeShapes({ steps: 1_250, needs: 15_625 })) {
    it(`takes no turn whose work is quadratic: ${name}`, () => {
      const meter = new WorkMeter();
      const planned = meter.counted(plan());
      const size = planned.jobs.reduce(
        (sum, { steps, cells, needs }) => sum + 1 + needs.length / 8 + steps.length * (cells ? 1_024 : 1),
        1,
      );
      const run = meter.countHashes(() => {
        const taken = new LargeRun(planned, (_, turn) => {
          const from = meter.work;
          meter.limit = from + 10 * WORK_OF_ONE * LIMITS.steps;
          const result = turn();
          const { decided, read } = result as { decided?: number; read?: number };
          meter.limit = Infinity;
          const work = meter.work - from + (read ?? 0);
          expect(work).to.be.at.most(WORK_OF_ONE * (size + (decided ?? 0)));
          return result;
        });
        play(taken);
        return taken;
      });
      expect(run.undecided).to.deep.equal([]);
      expect(run.run.state).to.equal(end);
    });
  }

  /** The most that `of` answers for a turn of this shape. */
  function most(name: string, needs: number, of: (turn: TurnCounts) => number): number {
    const shape = largeShapes({ steps: 1_250, needs }).find((found) => found.name === name)!;
    let highest = 0;
    const run = new LargeRun(shape.plan(), (_, turn) => {
      const result = turn();
      const { decided, read } = result as Partial<TurnCounts>;
      if (decided !== undefined && read !== undefined) highest = Math.max(highest, of({ decided, read }));
      return result;
    });
    shape.play(run);
    return highest;
  }

  it("reads a need once in a turn, however many jobs ask whether it was cancelled", () => {
    expect(most("many needs, all fail", 40_000, ({ decided, read }) => read / decided)).to.be.below(2);
  });

  it("takes no other message in a turn that has decided 2,000", () => {
    // One message more costs another few decisions.
    for (const name of ["wide stage, all retried", "wide stage, all fail"]) {
      expect(most(name, 0, ({ decided }) => decided)).to.be.within(1_500, 2_010);
    }
  });
});
