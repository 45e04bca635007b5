import { expect } from "chai";
import fc from "fast-check";
import { gateOfJob } from "../../actors/approval/state.ts";
import { isAtWork, isBound } from "../../actors/job/state.ts";
import { runStatus } from "../../actors/run/state.ts";
import { isHeld } from "../../actors/step/state.ts";
import { isFinalRunStatus } from "../../src/domain/status.ts";
import { approvalEvidence, jobEvidence } from "../chaos/check/run-evidence.ts";
import { type LifeEvidence, checkTransitions } from "../chaos/check/transitions.ts";
import { AGENT, RefusedRerun, SimulatedRun } from "../support/simulated-run.ts";
import { action, perform, plan, tellPlace, vote } from "./any-order.ts";
import { tries } from "../support/tries.ts";

function checkGuarantees(run: SimulatedRun): void {
  for (const { baseName, maxParallel } of run.plan.jobs) {
    if (maxParallel === null) continue;
    const cells = run.jobs().filter((job) => run.plan.jobs[job.index]!.baseName === baseName);
    expect(cells.filter(isAtWork).length, "cells of one matrix at work").to.be.at.most(maxParallel);
  }
  expect(run.undecided, "every valid message can be decided").to.deep.equal([]);
  const newest = new Map(run.jobs().flatMap((job) => (job.cell === null ? [[job.index, job] as const] : [])));
  const open = [...newest.values()].filter(({ endedAt }) => endedAt === null).length;
  expect(run.run.remaining, "jobs that have not ended").to.equal(open);
  expect(isFinalRunStatus(run.run.state as never), "final exactly when no job is open").to.equal(open === 0);
  for (const asked of run.approvals()) {
    const isOver = isFinalRunStatus(run.run.state as never);
    if (isOver) expect(asked.state, "a final run has no pending approval").to.not.equal("pending");
  }
  for (const job of run.jobs()) {
    const { approval: gate, group: ofJob, stage } = run.plan.jobs[job.index]!;
    // A reused job has passed its gates in the earlier run.
    if (job.grant !== null && job.reusedFrom === null) {
      if (gate !== null) expect(run.approvalOf(gateOfJob(job.index, run.plan))?.state).to.equal("approved");
      if (run.plan.stages[stage]!.approval !== null) expect(run.approvalOf({ stage })?.state).to.equal("approved");
      if (ofJob !== null && isBound(job)) expect(job.place?.held, "a place before an agent").to.equal(true);
      if (run.plan.group !== null) expect(run.placed, "a place before the first job").to.equal(true);
    }
    const held = run.steps().filter((step) => step.jobId === job.jobId && isHeld(step));
    expect(held.length, "steps of one job that are out").to.equal(isBound(job) && job.stepActive ? 1 : 0);
    for (const step of held) expect(step.grant!.token).to.equal(job.grant!.token);
  }
}

/** The events, numbered as the store numbers them, and the states of the actors. */
function evidenceOf(run: SimulatedRun): LifeEvidence {
  const published = run.effects.flatMap((effect) => (effect.type === "publish" ? [effect.event] : []));
  return {
    runId: run.run.runId,
    status: runStatus(run.run.state),
    eventNumber: published.length,
    events: published.map((event, at) => ({ ...event, number: at + 1, timeMs: at })),
    jobs: jobEvidence(run.jobs(), run.steps(), run.plan),
    approvals: run.approvals().map(approvalEvidence),
  };
}

/** Brings the run to its end: gives every waiting job what it lacks, and an agent whose steps succeed. */
function finish(run: SimulatedRun): void {
  if (run.run.startTimer !== null) run.start();
  run.command("resume");
  if (run.run.state === "pending") tellPlace(run, null, "placed");
  for (let rounds = 0; run.run.endedAt === null && rounds < 200; rounds++) {
    for (const asked of run.approvals().filter(({ state }) => state === "pending")) {
      for (const voter of [0, 1]) vote(run, asked, voter, true);
    }
    for (const job of run.jobs()) {
      if (job.state === "waiting" && job.place !== null) tellPlace(run, job, "placed");
      if (job.retryTimer !== null) {
        run.tell("job", job.jobId, { type: "timer", timer: "retry", generation: job.retryTimer.generation });
      }
      if (job.state !== "queued") continue;
      run.tell("job", job.jobId, {
        type: "claimRequested",
        agentId: AGENT,
        bootId: "boot-2",
        requestId: `end-${job.jobId}`,
      });
    }
    for (const { stepRunId, grant, state } of run.steps().filter(isHeld)) {
      run.tell("step", stepRunId, {
        type: "reported",
        agentId: grant!.agentId,
        token: grant!.token,
        phase: state === "cancelling" ? "cancelled" : "succeeded",
        exitCode: 0,
        reason: "",
        lastLine: 0,
        durationMs: 1,
      });
    }
  }
}

