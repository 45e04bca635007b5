import { expect } from "chai";
import type { PlannedCondition } from "../../../src/domain/plan.ts";
import { MAX_TURN_WORK, ENOUGH_TURN_WORK } from "../../../src/domain/work/work-budget.ts";
import { asId, type UserId } from "../../../src/domain/ids.ts";
import { decideTurn } from "../../../actors/kernel/turn.ts";
import { RUN_AGGREGATE } from "../../../actors/run/aggregate.ts";
import { approvalOf, type JobSketch, planOf } from "../../support/plans.ts";
import { SimulatedRun } from "../../support/simulated-run.ts";

/** An output of a step of about 60 kB. */
const LIST = JSON.stringify(Array.from({ length: 5_500 }, (_, at) => `item-${at}`));
const NESTED = "toJSON(fromJSON(toJSON(fromJSON(jobs.job-0.outputs.list))))";
const when = (folded: string): PlannedCondition => ({ written: folded, folded });
const costly = when(`success() && ${NESTED} != 'x'`);
const first: JobSketch = { steps: [{ id: "s" }], outputs: [["list", "${{ steps.s.outputs.list }}"]] };
const times = <T>(count: number, make: (at: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, at) => make(at));

/** A run whose first job has written the list. */
function afterFirst(...others: readonly (readonly JobSketch[])[]): SimulatedRun {
  const run = new SimulatedRun(planOf([[first], ...others])).start();
  run.claim(0);
  run.outputs.set(run.stepId(0, 0), [["list", LIST]]);
  run.report(0, 0, "succeeded", { hasOutputs: true });
  return run;
}

