import { expect } from "chai";
import type { ApprovalGate } from "../../../actors/approval/state.ts";
import { approvalOf } from "../../support/plans.ts";
import { atJob, eventsIn, JOB, stateOf, vote } from "./gated-runs.ts";

describe("a matrix behind an approval", () => {
  const cells = (count: number, more: object = {}) =>
    Array.from({ length: count }, (_, n) => ({
      name: `cell (n=${n})`,
      baseName: "cell",
      matrix: [["n", n]] as const,
      approval: approvalOf(),
      ...more,
    }));

  it("requests one approval for all of its cells", () => {
    const run = atJob(cells(3));
    expect(eventsIn(run.effects)).to.deep.equal(["requested pending"]);
    expect([0, 1, 2].map((index) => run.job(index).state)).to.deep.equal(["waiting", "waiting", "waiting"]);
    vote(run, JOB, "approve", "ann");
    expect([0, 1, 2].map((index) => run.job(index).state)).to.deep.equal(["queued", "queued", "queued"]);
  });

  it("lets later cells begin once it is approved, and cancels all cells once it is rejected", () => {
    const open = atJob(cells(3, { maxParallel: 1 }));
    expect([0, 1, 2].map((index) => open.job(index).state)).to.deep.equal(["waiting", "pending", "pending"]);
    vote(open, JOB, "approve", "ann");
    for (const index of [0, 1, 2]) open.runJob(index);
    expect(open.run.state).to.equal("success");
    expect(eventsIn(open.effects)).to.deep.equal(["requested pending", "approved approved"]);

    const closed = atJob(cells(3, { maxParallel: 1 }));
    vote(closed, JOB, "reject", "ann");
    expect(new Set(closed.jobs().map(({ reason }) => reason))).to.deep.equal(new Set(["approval_rejected"]));
    expect(closed.run.state).to.equal("failed");
    expect(closed.undecided).to.deep.equal([]);
  });

  it("has a pending approval as long as one of its cells waits", () => {
    const never = { written: "jobs.first.result == 'failed'", folded: "jobs.first.result == 'failed'" };
    const [one, two] = cells(2);
    const run = atJob([{ baseName: "first" }, { ...one!, needs: [0], when: never }, { ...two!, needs: [0] }]);
    const gate: ApprovalGate = { job: 1 };
    run.runJob(0);
    expect([run.job(1).reason, run.job(2).state]).to.deep.equal(["condition", "waiting"]);
    expect(stateOf(run, gate)!.state).to.equal("pending");
    run.tellJob(2, { type: "cancel", reason: "cancelled" });
    expect(stateOf(run, gate)!.state).to.equal("cancelled");
    expect(run.run.state).to.equal("failed");
  });

  it("keeps its approval pending when one of two cells is cancelled", () => {
    const run = atJob(cells(2));
    run.tellJob(0, { type: "cancel", reason: "cancelled" });
    expect(stateOf(run, JOB)!.state).to.equal("pending");
    vote(run, JOB, "approve", "ann");
    expect([run.job(0).state, run.job(1).state]).to.deep.equal(["cancelled", "queued"]);
  });

  it("has no pending approval once its last cell ends without having waited for it", () => {
    const [first, second] = cells(2, { maxParallel: 1 });
    const invalid = { name: "${{ '' }}", limit: 1, definedBy: "rev_1", onConflict: "queue" } as const;
    const run = atJob([first!, { ...second!, group: invalid }]);
    expect([run.job(0).state, run.job(1).state]).to.deep.equal(["waiting", "pending"]);
    run.tellJob(0, { type: "cancel", reason: "cancelled" });
    expect(run.job(1)).to.include({ state: "failed", reason: "group_invalid" });
    expect(stateOf(run, JOB)!.state).to.equal("cancelled");
    expect([run.run.state, run.undecided]).to.deep.equal(["failed", []]);
  });

  describe("whose cells are made when it begins", () => {
    const deferredMatrix = (value: string) => {
      const text = `\${{ fromJSON('${value}') }}`;
      const spread = { axes: [["n", text]], include: [], exclude: [] } as const;
      return atJob([{ baseName: "cell", cells: spread, approval: approvalOf() }]);
    };

    it("makes its cells when it is approved", () => {
      const run = deferredMatrix("[1, 2]");
      expect(run.job(0).state).to.equal("waiting");
      expect(run.jobs()).to.have.length(1);
      vote(run, JOB, "approve", "ann");
      expect(run.job(0).state).to.equal("spread");
      expect(run.jobs().map(({ state }) => state)).to.deep.equal(["spread", "queued", "queued"]);
      expect(eventsIn(run.effects), "the cells request none").to.deep.equal(["requested pending", "approved approved"]);
    });

    it("makes no cells when it is rejected", () => {
      const run = deferredMatrix("[1, 2]");
      vote(run, JOB, "reject", "ann");
      expect(run.jobs().map(({ state, reason }) => [state, reason])).to.deep.equal([
        ["cancelled", "approval_rejected"],
      ]);
      expect(run.run.state).to.equal("failed");
    });

    it("requests no approval when its cells cannot be made", () => {
      const run = deferredMatrix('{"no": "list"}');
      expect(stateOf(run, JOB)).to.equal(undefined);
      expect(run.job(0)).to.include({ state: "failed", reason: "matrix" });
    });
  });
});
