import { expect } from "chai";
import fc from "fast-check";
import type { JobTimer } from "../../actors/job/messages.ts";
import { isAtWork, isBound } from "../../actors/job/state.ts";
import { runStatus } from "../../actors/run/state.ts";
import { isHeld } from "../../actors/step/state.ts";
import type { AgentWait } from "../../src/domain/agent-wait.ts";
import type { ReportPhase } from "../../actors/step/messages.ts";
import { isFinalRunStatus } from "../../src/domain/status.ts";
import type { PlannedCondition, PlannedStep, RunPlan } from "../../src/domain/plan.ts";
import { jobEvidence } from "../chaos/check/collect.ts";
import type { RunEvidence } from "../chaos/check/evidence.ts";
import { checkTransitions } from "../chaos/check/transitions.ts";
import { type JobSketch, planOf, retryOf } from "../support/plans.ts";
import { AGENT, OTHER_AGENT, SimulatedRun } from "../support/simulated-run.ts";

/** One message as some order of deliveries, repeats and stale senders may bring it; indices are taken modulo what there is. */
type Action =
  | { readonly do: "start" | "stop" | "pause" | "resume" }
  | {
      readonly do: "claim";
      readonly job: number;
      readonly attempt: number;
      readonly other: boolean;
      readonly request: number;
    }
  | { readonly do: "report"; readonly step: number; readonly phase: ReportPhase; readonly staleness: number }
  | { readonly do: "waits"; readonly job: number; readonly reason: AgentWait["reason"] }
  | { readonly do: "lost"; readonly job: number; readonly attempt: number; readonly other: boolean }
  | {
      readonly do: "timer";
      readonly job: number;
      readonly timer: JobTimer;
      readonly staleness: number;
    }
  | { readonly do: "pass"; readonly ms: number };

const small = fc.nat({ max: 7 });
const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({ do: fc.constantFrom("start" as const, "stop" as const, "pause" as const, "resume" as const) }),
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("claim" as const),
      job: small,
      attempt: small,
      other: fc.boolean(),
      request: fc.nat({ max: 2 }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("report" as const),
      step: fc.nat({ max: 40 }),
      phase: fc.constantFrom<ReportPhase>(
        "started",
        "started",
        "started",
        "succeeded",
        "succeeded",
        "failed",
        "cancelled",
        "timedOut",
        "lost",
        "notStarted",
      ),
      staleness: fc.constantFrom(0, 0, 0, 1),
    }),
  },
  fc.record({
    do: fc.constant("waits" as const),
    job: small,
    reason: fc.constantFrom<AgentWait["reason"]>("no_agent_online", "all_busy"),
  }),
  fc.record({ do: fc.constant("lost" as const), job: small, attempt: small, other: fc.boolean() }),
  fc.record({
    do: fc.constant("timer" as const),
    job: small,
    timer: fc.constantFrom<JobTimer>("queueTimeout", "timeout", "retry"),
    staleness: fc.nat({ max: 1 }),
  }),
  fc.record({ do: fc.constant("pass" as const), ms: fc.nat({ max: 5_000 }) }),
);

/** As plans hold them: for a stage, a job or a step. */
const when: fc.Arbitrary<PlannedCondition | null> = fc.oneof(
  { weight: 4, arbitrary: fc.constant(null) },
  fc
    .constantFrom(
      "always()",
      "failure()",
      "success() && true",
      "success() && false",
      "cancelled()",
      "jobs.job-0.result == 'failed' || success()",
      "steps.s0.result != 'success' && always()",
      "success() && fromJSON('{')",
    )
    .map((folded) => ({ written: folded, folded })),
);

const retry: fc.Arbitrary<PlannedStep["retry"]> = fc.option(
  fc.record({
    attempts: fc.integer({ min: 2, max: 3 }),
    on: fc.constantFrom<("failed" | "timeout")[]>(["failed"], ["failed", "timeout"]),
    exitCodes: fc.constantFrom<number[]>([], [0]),
    delayMs: fc.constantFrom(0, 1_000),
    backoff: fc.constant(2),
    maxDelayMs: fc.constant(1_500),
  }),
);

const sketch: fc.Arbitrary<JobSketch> = fc.record({
  steps: fc
    .array(fc.record({ when, retry, continueOnError: fc.boolean() }), { minLength: 1, maxLength: 3 })
    .map((steps) => steps.map((step, index) => ({ ...step, id: `s${index}` }))),
  when,
  /** Made of lists already, it is spread when it begins all the same; the last one cannot be. */
  cells: fc.oneof(
    { weight: 4, arbitrary: fc.constant(null) },
    fc.constantFrom([1], [1, 2, 3], "${{ fromJSON('[]') }}").map((values) => ({
      axes: [["v", values] as const],
      include: [],
      exclude: [],
    })),
  ),
  failFast: fc.boolean(),
  maxParallel: fc.constantFrom(null, 1, 2),
  continueOnError: fc.boolean(),
  timeoutMs: fc.constantFrom(null, 1_000),
  queueTimeoutMs: fc.constantFrom(null, 1_000),
  retry: fc
    .tuple(fc.integer({ min: 1, max: 3 }), fc.constantFrom(0, 500))
    .map(([attempts, ms]) => retryOf(attempts, ms)),
});