function reasonsOf(run: SimulatedRun): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { state, reason } of run.jobs().slice(1)) {
    const key = `${state} ${reason}`.trim();
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

describe("the budget of a turn", () => {
  it("fails the jobs beyond it with a reason, and the run goes on to its end", () => {
    const run = afterFirst(
      times(100, () => ({ when: costly })),
      [{}],
    );
    const reasons = reasonsOf(run);
    expect(run.undecided).to.deep.equal([]);
    expect([...reasons.keys()]).to.have.members(["queued", "failed expression_limit", "pending"]);
    expect(reasons.get("failed expression_limit")).to.be.within(50, 99);
    for (const { index, state } of run.jobs()) if (state === "queued") run.runJob(index);
    expect(run.run).to.include({ state: "failed" });
    expect(run.undecided).to.deep.equal([]);
  });

  it("leaves a small use of the same functions alone", () => {
    const run = afterFirst(times(100, () => ({ when: when("success() && startsWith(jobs.job-0.outputs.list, '[')") })));
    expect([...reasonsOf(run)]).to.deep.equal([["queued", 100]]);
  });

  it("fails the jobs of a stage whose condition is beyond it", () => {
    // Each part costs less than one evaluation may.
    const plan = planOf([[first], times(2, () => ({})), [{}]]);
    const condition = when(times(7, () => `${NESTED} == 'x'`).join(" || "));
    const run = new SimulatedRun({
      ...plan,
      stages: plan.stages.map((stage, at) => (at === 1 ? { ...stage, when: condition } : stage)),
    }).start();
    run.claim(0);
    run.outputs.set(run.stepId(0, 0), [["list", LIST]]);
    run.report(0, 0, "succeeded", { hasOutputs: true });
    expect(run.undecided).to.deep.equal([]);
    expect(run.run.state).to.equal("failed");
  });

  it("fails a job whose steps have conditions beyond it, and skips these steps with the reason", () => {
    const run = afterFirst([{ steps: times(40, (at) => ({ when: when(`success() && ${NESTED} == '${at}'`) })) }]);
    expect(run.job(1)).to.include({ state: "failed", reason: "expression_limit" });
    const reasons = run.steps().map(({ state, reason }) => `${state} ${reason}`);
    expect(new Set(reasons.slice(1))).to.deep.equal(new Set(["skipped condition", "skipped expression_limit"]));
    expect(run.undecided).to.deep.equal([]);
  });

  it("counts the same condition of one job once", () => {
    const run = afterFirst([{ steps: [...times(40, () => ({ when: when(`success() && ${NESTED} == 'x'`) })), {}] }]);
    expect(run.job(1)).to.include({ state: "queued", stepIndex: 40 });
  });

  it("fails a job whose cells are beyond it", () => {
    const cells = {
      axes: times(4, (at): [string, string] => [
        `a${at}`,
        `\${{ fromJSON(format('["{0}"]', contains(${NESTED}, '${at}'))) }}`,
      ]),
      include: [],
      exclude: [],
    };
    const run = afterFirst(times(8, () => ({ cells })));
    expect(run.undecided).to.deep.equal([]);
    expect([...reasonsOf(run).keys()]).to.include("failed expression_limit");
  });

  it("fails jobs that an approval lets begin, when the conditions of their steps are beyond it", () => {
    const steps = [{ when: costly }];
    const matrix = { name: "m", baseName: "m", steps, approval: approvalOf() };
    const run = afterFirst(times(40, (cell): JobSketch => ({ ...matrix, matrix: [["cell", cell]] })));
    const waiting = reasonsOf(run).get("waiting")!;
    expect(waiting).to.be.within(1, 39);
    const voter = { userId: asId<UserId>("usr_1"), name: "ann" };
    run.tell("approval", run.approvals()[0]!.approvalId, { type: "approve", commandId: "c", voter, comment: "" });
    expect(run.undecided).to.deep.equal([]);
    const reasons = reasonsOf(run);
    expect(reasons.get("queued")! + reasons.get("failed expression_limit")!).to.equal(40);
  });

  it("never hinders a stop, also when cleanup steps have conditions beyond it", () => {
    const cleanup = times(40, (at) => ({ when: when(`always() && ${NESTED} == '${at}'`) }));
    const run = afterFirst([{ steps: [{}, ...cleanup, { when: when("always()") }] }]);
    run.claim(1);
    run.report(1, 0, "started");
    run.command("stop");
    run.report(1, 0, "cancelled");
    expect(run.undecided).to.deep.equal([]);
    expect(run.run.state).to.equal("cancelled");
    expect(run.job(1)).to.include({ state: "cancelled" });
  });

  it("is one for each message, and a turn that has cost enough leaves the rest to the next one", () => {
    // Each end of `job-0`'s siblings lets one job begin, whose condition costs a fifth of the budget of a turn.
    const share = when(`success() && ${times(5, () => NESTED).join(" != ")} != 'x'`);
    const makers = times(8, (): JobSketch => ({}));
    const run = afterFirst([...makers, ...times(8, (at): JobSketch => ({ needs: [at + 1], when: share }))]);
    for (let at = 1; at <= 8; at++) run.claim(at);
    const messages = times(8, (at) => {
      const { grant } = run.step(at + 1, 0);
      const message = {
        type: "reported",
        agentId: grant!.agentId,
        token: grant!.token,
        phase: "succeeded",
        exitCode: 0,
        reason: "",
        hasOutputs: false,
        lastLine: 0,
        durationMs: 5,
        usage: null,
      };
      return { to: { kind: "step", id: run.stepId(at + 1, 0) }, message };
    });
    const turn = decideTurn(run.actors, messages, run.now, run.plan, RUN_AGGREGATE, run.readOutputs);
    expect(turn.taken).to.be.within(1, Math.ceil(ENOUGH_TURN_WORK / (MAX_TURN_WORK / 10)));
    expect(turn.undecided).to.deep.equal([]);
    for (const { to, message } of messages) run.tell(to.kind, to.id, message);
    expect(run.jobs().filter(({ reason }) => reason === "expression_limit")).to.deep.equal([]);
  });
});