/**
 * A rerun of the run: of all jobs, of the failed ones, or from the step with this number; the reason when it is
 * refused.
 */
function rerunOf(run: SimulatedRun, chosen: "all" | "failed" | number): SimulatedRun | string {
  const steps = run.steps();
  if (typeof chosen === "number" && steps.length === 0) return rerunOf(run, "all");
  try {
    if (typeof chosen !== "number") return run.again({ kind: chosen });
    return run.again({ kind: "step", stepRunId: steps[chosen % steps.length]!.stepRunId });
  } catch (error) {
    if (error instanceof RefusedRerun) return error.refusal;
    throw error;
  }
}

function isReused(state: unknown): boolean {
  return ((state as { reusedFrom?: unknown }).reusedFrom ?? null) !== null;
}

describe("in any order of messages, with repeats and stale senders,", () => {
  it("a run keeps the guarantees of the transition tables, and always ends", () => {
    fc.assert(
      fc.property(plan, fc.boolean(), fc.array(action, { maxLength: 60, size: "max" }), (planned, isLate, actions) => {
        const run = new SimulatedRun(planned);
        if (!isLate) run.start();
        const ended = new Map<string, unknown>();
        for (const step of actions) {
          perform(run, step);
          checkGuarantees(run);
          for (const actor of run.actors.values()) {
            if ((actor.state as { endedAt: number | null }).endedAt === null) continue;
            if (!ended.has(actor.id)) ended.set(actor.id, actor.state);
            expect(actor.state, "a final state stays").to.equal(ended.get(actor.id));
          }
        }
        finish(run);
        checkGuarantees(run);
        expect(run.run.endedAt).to.not.equal(null);
        expect(checkTransitions(evidenceOf(run)), "the events show every transition").to.deep.equal([]);
      }),
      { numRuns: tries(500) },
    );
  });

  it("a rerun ends like any run, and never changes the actors that it reuses", () => {
    const scope = fc.oneof(fc.constantFrom("all" as const, "failed" as const), fc.nat({ max: 40 }));
    const moves = fc.array(action, { maxLength: 30, size: "max" });
    const reruns = fc.array(fc.tuple(scope, moves), { minLength: 1, maxLength: 3 });
    const refusals: string[] = [];
    fc.assert(
      fc.property(plan, moves, reruns, (planned, actions, again) => {
        let run = new SimulatedRun(planned).start();
        for (const step of actions) perform(run, step);
        finish(run);
        for (const [chosen, later] of again) {
          const next = rerunOf(run, chosen);
          if (typeof next === "string") {
            refusals.push(next);
            continue;
          }
          run = next.start();
          const reused = new Map([...run.actors].filter(([, { state }]) => isReused(state)));
          for (const step of later) {
            perform(run, step);
            checkGuarantees(run);
          }
          finish(run);
          checkGuarantees(run);
          expect(run.run.endedAt).to.not.equal(null);
          expect(checkTransitions(evidenceOf(run))).to.deep.equal([]);
          for (const [id, { state }] of reused) expect(run.actors.get(id)!.state).to.equal(state);
          const worked = run.effects.flatMap((effect): string[] => {
            if (effect.type === "dispatch") return [effect.order.jobId, effect.order.stepRunId];
            return effect.type === "offer" ? [effect.offer.jobId] : [];
          });
          expect(worked.filter((id) => isReused(run.actors.get(id)!.state))).to.deep.equal([]);
        }
      }),
      { numRuns: 300 },
    );
    expect(["nothing_failed", "late_cell", "never_ran"]).to.include.members(refusals);
    expect(refusals).to.include("nothing_failed");
  });

  it("the same messages give the same states and effects", () => {
    fc.assert(
      fc.property(plan, fc.array(action, { maxLength: 40, size: "max" }), (planned, actions) => {
        const [one, two] = [new SimulatedRun(planned), new SimulatedRun(planned)];
        for (const step of actions) {
          perform(one, step);
          perform(two, step);
        }
        expect(two.effects).to.deep.equal(one.effects);
        expect([...two.actors.values()]).to.deep.equal([...one.actors.values()]);
      }),
      { numRuns: tries(100) },
    );
  });
});
