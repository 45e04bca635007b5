import { expect } from "chai";
import { shownAttempt } from "../../../src/domain/attempts.ts";
import type { PlannedCondition } from "../../../src/domain/plan.ts";
import { type JobSketch, planOf } from "../../support/plans.ts";
import { AGENT, SimulatedRun } from "../../support/simulated-run.ts";

const when = (text: string): PlannedCondition => ({ written: text, folded: text });
const FAILED = { kind: "failed" } as const;
const stepOf = (run: SimulatedRun, job: number, step: number, jobAttempt = 1) =>
  ({ kind: "step", stepRunId: run.stepId(job, step, jobAttempt) }) as const;

/** A run whose jobs end as the word at their position says; a job that does not begin has an empty word. */
function ended(stages: readonly (readonly JobSketch[])[], ...words: readonly ("ok" | "bad" | "")[]): SimulatedRun {
  const run = new SimulatedRun(planOf(stages)).start();
  words.forEach((word, index) => {
    if (word === "ok") run.runJob(index);
    if (word !== "bad") return;
    run.claim(index);
    run.report(index, 0, "failed");
  });
  expect(run.run.endedAt, "the run has ended").to.not.equal(null);
  return run;
}

const statesOf = (run: SimulatedRun) => run.jobs().map(({ state }) => state);
const reusedIn = (run: SimulatedRun) => run.jobs().map(({ reusedFrom }) => reusedFrom !== null);
const offeredIn = (run: SimulatedRun) =>
  run.effects.flatMap((effect) => (effect.type === "offer" ? [effect.offer.jobIndex] : []));

