import { expect } from "chai";
import { planOf } from "../../support/plans.ts";
import { AGENT, OTHER_AGENT, SimulatedRun, typesOf } from "../../support/simulated-run.ts";

function granted(): SimulatedRun {
  const run = new SimulatedRun(planOf([[{ steps: 2 }]])).start();
  run.claim(0);
  return run;
}

describe("a step", () => {
  it("is queued under the saved grant and dispatched with its token", () => {
    const run = new SimulatedRun(planOf([[{ steps: 1 }]])).start();
    const effects = run.claim(0);
    const dispatch = effects.find(({ type }) => type === "dispatch");
    expect(run.step(0, 0)).to.include({ state: "queued" });
    expect(dispatch).to.have.nested.property("order.token", run.step(0, 0).grant!.token);
    expect(dispatch).to.have.nested.property("order.requestId", "claim-0-1");
  });

  it("takes its start from the first report, and keeps it when the report is repeated", () => {
    const run = granted();
    run.report(0, 0, "started");
    const startedAt = run.step(0, 0).startedAt;
    run.now += 50;
    expect(typesOf(run.report(0, 0, "started"))).to.deep.equal([]);
    expect(run.step(0, 0)).to.include({ state: "running", startedAt });
  });

  it("starts once, also when its start is reported again after the request to end", () => {
    const run = granted();
    run.report(0, 0, "started");
    run.command("stop");
    const asked = run.step(0, 0);
    expect(typesOf(run.report(0, 0, "started"))).to.deep.equal([]);
    expect(run.step(0, 0)).to.equal(asked);
    expect(run.events().filter((event) => event === "step.started")).to.have.length(1);
  });

  it("started as long before the report as the agent has counted", () => {
    const run = granted();
    run.now += 100;
    run.report(0, 0, "started", { durationMs: 20 });
    expect(run.step(0, 0)).to.include({ state: "running", startedAt: run.now - 20 });
  });

  it("takes a final report in queued as its start and end, with the agent's duration", () => {
    const run = granted();
    run.now += 100;
    run.report(0, 0, "succeeded", { durationMs: 40 });
    expect(run.step(0, 0)).to.include({ state: "success", startedAt: run.now - 40, endedAt: run.now, exitCode: 0 });
    expect(run.events()).to.include.members(["step.started", "step.completed"]);
  });

  it("acknowledges a repeated final report and stays as it is", () => {
    const run = granted();
    run.report(0, 0, "succeeded");
    const before = run.step(0, 0);
    expect(typesOf(run.report(0, 0, "failed"))).to.deep.equal(["acknowledge"]);
    expect(run.step(0, 0)).to.equal(before);
  });

  it("refuses reports with another token or from another agent, and does not change", () => {
    const run = granted();
    for (const stale of [{ token: 99 }, { agentId: OTHER_AGENT }]) {
      expect(typesOf(run.report(0, 0, "succeeded", stale))).to.deep.equal(["refuse"]);
      expect(run.step(0, 0).state).to.equal("queued");
    }
  });

  it("refuses a report for a step that was never granted", () => {
    const run = granted();
    expect(typesOf(run.report(0, 1, "started"))).to.deep.equal(["refuse"]);
    expect(run.step(0, 1).state).to.equal("pending");
  });

  it("is dispatched again when the claim is repeated, unless it has started", () => {
    const run = granted();
    expect(typesOf(run.claim(0))).to.deep.equal(["dispatch"]);
    run.report(0, 0, "started");
    expect(typesOf(run.claim(0))).to.deep.equal([]);
  });

  it("that succeeds while it is being cancelled ends as succeeded", () => {
    const run = granted();
    run.report(0, 0, "started");
    run.command("stop");
    run.report(0, 0, "succeeded");
    expect(run.step(0, 0).state).to.equal("success");
    expect(run.job(0).state).to.equal("cancelled");
    expect(run.run.state).to.equal("cancelled");
  });

  it("that its agent reports as lost fails, or is cancelled when it was being cancelled", () => {
    const lost = granted();
    lost.report(0, 0, "lost");
    expect(lost.step(0, 0)).to.include({ state: "failed", reason: "agent_lost" });
    const stopped = granted();
    stopped.command("stop");
    stopped.report(0, 0, "lost");
    expect(stopped.step(0, 0).state).to.equal("cancelled");
  });

  it("that its agent could not start fails without having started", () => {
    const refused = granted();
    refused.report(0, 0, "notStarted", { reason: "no space left", durationMs: 0 });
    expect(refused.step(0, 0)).to.include({
      state: "failed",
      reason: "dispatch_failed: no space left",
      startedAt: null,
    });
    expect(refused.events()).to.include("step.failed").and.not.include("step.started");
    const stopped = granted();
    stopped.command("stop");
    stopped.report(0, 0, "notStarted");
    expect(stopped.step(0, 0).state).to.equal("cancelled");
  });

  it("keeps exit code, reason and last line of the final report", () => {
    const run = granted();
    run.report(0, 0, "failed", { exitCode: 7, reason: "exit code 7", lastLine: 12 });
    expect(run.step(0, 0)).to.include({ state: "failed", exitCode: 7, reason: "exit code 7", lastLine: 12 });
  });

  it("does not change by an impossible message, which cannot be decided", () => {
    const run = granted();
    const before = run.step(0, 0);
    run.tellStep(0, 0, { type: "skip", reason: "" });
    expect(run.undecided).to.deep.equal(["the input skip is not valid for a step that is queued"]);
    expect(run.step(0, 0)).to.equal(before);
    expect(run.step(0, 0).grant!.agentId).to.equal(AGENT);
  });
});