/** Needs point backwards within the stage, so there is no cycle. */
const plan: fc.Arbitrary<RunPlan> = fc
  .array(
    fc.record({
      gate: when,
      /** Its jobs are the cells of one matrix. */
      matrix: fc.option(fc.record({ failFast: fc.boolean(), maxParallel: fc.constantFrom(null, 1, 2) })),
      jobs: fc.array(fc.tuple(sketch, fc.array(fc.nat({ max: 3 }), { maxLength: 2 })), { minLength: 1, maxLength: 4 }),
    }),
    { minLength: 1, maxLength: 3 },
  )
  .map((stages) => {
    let first = 0;
    const sketched = stages.map(({ jobs, matrix }, stage) => {
      const offset = first;
      first += jobs.length;
      return jobs.map(([job, needs], at) => ({
        ...job,
        ...(matrix === null ? {} : { ...matrix, cells: null, baseName: `matrix-${stage}` }),
        needs: matrix === null ? [...new Set(needs.filter((need) => need < at).map((need) => offset + need))] : [],
      }));
    });
    const planned = planOf(sketched);
    return { ...planned, stages: planned.stages.map((stage, index) => ({ ...stage, when: stages[index]!.gate })) };
  });

function perform(run: SimulatedRun, step: Action): void {
  const jobs = run.jobs();
  switch (step.do) {
    case "start":
      if (run.run.startTimer !== null) run.start();
      return;
    case "stop":
    case "pause":
    case "resume":
      run.command(step.do);
      return;
    case "claim": {
      const job = jobs[step.job % jobs.length]!;
      const agentId = step.other ? OTHER_AGENT : AGENT;
      run.tell("job", job.jobId, { type: "claimRequested", agentId, bootId: "boot-1", requestId: `r${step.request}` });
      return;
    }
    case "report": {
      // Mostly of steps that an agent has, where a report can do most.
      const held = run.steps().filter(isHeld);
      const states = step.step % 4 > 0 && held.length > 0 ? held : run.steps();
      const target = states[step.step % states.length];
      if (target === undefined) return;
      run.tell("step", target.stepRunId, {
        type: "reported",
        agentId: target.grant?.agentId ?? AGENT,
        token: (target.grant?.token ?? 1) - step.staleness,
        phase: step.phase,
        exitCode: 0,
        reason: "",
        lastLine: 0,
        durationMs: 1,
      });
      return;
    }
    case "waits": {
      const { jobId } = jobs[step.job % jobs.length]!;
      run.tell("job", jobId, { type: "waits", reason: step.reason, clause: "", text: "" });
      return;
    }
    case "lost": {
      const job = jobs[step.job % jobs.length]!;
      const agentId = step.other ? OTHER_AGENT : AGENT;
      run.tell("job", job.jobId, { type: "agentLost", agentId, bootId: "boot-1", reason: "" });
      return;
    }
    case "timer": {
      const job = jobs[step.job % jobs.length]!;
      const timer = { timeout: job.timeoutTimer, queueTimeout: job.queueTimer, retry: job.retryTimer }[step.timer];
      const generation = (timer?.generation ?? job.generation) - step.staleness;
      run.tell("job", job.jobId, { type: "timer", timer: step.timer, generation });
      return;
    }
    case "pass":
      run.now += step.ms;
  }
}

function checkGuarantees(run: SimulatedRun): void {
  for (const { baseName, maxParallel } of run.plan.jobs) {
    if (maxParallel === null) continue;
    const cells = run.jobs().filter((job) => run.plan.jobs[job.index]!.baseName === baseName);
    expect(cells.filter(isAtWork).length, "cells of one matrix at work").to.be.at.most(maxParallel);
  }
  expect(run.undecided, "no valid message is undecidable").to.deep.equal([]);
  const newest = new Map(run.jobs().flatMap((job) => (job.cell === null ? [[job.index, job] as const] : [])));
  const open = [...newest.values()].filter(({ endedAt }) => endedAt === null).length;
  expect(run.run.remaining, "jobs that have not ended").to.equal(open);
  expect(isFinalRunStatus(run.run.state as never), "final exactly when no job is open").to.equal(open === 0);
  for (const job of run.jobs()) {
    const held = run.steps().filter((step) => step.jobId === job.jobId && isHeld(step));
    expect(held.length, "steps of one job that are out").to.equal(isBound(job) && job.stepActive ? 1 : 0);
    for (const step of held) expect(step.grant!.token).to.equal(job.grant!.token);
  }
}

/** The published events as the store would number them, and the states as it would hold them. */
function evidenceOf(run: SimulatedRun): RunEvidence {
  const published = run.effects.flatMap((effect) => (effect.type === "publish" ? [effect.event] : []));
  return {
    runId: run.run.runId,
    status: runStatus(run.run.state),
    settled: true,
    eventNumber: published.length,
    events: published.map((event, at) => ({ ...event, number: at + 1, timeMs: at })),
    jobs: jobEvidence(run.jobs(), run.steps()),
  };
}

/** Whatever is waiting gets an agent that succeeds. */
function letItEnd(run: SimulatedRun): void {
  if (run.run.startTimer !== null) run.start();
  run.command("resume");
  for (let rounds = 0; run.run.endedAt === null && rounds < 200; rounds++) {
    for (const job of run.jobs()) {
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

describe("any order of messages, with repeats and stale senders", () => {
  it("never leaves the tables' guarantees, and the run always ends", () => {
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
        letItEnd(run);
        checkGuarantees(run);
        expect(run.run.endedAt).to.not.equal(null);
        expect(checkTransitions(evidenceOf(run)), "the ledger tells the life of every actor").to.deep.equal([]);
      }),
      { numRuns: 500 },
    );
  });

  it("decides the same messages to the same states and effects", () => {
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
      { numRuns: 100 },
    );
  });
});
