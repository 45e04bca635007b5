import { expect } from "chai";
import { planOf } from "../../support/plans.ts";
import { SimulatedRun } from "../../support/simulated-run.ts";

function verdicts(run: SimulatedRun): readonly unknown[] {
  return run.effects.flatMap((effect) => (effect.type === "answer" ? [effect.verdict] : []));
}

describe("a run", () => {
  it("opens its stages in order", () => {
    const run = new SimulatedRun(planOf([[{}, {}], [{}]])).start();
    expect(run.job(2).state).to.equal("pending");
    run.runJob(0);
    expect(run.job(2).state).to.equal("pending");
    run.runJob(1);
    expect(run.job(2).state).to.equal("queued");
    run.runJob(2);
    expect(run.run.state).to.equal("success");
  });

  it("lets the other jobs of a stage end after a failure, and then runs no later stage", () => {
    const run = new SimulatedRun(planOf([[{}, {}], [{}], [{}]])).start();
    run.claim(0);
    run.report(0, 0, "failed");
    expect(run.run.state).to.equal("running");
    run.runJob(1);
    expect(run.job(1).state).to.equal("success");
    expect([run.job(2).reason, run.job(3).reason]).to.deep.equal(["upstream_failed", "upstream_failed"]);
    expect(run.run).to.include({ state: "failed", failedJobs: 1 });
  });

  it("skips a stage whose jobs had all ended before it opened", () => {
    const run = new SimulatedRun(planOf([[{}], [{}], [{}]])).start();
    run.tellJob(1, { type: "cancel", reason: "cancelled" });
    run.runJob(0);
    expect(run.run).to.include({ state: "failed", stage: 2 });
    expect(run.job(2)).to.include({ state: "cancelled", reason: "upstream_failed" });
    const other = new SimulatedRun(planOf([[{}], [{}, {}]])).start();
    other.tellJob(1, { type: "cancel", reason: "cancelled" });
    other.runJob(0);
    expect(other.run).to.include({ remaining: 1, remainingInStage: 1 });
    expect(other.job(2).state, "a failure in its own stage does not stop it").to.equal("queued");
  });

  it("is cancelled by a stop only when every step has ended", () => {
    const run = new SimulatedRun(planOf([[{}, {}], [{}]])).start();
    run.claim(0);
    run.report(0, 0, "started");
    run.command("stop");
    expect(run.job(1).state).to.equal("cancelled");
    expect(run.job(2).state).to.equal("cancelled");
    expect(run.run.state).to.equal("stopping");
    run.report(0, 0, "cancelled");
    expect(run.run.state).to.equal("cancelled");
    expect(verdicts(run)).to.deep.equal([{ outcome: "accepted", status: "running" }]);
  });

  it("that is stopped before it begins is cancelled without a step", () => {
    const run = new SimulatedRun(planOf([[{}]]));
    run.command("stop");
    expect(run.run.state).to.equal("cancelled");
    run.tellRun({ type: "timer", timer: "start", generation: 0 });
    expect(run.run.state).to.equal("cancelled");
    expect(run.undecided).to.deep.equal([]);
  });

  it("refuses a stop once it is final, and names its status", () => {
    const run = new SimulatedRun(planOf([[{}]])).start().runJob(0);
    run.command("stop");
    expect(verdicts(run)).to.deep.equal([{ outcome: "refused", status: "success" }]);
  });

  it("can be paused only while it runs, and resumed only while it is paused", () => {
    const run = new SimulatedRun(planOf([[{}]]));
    run.command("pause");
    run.start();
    run.command("resume");
    run.command("pause");
    run.command("pause");
    run.command("resume");
    expect(verdicts(run)).to.deep.equal([
      { outcome: "refused", status: "pending" },
      { outcome: "refused", status: "running" },
      { outcome: "accepted", status: "paused" },
      { outcome: "refused", status: "paused" },
      { outcome: "accepted", status: "running" },
    ]);
  });

  it("offers no job of a stage that opens while it is paused", () => {
    const run = new SimulatedRun(planOf([[{}], [{}]])).start();
    run.claim(0);
    run.command("pause");
    run.report(0, 0, "succeeded");
    expect(run.job(1)).to.include({ state: "queued", paused: true });
    run.command("resume");
    run.runJob(1);
    expect(run.run.state).to.equal("success");
  });

  it("that times out fails with that reason, and is cancelled when it is stopped before it ends", () => {
    const ended = new SimulatedRun(planOf([[{}]], 5_000)).start();
    ended.claim(0);
    ended.tellRun({ type: "timer", timer: "timeout", generation: 1 });
    ended.report(0, 0, "cancelled");
    expect(ended.run).to.include({ state: "failed", reason: "timeout" });
    const stopped = new SimulatedRun(planOf([[{}]], 5_000)).start();
    stopped.claim(0);
    stopped.tellRun({ type: "timer", timer: "timeout", generation: 1 });
    stopped.command("stop");
    stopped.report(0, 0, "cancelled");
    expect(stopped.run.state).to.equal("cancelled");
  });

  it("stops the newest attempt of a job", () => {
    const run = new SimulatedRun(planOf([[{}]])).start();
    run.claim(0);
    run.report(0, 0, "lost");
    run.claim(0, 2);
    run.command("stop");
    expect(run.job(0, 2).state).to.equal("cancelling");
    run.report(0, 0, "cancelled", { jobAttempt: 2 });
    expect(run.run.state).to.equal("cancelled");
  });

  it("publishes created and started first and its end last", () => {
    const run = new SimulatedRun(planOf([[{}]])).start().runJob(0);
    expect(run.events().slice(0, 2)).to.deep.equal(["pipeline.created", "pipeline.started"]);
    expect(run.events().at(-1)).to.equal("pipeline.completed");
  });
});
