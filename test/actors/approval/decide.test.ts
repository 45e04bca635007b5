import { expect } from "chai";
import { outstandingApproval } from "../../../actors/approval/decide.ts";
import type { ApprovalGate } from "../../../actors/approval/state.ts";
import type { OwedEffect } from "../../../src/domain/effects.ts";
import { approvalOf, planOf, withStageApproval } from "../../support/plans.ts";
import { SimulatedRun } from "../../support/simulated-run.ts";
import { atJob, atStage, eventsIn, expire, HOUR, idOf, JOB, STAGE, stateOf, verdictIn, vote } from "./gated-runs.ts";

describe("an approval", () => {
  for (const [words, rule, votes, state, missing] of [
    ["one vote of one", {}, ["ann"], "approved", 0],
    ["the first vote of two", { count: 2 }, ["ann"], "pending", 1],
    ["two votes of two", { count: 2 }, ["ann", "ben"], "approved", 0],
    ["two votes of the same user", { count: 2 }, ["ann", "ann"], "pending", 1],
    ["a vote of a user who is not the required one", { required: ["ann"] }, ["ben"], "pending", 1],
    ["a vote of the required user, by name", { required: ["ann"] }, ["ann"], "approved", 0],
    ["a vote of the required user, by id", { required: ["usr_ann"] }, ["ann"], "approved", 0],
    ["votes of others, then the required user", { required: ["ann"], count: 2 }, ["ben", "cid", "ann"], "approved", 0],
    ["enough votes without the required user", { required: ["ann"], count: 2 }, ["ben", "cid"], "pending", 1],
    ["a vote of one of two required users", { required: ["ann", "ben"], count: 3 }, ["ann"], "pending", 2],
    [
      "votes of all required users and one more",
      { required: ["ann", "ben"], count: 3 },
      ["ann", "ben", "cid"],
      "approved",
      0,
    ],
  ] as const) {
    it(`is ${state} after ${words}`, () => {
      const run = atStage(rule);
      for (const name of votes) vote(run, STAGE, "approve", name);
      expect(stateOf(run, STAGE)!.state).to.equal(state);
      const last = run.effects.findLast((effect) => effect.type === "publish" && effect.event.object === "approval");
      expect((last as OwedEffect & { type: "publish" }).event.data).to.include({
        approvals: new Set(votes).size,
        missing,
        name: "stage stage-0",
      });
      expect(run.job(0).state).to.equal(state === "approved" ? "queued" : "pending");
    });
  }

  it("keeps and publishes who approved, when and with which comment", () => {
    const run = atStage({ count: 2 });
    run.now += 5;
    const effects = vote(run, STAGE, "approve", "ann", "looks good");
    expect(stateOf(run, STAGE)!.approvals).to.deep.equal([
      { userId: "usr_ann", name: "ann", at: run.now, comment: "looks good" },
    ]);
    const event = effects.find((effect) => effect.type === "publish")!.event;
    expect(event.data).to.deep.equal({
      approvalId: idOf(STAGE),
      name: "stage stage-0",
      approvals: 1,
      missing: 1,
      comment: "looks good",
      cause: "approve",
      by: "ann",
    });
  });

  it("accepts a repeated vote without a change, also after it was approved", () => {
    const run = atStage({ count: 2 });
    vote(run, STAGE, "approve", "ann");
    expect(verdictIn(vote(run, STAGE, "approve", "ann"))).to.deep.equal({ outcome: "accepted", status: "pending" });
    expect(run.last!.changed.size).to.equal(0);
    vote(run, STAGE, "approve", "ben");
    const again = vote(run, STAGE, "approve", "ann", "and again");
    expect(verdictIn(again)).to.deep.equal({ outcome: "accepted", status: "approved" });
    expect(eventsIn(again)).to.deep.equal([]);
  });

  it("is rejected by one vote against it, whatever votes came before", () => {
    const run = atStage({ count: 2 });
    vote(run, STAGE, "approve", "ann");
    const effects = vote(run, STAGE, "reject", "ann", "on second thoughts");
    expect(verdictIn(effects)).to.deep.equal({ outcome: "accepted", status: "rejected" });
    expect(eventsIn(effects)).to.deep.equal(["rejected rejected"]);
    expect(stateOf(run, STAGE)).to.deep.include({
      state: "rejected",
      rejection: { userId: "usr_ann", name: "ann", at: run.now, comment: "on second thoughts" },
      endedAt: run.now,
      expiryTimer: null,
    });
  });

  it("expires by its own timer and by no other", () => {
    const run = atStage();
    const asked = run.now;
    expect(stateOf(run, STAGE)!.expiryTimer).to.deep.equal({ generation: 1, dueAt: asked + HOUR });
    expire(run, STAGE, 7);
    expect(stateOf(run, STAGE)!.state).to.equal("pending");
    expect(eventsIn(expire(run, STAGE))).to.deep.equal(["expired expired"]);
    expect(stateOf(run, STAGE)).to.include({ state: "expired", endedAt: run.now });
    expire(run, STAGE);
    expect(run.undecided).to.deep.equal([]);
  });

  for (const [status, finish] of [
    ["approved", (run: SimulatedRun) => vote(run, STAGE, "approve", "ann")],
    ["rejected", (run: SimulatedRun) => vote(run, STAGE, "reject", "ann")],
    ["expired", (run: SimulatedRun) => expire(run, STAGE)],
    ["cancelled", (run: SimulatedRun) => run.command("stop")],
  ] as const) {
    it(`that is ${status} refuses every later vote and names that status`, () => {
      const run = atStage();
      finish(run);
      const before = stateOf(run, STAGE);
      for (const type of ["approve", "reject"] as const) {
        expect(verdictIn(vote(run, STAGE, type, "ben"))).to.deep.equal({ outcome: "refused", status });
      }
      expire(run, STAGE);
      expect(stateOf(run, STAGE)).to.equal(before);
      expect(run.undecided).to.deep.equal([]);
    });
  }

  it("sets its timer again after a loss of Redis, but only while it is pending", () => {
    const run = atStage();
    const expiry = {
      type: "schedule",
      to: { kind: "approval", id: idOf(STAGE) },
      timer: "expiry",
      generation: 1,
      dueAt: run.now + HOUR,
    };
    expect(run.effects).to.deep.include(expiry);
    expect(outstandingApproval(stateOf(run, STAGE)!)).to.deep.equal([expiry]);
    vote(run, STAGE, "approve", "ann");
    expect(outstandingApproval(stateOf(run, STAGE)!)).to.deep.equal([]);
  });
});