describe("a rerun", () => {
  describe("of all", () => {
    it("runs every job again, under new ids that name the old ones", () => {
      const first = ended([[{ steps: 2 }], [{}]], "ok", "ok");
      const second = first.again({ kind: "all" }).start();
      expect(reusedIn(second)).to.deep.equal([false, false]);
      expect(second.job(0)).to.include({ state: "queued", retryOf: first.job(0).jobId });
      expect(shownAttempt(second.job(0))).to.equal(2);
      expect(second.step(0, 1)).to.include({ retryOf: first.stepId(0, 1), jobAttempt: 2 });
      second.runJob(0).runJob(1);
      expect(second.run).to.include({ state: "success", retryOf: first.runId });
      const third = second.again({ kind: "all" });
      expect(shownAttempt(third.job(1))).to.equal(3);
      expect(shownAttempt(third.step(1, 0))).to.equal(3);
    });

    it("runs the jobs of the new plan, whatever jobs the run had", () => {
      const first = ended([[{ name: "v1" }, { name: "same" }]], "ok", "ok");
      const second = new SimulatedRun(planOf([[{ name: "same" }, { name: "v2", steps: 2 }]]), {
        of: first,
        scope: { kind: "all" },
      });
      expect(second.job(0)).to.include({ retryOf: first.job(1).jobId, attemptsBefore: 1 });
      expect(second.job(1)).to.include({ retryOf: null, attemptsBefore: 0 });
      expect(second.start().runJob(0).runJob(1).run.state).to.equal("success");
      expect(() => new SimulatedRun(planOf([[{ name: "v2" }]]), { of: first, scope: FAILED })).to.throw("plan_differs");
    });

    it("links each job to the one before it when an earlier release named the steps by their number", () => {
      const first = ended([[{ steps: [{ name: "step 1" }, { name: "test" }] }]], "ok");
      const plan = planOf([[{ steps: [{ name: "checkout" }, { name: "test" }] }]]);
      const second = new SimulatedRun(plan, { of: first, scope: { kind: "all" } });
      expect(second.job(0)).to.include({ retryOf: first.job(0).jobId, attemptsBefore: 1 });
    });
  });

  describe("of the failed jobs", () => {
    const cases: readonly {
      readonly name: string;
      readonly stages: readonly (readonly JobSketch[])[];
      readonly words: readonly ("ok" | "bad" | "")[];
      readonly reused: readonly number[];
    }[] = [
      { name: "only a failed job without dependents", stages: [[{}, {}]], words: ["ok", "bad"], reused: [0] },
      {
        name: "a failed job, the jobs that need it, and their dependents",
        stages: [[{}, { needs: [0] }, { needs: [1] }, {}]],
        words: ["bad", "", "", "ok"],
        reused: [3],
      },
      {
        name: "a failed job, and a job that ran because of the failure",
        stages: [[{}, { needs: [0], when: when("failure()") }, {}]],
        words: ["bad", "ok", "ok"],
        reused: [2],
      },
      {
        name: "all jobs of later stages, and none of earlier ones",
        stages: [[{}], [{}, {}], [{ when: when("always()") }, {}]],
        words: ["ok", "ok", "bad", "ok"],
        reused: [0, 1],
      },
      {
        name: "a job whose failure was tolerated, with the jobs after it",
        stages: [[{ continueOnError: true }, {}], [{}]],
        words: ["bad", "ok", "ok"],
        reused: [1],
      },
    ];
    for (const { name, stages, words, reused } of cases) {
      it(`runs again ${name}`, () => {
        const first = ended(stages, ...words);
        const second = first.again(FAILED).start();
        expect(reusedIn(second)).to.deep.equal(second.plan.jobs.map(({ index }) => reused.includes(index)));
        for (let round = 0; round < 5; round++) {
          for (const { index, state } of second.jobs()) if (state === "queued") second.runJob(index);
        }
        expect(second.run.state).to.equal("success");
        for (const index of reused) expect(offeredIn(second)).to.not.include(index);
      });
    }

    it("takes a step without a name as the one that an earlier release named by its number", () => {
      const named = (...names: readonly string[]): JobSketch => ({ steps: names.map((name) => ({ name })) });
      const first = ended([[named("step 1", "step 2"), named("step 1", "lint")]], "ok", "bad");
      const again = (...jobs: readonly JobSketch[]) => new SimulatedRun(planOf([jobs]), { of: first, scope: FAILED });
      const second = again(named("shell", "shell"), named("checkout", "lint")).start();
      expect(reusedIn(second)).to.deep.equal([true, false]);
      expect(second.runJob(1).run.state).to.equal("success");
      expect(() => again(named("shell", "shell"), named("lint", "checkout"))).to.throw("plan_differs");
      expect(() => again(named("shell", "shell"), named("checkout"))).to.throw("plan_differs");
    });

    it("is refused when all jobs have succeeded", () => {
      expect(() => ended([[{}]], "ok").again(FAILED)).to.throw("nothing_failed");
    });

    it("runs the jobs that a stop had cancelled", () => {
      const first = new SimulatedRun(planOf([[{}, {}], [{}]])).start().runJob(0);
      first.command("stop");
      expect(first.run.state).to.equal("cancelled");
      const second = first.again(FAILED).start();
      expect(reusedIn(second)).to.deep.equal([true, false, false]);
      second.runJob(1).runJob(2);
      expect(second.run.state).to.equal("success");
    });

    it("reuses the newest attempt of a job, under the number that it had", () => {
      const first = new SimulatedRun(planOf([[{}, {}]])).start();
      first.claim(0);
      first.tellJob(0, { type: "agentLost", agentId: AGENT, bootId: "boot-1", reason: "" });
      first.runJob(0, 2);
      first.claim(1);
      first.report(1, 0, "failed");
      const second = first.again(FAILED).start();
      expect(second.job(0)).to.include({ state: "success", attempt: 1, reusedFrom: first.job(0, 2).jobId });
      expect(shownAttempt(second.job(0))).to.equal(2);
      expect(second.step(0, 0).reusedFrom).to.equal(first.stepId(0, 0, 2));
      second.claim(1);
      second.report(1, 0, "failed");
      const third = second.again(FAILED);
      expect(third.job(0), "the original, not its copy").to.include({ reusedFrom: first.job(0, 2).jobId });
      expect(third.step(0, 0).reusedFrom).to.equal(first.stepId(0, 0, 2));
      expect([shownAttempt(third.job(0)), shownAttempt(third.job(1))]).to.deep.equal([2, 3]);
    });

    it("begins with the first stage that has a job to run", () => {
      const first = ended([[{}], [{}], [{}]], "ok", "ok", "bad");
      const second = first.again(FAILED).start();
      expect(second.run).to.include({ stage: 2, remaining: 1, remainingInStage: 1 });
      expect(offeredIn(second)).to.deep.equal([2]);
      expect(second.events()).to.deep.equal(["pipeline.created", "pipeline.started", "job.queued"]);
      expect(second.effects[0]).to.have.nested.property("event.data.retryOf", first.runId);
    });

    it("gives its jobs the outputs of reused jobs", () => {
      const reads = when("jobs.job-0.outputs.word == 'go' && jobs.job-0.result == 'success'");
      const first = new SimulatedRun(
        planOf([[{ steps: [{ id: "s" }], outputs: [["word", "${{ steps.s.outputs.w }}"]] }], [{ when: reads }]]),
      ).start();
      first.claim(0);
      first.outputs.set(first.stepId(0, 0), [["w", "go"]]);
      first.report(0, 0, "succeeded", { hasOutputs: true });
      first.claim(1);
      first.report(1, 0, "failed");
      const second = first.again(FAILED).start();
      expect(offeredIn(second)).to.deep.equal([1]);
      expect(second.run.state).to.equal("running");
    });

    it("reuses a matrix with deferred cells as a whole, or makes all of its cells again", () => {
      const cells = { axes: [["v", [1, 2]] as const], include: [], exclude: [] };
      const first = new SimulatedRun(planOf([[{ cells, name: "m", baseName: "m" }, {}], [{ cells }]])).start();
      const runCells = (run: SimulatedRun, index: number, phase: "succeeded" | "failed") => {
        for (const job of run.jobs().filter((each) => each.index === index && each.cell !== null)) {
          const claim = { type: "claimRequested", agentId: AGENT, bootId: "boot-1", requestId: job.jobId };
          run.tell("job", job.jobId, claim);
          const step = run.steps().find(({ jobId }) => jobId === job.jobId)!;
          const { token } = step.grant!;
          const report = { type: "reported", agentId: AGENT, token, phase, exitCode: 0, reason: "", hasOutputs: false };
          run.tell("step", step.stepRunId, { ...report, lastLine: 0, durationMs: 1 });
        }
      };
      runCells(first, 0, "succeeded");
      first.runJob(1);
      runCells(first, 2, "failed");
      expect(first.run.state).to.equal("failed");
      const second = first.again(FAILED).start();
      const seen = second.jobs().map(({ index, cell, state, reusedFrom }) => [index, cell, state, reusedFrom !== null]);
      expect(seen).to.deep.equal([
        [0, null, "success", true],
        [0, 0, "success", true],
        [0, 1, "success", true],
        [1, null, "success", true],
        [2, null, "spread", false],
        [2, 0, "queued", false],
        [2, 1, "queued", false],
      ]);
      expect(shownAttempt(second.jobs().at(-1)!)).to.equal(2);
      runCells(second, 2, "succeeded");
      expect(second.run.state).to.equal("success");
      const cell = first.steps().find(({ jobIndex }) => jobIndex === 2)!;
      expect(() => first.again({ kind: "step", stepRunId: cell.stepRunId })).to.throw("late_cell");
    });
  });

  describe("from a step", () => {
    const three = [{ id: "a" }, { id: "b" }, { id: "c" }];

    it("begins the job with that step, and does not run the steps before it", () => {
      const first = new SimulatedRun(planOf([[{ steps: three }], [{}]])).start();
      first.claim(0);
      first.report(0, 0, "succeeded");
      first.report(0, 1, "failed");
      const second = first.again(stepOf(first, 0, 1)).start();
      second.claim(0);
      const { order } = second.effects.find(({ type }) => type === "dispatch") as { order: object } & object as {
        order: { stepIndex: number; requestId: string; jobAttempt: number };
      };
      expect(order).to.include({ stepIndex: 1, requestId: "claim-0-1", jobAttempt: 2 });
      second.report(0, 1, "succeeded");
      second.report(0, 2, "succeeded");
      expect(second.step(0, 0)).to.include({ state: "success", reusedFrom: first.stepId(0, 0) });
      expect(shownAttempt(second.step(0, 0))).to.equal(1);
      expect(shownAttempt(second.step(0, 1))).to.equal(2);
      expect(second.step(0, 2), "it had not run before").to.include({ attemptsBefore: 0, retryOf: null });
      second.runJob(1);
      expect(second.run.state).to.equal("success");
    });

    it("begins with that step again when the agent is lost", () => {
      const first = new SimulatedRun(planOf([[{ steps: three }]])).start().runJob(0);
      const second = first.again(stepOf(first, 0, 2)).start();
      second.claim(0);
      second.tellJob(0, { type: "agentLost", agentId: AGENT, bootId: "boot-1", reason: "" });
      expect(second.job(0, 2)).to.include({ state: "queued", stepIndex: 2, retryOf: second.job(0).jobId });
      expect(shownAttempt(second.job(0, 2))).to.equal(3);
      expect(second.step(0, 1, 2)).to.include({ state: "success", reusedFrom: first.stepId(0, 1) });
      second.claim(0, 2);
      second.report(0, 2, "succeeded", { jobAttempt: 2 });
      expect(second.run.state).to.equal("success");
    });

    it("takes the results of the steps before it from the earlier run", () => {
      const steps = [{ id: "a" }, { id: "b", when: when("always() && steps.a.result == 'failed'") }];
      const first = new SimulatedRun(planOf([[{ steps }]])).start();
      first.claim(0);
      first.report(0, 0, "failed");
      first.report(0, 1, "failed");
      const second = first.again(stepOf(first, 0, 1)).start();
      second.claim(0);
      second.report(0, 1, "succeeded");
      expect(second.job(0)).to.include({ state: "failed", reason: "step_failed" });
    });

    it("reuses every other job, also a failed one, unless it depends on the step's job", () => {
      const first = ended([[{}, {}, { needs: [0] }], [{}]], "ok", "bad", "ok");
      const second = first.again(stepOf(first, 0, 0)).start();
      expect(reusedIn(second)).to.deep.equal([false, true, false, false]);
      expect(offeredIn(second), "a failure beside it does not stop it").to.deep.equal([0]);
      second.runJob(0).runJob(2);
      expect(statesOf(second)).to.deep.equal(["success", "failed", "success", "cancelled"]);
      expect(second.run.state).to.equal("failed");
    });

    it("is refused for a step that did not run", () => {
      const first = new SimulatedRun(planOf([[{ steps: three }]])).start();
      first.claim(0);
      first.report(0, 0, "failed");
      expect(() => first.again(stepOf(first, 0, 1))).to.throw("never_ran");
    });

    it("uses the newest attempt of the step, whichever attempt is named", () => {
      const first = new SimulatedRun(planOf([[{ steps: 2 }]])).start();
      first.claim(0);
      first.tellJob(0, { type: "agentLost", agentId: AGENT, bootId: "boot-1", reason: "" });
      first.runJob(0, 2);
      const second = first.again(stepOf(first, 0, 0, 1)).start();
      expect(second.job(0)).to.include({ retryOf: first.job(0, 2).jobId, stepIndex: 0 });
    });

    it("begins as many cells as maxParallel allows, also when another cell had failed before", () => {
      const cell = { baseName: "m", failFast: true, maxParallel: 1 };
      const first = new SimulatedRun(planOf([[cell, cell, cell]])).start().runJob(0);
      first.claim(1);
      first.report(1, 0, "failed");
      expect(statesOf(first)).to.deep.equal(["success", "failed", "cancelled"]);
      const second = first
        .again(stepOf(first, 0, 0))
        .start()
        .runJob(0);
      expect(statesOf(second)).to.deep.equal(["success", "failed", "cancelled"]);
      expect(second.run.state).to.equal("failed");
      const third = second.again(FAILED).start();
      expect(statesOf(third)).to.deep.equal(["success", "queued", "pending"]);
      expect(third.runJob(1).runJob(2).run.state).to.equal("success");
    });
  });

  it("continues to count the attempts of a step from the run before", () => {
    const retry = { attempts: 2, on: ["failed"], exitCodes: [], delayMs: 0, backoff: 1, maxDelayMs: 0 } as const;
    const first = new SimulatedRun(planOf([[{ steps: [{ retry }] }]])).start();
    const newest = (run: SimulatedRun) => run.steps().at(-1)!;
    const fail = (run: SimulatedRun) => {
      const { stepRunId, grant } = newest(run);
      const report = { type: "reported", agentId: AGENT, token: grant!.token, phase: "failed", exitCode: 1 };
      run.tell("step", stepRunId, { ...report, reason: "", hasOutputs: false, lastLine: 0, durationMs: 1 });
    };
    first.claim(0);
    fail(first);
    fail(first);
    const second = first.again(FAILED).start();
    second.claim(0);
    expect(newest(second)).to.include({ attempt: 1, retryOf: newest(first).stepRunId });
    fail(second);
    expect(newest(second).attempt, "its definition gives it two attempts in this run too").to.equal(2);
    expect(shownAttempt(newest(second))).to.equal(4);
    fail(second);
    expect(second.run.state).to.equal("failed");
  });

  it("never changes a reused job, whatever commands its run gets", () => {
    const first = ended([[{}, {}], [{}]], "ok", "bad");
    const second = first.again(FAILED).start();
    const before = second.job(0);
    for (const command of ["pause", "resume", "stop"] as const) second.command(command);
    expect(second.job(0)).to.equal(before);
    expect(second.run.state).to.equal("cancelled");
    expect(second.undecided).to.deep.equal([]);
  });
});
