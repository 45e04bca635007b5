import { expect } from "chai";
import type { RunPlan } from "../../../src/domain/plan.ts";
import { waitsOf } from "../../../actors/run/aggregate.ts";
import { approvalOf, planOf } from "../../support/plans.ts";
import { SimulatedRun } from "../../support/simulated-run.ts";
import { expire, idOf, stateOf, verdictIn, vote } from "../approval/gated-runs.ts";

const RUN = { run: true } as const;
const always = { written: "always()", folded: "always()" };

function gated(plan: RunPlan = planOf([[{}], [{ when: always }]])): SimulatedRun {
  return new SimulatedRun({ ...plan, approval: approvalOf({ message: "${{ secrets.KEY }}" }) }).start();
}
const offers = (run: SimulatedRun) => run.effects.filter(({ type }) => type === "offer");

describe("a run behind an approval", () => {
  it("is pending, offers nothing and says that it waits", () => {
    const run = gated();
    expect(run.run).to.include({ state: "pending", startedAt: null, stageApproval: idOf(RUN) });
    expect(stateOf(run, RUN)).to.include({ state: "pending", message: "${{ secrets.KEY }}" });
    expect(offers(run)).to.deep.equal([]);
    expect(run.events()).to.deep.equal(["pipeline.created", "approval.requested", "pipeline.waiting"]);
    expect(waitsOf(run.run, run.actors.values(), run.plan)).to.deep.equal({ reason: "approval", gate: "the run" });
  });

  it("begins when it is approved, and is announced once", () => {
    const run = gated();
    expect(verdictIn(vote(run, RUN, "approve", "ann"))).to.deep.equal({ outcome: "accepted", status: "approved" });
    expect(run.run).to.include({ state: "running", stageApproval: null });
    expect(offers(run)).to.have.length(1);
    run.runJob(0);
    run.runJob(1);
    expect(run.run.state).to.equal("success");
    expect(run.events().filter((event) => event === "pipeline.created")).to.have.length(1);
    expect(run.undecided).to.deep.equal([]);
  });

  it("asks for its place in a group only when it is approved", () => {
    const group = { name: "g", limit: 1, definedBy: "rev_1", onConflict: "cancelRunning" } as const;
    const run = gated({ ...planOf([[{}]]), group });
    const entered = () => run.effects.filter((effect) => effect.type === "command" && effect.body.kind === "enter");
    expect(entered()).to.deep.equal([]);
    vote(run, RUN, "approve", "ann");
    expect(entered()).to.have.length(1);
    expect(run.run).to.include({ state: "pending", stageApproval: null });
    expect(run.events().filter((event) => event === "pipeline.created")).to.have.length(1);
  });

  for (const [word, close] of [
    ["rejected", (run: SimulatedRun) => vote(run, RUN, "reject", "ann")],
    ["expired", (run: SimulatedRun) => expire(run, RUN)],
  ] as const) {
    it(`runs no job when it is ${word}, not even one that runs after failures`, () => {
      const run = gated();
      close(run);
      expect(run.run).to.include({ state: "cancelled", reason: `approval_${word}`, stageApproval: null });
      expect([run.job(0).state, run.job(1).state]).to.deep.equal(["cancelled", "cancelled"]);
      expect(offers(run)).to.deep.equal([]);
      expect(run.undecided).to.deep.equal([]);
    });
  }

  it("withdraws the approval when it is stopped, and cannot be paused before", () => {
    const run = gated();
    run.command("pause");
    expect(run.run.state).to.equal("pending");
    run.command("stop");
    expect(run.run.state).to.equal("cancelled");
    expect(stateOf(run, RUN)!.state).to.equal("cancelled");
    expect(verdictIn(vote(run, RUN, "approve", "ann"))).to.deep.equal({ outcome: "refused", status: "cancelled" });
    expect(run.undecided).to.deep.equal([]);
  });
});