describe("a stage behind an approval", () => {
  it("opens when it is approved; until then the run says that it waits", () => {
    const run = new SimulatedRun(withStageApproval(planOf([[{}], [{}]]), 1)).start();
    expect(stateOf(run, { stage: 1 }), "not requested yet").to.equal(undefined);
    run.runJob(0);
    expect(run.run.stageApproval).to.equal(idOf({ stage: 1 }));
    expect(run.events()).to.include.members(["approval.requested", "pipeline.waiting"]);
    expect(run.job(1).state).to.equal("pending");
    vote(run, { stage: 1 }, "approve", "ann");
    expect(run.run.stageApproval).to.equal(null);
    run.runJob(1);
    expect(run.run.state).to.equal("success");
  });

  for (const [word, close] of [
    ["rejected", (run: SimulatedRun) => vote(run, STAGE, "reject", "ann")],
    ["expired", (run: SimulatedRun) => expire(run, STAGE)],
  ] as const) {
    it(`does not run when the approval is ${word}: only jobs that run after failures still run`, () => {
      const always = { written: "always()", folded: "always()" };
      const plan = withStageApproval(planOf([[{}, {}], [{}], [{ when: always }]]), 0);
      const run = new SimulatedRun(plan).start();
      close(run);
      expect([0, 1, 2].map((index) => run.job(index).reason)).to.deep.equal([
        `approval_${word}`,
        `approval_${word}`,
        "upstream_failed",
      ]);
      expect(run.job(0).state).to.equal("cancelled");
      expect(run.job(3).state).to.equal("queued");
      run.runJob(3);
      expect(run.run.state).to.equal("failed");
      expect(run.undecided).to.deep.equal([]);
    });
  }

  it("requests no approval after a failure unless one of its jobs may run then", () => {
    const failed = (run: SimulatedRun): SimulatedRun => {
      run.start().claim(0);
      run.report(0, 0, "failed");
      return run;
    };
    const always = { written: "always()", folded: "always()" };
    const closed = failed(new SimulatedRun(withStageApproval(planOf([[{}], [{}]]), 1)));
    expect(stateOf(closed, { stage: 1 })).to.equal(undefined);
    expect(closed.run.state).to.equal("failed");
    const open = failed(new SimulatedRun(withStageApproval(planOf([[{}], [{ when: always }, {}]]), 1)));
    expect(stateOf(open, { stage: 1 })!.state).to.equal("pending");
    vote(open, { stage: 1 }, "approve", "ann");
    expect([open.job(1).state, open.job(2).reason]).to.deep.equal(["queued", "upstream_failed"]);
  });

  it("requests no approval when its condition is false", () => {
    const plan = withStageApproval(planOf([[{}], [{}]]), 1);
    const when = { written: "failure()", folded: "failure()" };
    const stages = plan.stages.map((stage, at) => (at === 1 ? { ...stage, when } : stage));
    const run = new SimulatedRun({ ...plan, stages }).start().runJob(0);
    expect(stateOf(run, { stage: 1 })).to.equal(undefined);
    expect(run.job(1)).to.include({ state: "success", reason: "condition" });
  });

  it("withdraws the approval when the run is stopped or times out", () => {
    for (const [end, state] of [
      [(run: SimulatedRun) => run.command("stop"), "cancelled"],
      [(run: SimulatedRun) => run.tellRun({ type: "timer", timer: "timeout", generation: 1 }), "failed"],
    ] as const) {
      const run = new SimulatedRun(withStageApproval(planOf([[{}]], 1_000), 0)).start();
      const effects = end(run);
      expect(eventsIn(effects)).to.deep.equal(["cancelled cancelled"]);
      expect(stateOf(run, STAGE)).to.include({ state: "cancelled", expiryTimer: null, endedAt: run.now });
      expect(run.run.state).to.equal(state);
      const last = effects.findLast((effect) => effect.type === "publish")!;
      expect((last as OwedEffect & { type: "publish" }).event.object, "the run's end is its last event").to.equal(
        "pipeline",
      );
    }
  });

  it("opens while the run is paused, and its jobs are offered when the run resumes", () => {
    const run = atStage();
    run.command("pause");
    vote(run, STAGE, "approve", "ann");
    expect(run.job(0)).to.include({ state: "queued", paused: true });
    expect(run.effects.some(({ type }) => type === "offer")).to.equal(false);
    run.command("resume");
    expect(run.effects.some(({ type }) => type === "offer")).to.equal(true);
  });
});

