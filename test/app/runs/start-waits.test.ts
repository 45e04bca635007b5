import { expect } from "chai";
import { startWaitsOf } from "../../../src/app/runs/start-waits.ts";
import { planOf } from "../../support/plans.ts";
import { AGENT, SimulatedRun } from "../../support/simulated-run.ts";

/** The waits that the turn of `act` measures, `ms` milliseconds later. */
function measure(run: SimulatedRun, ms: number, act: () => unknown): readonly (readonly [string, number])[] {
  const before = new Map(run.actors);
  run.now += ms;
  act();
  return startWaitsOf([...run.last!.changed.values()], before).map(({ wait, ms: took }) => [wait, took] as const);
}

describe("the start waits that a save measures", () => {
  it("are the waits that end with the save, and no others", () => {
    const run = new SimulatedRun(planOf([[{ steps: 2 }]]));
    expect(measure(run, 3, () => run.start())).to.deep.equal([["plan", 10]]);
    expect(measure(run, 20, () => run.claim(0))).to.deep.equal([["agent", 20]]);
    expect(
      measure(run, 1, () => run.claim(0)),
      "a repeat",
    ).to.deep.equal([]);
    expect(measure(run, 4, () => run.report(0, 0, "started"))).to.deep.equal([
      ["start", 5],
      ["total", 35],
    ]);
    expect(measure(run, 9, () => run.report(0, 0, "succeeded"))).to.deep.equal([]);
    expect(
      measure(run, 6, () => run.report(0, 1, "started")),
      "a later step",
    ).to.deep.equal([["start", 6]]);
  });

  it("include a start that only a final report implies", () => {
    const run = new SimulatedRun(planOf([[{}]])).start();
    run.claim(0);
    expect(measure(run, 50, () => run.report(0, 0, "succeeded", { durationMs: 40 }))).to.deep.equal([
      ["start", 10],
      ["total", 17],
    ]);
  });

  it("have no total for jobs that waited for other jobs, a pause or a lost agent", () => {
    const run = new SimulatedRun(planOf([[{}, { needs: [0] }, {}]])).start();
    const started = (job: number, attempt = 1) =>
      measure(run, 1, () => run.report(job, 0, "started", { jobAttempt: attempt }));
    run.now += 1;
    run.command("pause");
    run.command("resume");
    run.claim(2);
    expect(started(2)).to.deep.equal([["start", 1]]);
    run.tellJob(2, { type: "agentLost", agentId: AGENT, bootId: "boot-1", reason: "" });
    expect(measure(run, 30, () => run.claim(2, 2))).to.deep.equal([["agent", 30]]);
    expect(started(2, 2)).to.deep.equal([["start", 1]]);
    run.runJob(0);
    run.claim(1);
    expect(started(1)).to.deep.equal([["start", 1]]);
  });

  it("are empty for a job that ends without a start", () => {
    const run = new SimulatedRun(planOf([[{}, { needs: [0] }]]));
    expect(measure(run, 1, () => run.command("stop"))).to.deep.equal([]);
  });
});
