import { expect } from "chai";
import { planOf } from "../../support/plans.ts";
import { AGENT, SimulatedRun } from "../../support/simulated-run.ts";
import type { OwedEffect } from "../../../src/domain/effects.ts";
import { asId, type CommandId } from "../../../src/domain/ids.ts";

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

  describe("takes events of a step into its log", () => {
    const push = (run: SimulatedRun, through: number, token = run.step(0, 0).grant!.token) =>
      run.tellRun({
        type: "eventsPushed",
        commandId: asId<CommandId>(`push-${through}`),
        stepRunId: run.stepId(0, 0),
        agentId: AGENT,
        token,
        through,
      });
    const sequences = (effects: readonly OwedEffect[]) =>
      effects.flatMap((effect) =>
        effect.type === "publish" && effect.event.lifecycle === "pushed" ? [effect.event.data.sequence] : [],
      );
    const running = (): SimulatedRun => {
      const run = new SimulatedRun(planOf([[{}]])).start();
      run.claim(0);
      run.report(0, 0, "started");
      return run;
    };

    it("each once, whatever is repeated or comes late", () => {
      const run = running();
      expect(sequences(push(run, 2))).to.deep.equal([1, 2]);
      expect(sequences(push(run, 5))).to.deep.equal([3, 4, 5]);
      expect(sequences(push(run, 5))).to.deep.equal([]);
      expect(sequences(push(run, 4))).to.deep.equal([]);
      expect(verdicts(run).slice(-2)).to.deep.equal([
        { outcome: "accepted", status: "running", through: 5 },
        { outcome: "accepted", status: "running", through: 5 },
      ]);
      expect(run.run.pushedEvents).to.equal(5);
      expect(run.step(0, 0)).to.include({ state: "running", eventsThrough: 5 });
      expect(run.undecided).to.deep.equal([]);
    });

    it("while an agent holds the step, also when it is being cancelled", () => {
      const run = running();
      run.command("stop");
      expect(sequences(push(run, 1))).to.deep.equal([1]);
      const { token } = run.step(0, 0).grant!;
      expect(sequences(push(run, 2, token - 1))).to.deep.equal([]);
      run.report(0, 0, "cancelled");
      expect(sequences(push(run, 2))).to.deep.equal([]);
      expect(verdicts(run).slice(-2)).to.deep.equal([
        { outcome: "refused", status: "running", through: 1 },
        { outcome: "refused", status: "cancelled", through: 1 },
      ]);
    });

    it("up to 10,000", () => {
      const run = running();
      push(run, 9_999);
      expect(sequences(push(run, 10_005))).to.deep.equal([10_000]);
      expect(sequences(push(run, 10_005))).to.deep.equal([]);
      expect(verdicts(run).slice(-2)).to.deep.equal([
        { outcome: "accepted", status: "running", through: 10_000 },
        { outcome: "refused", status: "running", through: 10_000 },
      ]);
    });
  });
});
