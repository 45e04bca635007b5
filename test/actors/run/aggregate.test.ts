import { expect } from "chai";
import { waitsOf } from "../../../actors/run/aggregate.ts";
import { planOf, retryOf } from "../../support/plans.ts";
import { AGENT, SimulatedRun } from "../../support/simulated-run.ts";

const LINUX = { matchLabels: [["os", "linux"]] as const, matchExpressions: [] };

describe("what a run without a bound job waits for", () => {
  const waits = (run: SimulatedRun) =>
    waitsOf(
      run.run,
      run.jobs().map((state) => ({ kind: "job" as const, state })),
      run.plan,
    );

  it("is the agent of the job that has been queued longest", () => {
    const run = new SimulatedRun(planOf([[{ selector: LINUX }, {}]])).start();
    expect(waits(run)).to.deep.equal({ reason: "agent", selector: LINUX });
    run.claim(0);
    expect(waits(run)).to.deep.equal({ reason: "agent", selector: run.plan.jobs[1]!.selector });
  });

  it("is the delay before the next attempt of a job", () => {
    const run = new SimulatedRun(planOf([[{ retry: retryOf(2, 1_000) }]])).start();
    run.claim(0);
    expect(waits(run)).to.equal(null);
    run.tellJob(0, { type: "agentLost", agentId: AGENT, bootId: "boot-1", reason: "" });
    expect(waits(run)).to.deep.equal({ reason: "retry" });
  });

  it("is nothing before the run begins and while it is paused", () => {
    const run = new SimulatedRun(planOf([[{}]]));
    expect(waits(run)).to.equal(null);
    run.start();
    run.command("pause");
    expect(waits(run)).to.equal(null);
  });
});