describe("a job behind an approval", () => {
  it("requests the approval when it lacks nothing else, and is queued when approved", () => {
    const run = atJob([{}, { needs: [0], approval: approvalOf() }]);
    const gate: ApprovalGate = { job: 1 };
    expect(stateOf(run, gate)).to.equal(undefined);
    run.runJob(0);
    expect(run.job(1).state).to.equal("waiting");
    expect(run.events()).to.include.members(["approval.requested", "job.waiting"]);
    vote(run, gate, "approve", "ann");
    run.runJob(1);
    expect(run.run.state).to.equal("success");
  });

  it("is cancelled by a rejection, and so are the jobs that need it; the run fails", () => {
    const run = atJob([{ approval: approvalOf() }, { needs: [0] }, {}]);
    vote(run, JOB, "reject", "ann");
    expect(run.job(0)).to.include({ state: "cancelled", reason: "approval_rejected" });
    expect(run.job(1).reason).to.equal("upstream_failed");
    run.runJob(2);
    expect(run.run.state).to.equal("failed");
  });

  it("requests no approval when its condition is false or a needed job has failed", () => {
    const failure = { written: "failure()", folded: "failure()" };
    const skipped = atJob([{ approval: approvalOf(), when: failure }]);
    expect([stateOf(skipped, JOB), skipped.job(0).reason]).to.deep.equal([undefined, "condition"]);
    const run = atJob([
      {},
      { needs: [0], approval: approvalOf() },
      { needs: [0], approval: approvalOf(), when: failure },
    ]);
    run.claim(0);
    run.report(0, 0, "failed");
    expect([stateOf(run, { job: 1 }), run.job(1).reason]).to.deep.equal([undefined, "upstream_failed"]);
    expect(stateOf(run, { job: 2 })!.state, "this one runs after failures").to.equal("pending");
  });

  it("requests no approval when the name of its group cannot be evaluated", () => {
    const group = { name: "${{ jobs.first.outputs.x }}", limit: 1, definedBy: "rev_1", onConflict: "queue" } as const;
    const run = atJob([{ approval: approvalOf(), group }]);
    expect(stateOf(run, JOB)).to.equal(undefined);
    expect(run.job(0)).to.include({ state: "failed", reason: "group_invalid" });
  });

  it("has no running timeout while it waits, but the run's timeout goes on", () => {
    const sketch = { approval: approvalOf(), queueTimeoutMs: 10, timeoutMs: 10 };
    const run = new SimulatedRun(planOf([[sketch]], 1_000)).start();
    expect(run.job(0)).to.include({ queueTimer: null, timeoutTimer: null });
    expect(run.run.timeoutTimer).not.to.equal(null);
    run.now += 500;
    vote(run, JOB, "approve", "ann");
    expect(run.job(0).queueTimer!.dueAt).to.equal(run.now + 10);
    const timedOut = new SimulatedRun(planOf([[sketch]], 1_000)).start();
    timedOut.tellRun({ type: "timer", timer: "timeout", generation: 1 });
    expect(stateOf(timedOut, JOB)!.state).to.equal("cancelled");
    expect(timedOut.run).to.include({ state: "failed", reason: "timeout" });
  });

  it("keeps its approval in the next attempt after the loss of its agent", () => {
    const run = atJob();
    vote(run, JOB, "approve", "ann");
    run.claim(0);
    run.tellJob(0, { type: "agentLost", agentId: run.job(0).grant!.agentId, bootId: "boot-1", reason: "" });
    expect(run.job(0, 2).state).to.equal("queued");
    expect(eventsIn(run.effects)).to.deep.equal(["requested pending", "approved approved"]);
  });

  it("is not offered while the run is paused, and is offered when the run resumes", () => {
    const run = atJob();
    run.command("pause");
    vote(run, JOB, "approve", "ann");
    expect(run.effects.some(({ type }) => type === "offer")).to.equal(false);
    run.command("resume");
    expect(run.job(0).state).to.equal("queued");
    expect(run.effects.some(({ type }) => type === "offer")).to.equal(true);
  });
});
