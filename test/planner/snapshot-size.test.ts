/** The bound on the snapshot of a run, against snapshots as MongoDB would hold them. */
import { expect } from "chai";
import fc from "fast-check";
import { BSON } from "mongodb";
import { toStored } from "../../actors/kernel/head.ts";
import { RUN_AGGREGATE } from "../../actors/run/aggregate.ts";
import { newApproval } from "../../actors/approval/state.ts";
import { jobActor } from "../../actors/job/actor.ts";
import { type JobState, newJob } from "../../actors/job/state.ts";
import { stepActor } from "../../actors/step/actor.ts";
import { newStep, type StepState } from "../../actors/step/state.ts";
import type { AgentId, ProjectId, UserId } from "../../src/domain/ids.ts";
import { asId } from "../../src/domain/ids.ts";
import type { RunPlan } from "../../src/domain/plan.ts";
import { reasonChars, REASON_CHARS, stepAttemptsOf } from "../../src/planner/plan-index.ts";
import { findTooLargeForAll } from "../../src/planner/definition-size.ts";
import {
  APPROVAL_MESSAGE_CHARS,
  bytesOfCells,
  sizedJob,
  snapshotBytes,
  snapshotBytesOf,
} from "../../src/planner/snapshot-size.ts";
import { dryRun } from "../../src/planner/dry-run.ts";
import { planRun } from "../../src/planner/plan-run.ts";
import type { StoredActor } from "../../src/stores/ports/aggregates.ts";
import { parseDefinition } from "../../src/definition/parse.ts";
import { sampleAggregate } from "../contracts/samples.ts";
import { subjectOf } from "../../bench/millrace/large-definition.ts";
import { approvalOf, type JobSketch, planOf, retryOf } from "../support/plans.ts";
import { LargeRun } from "../support/large-runs.ts";
import { RUN_ID } from "../support/simulated-run.ts";

const LONG_ID = "é".repeat(32);
const LONG = 2 ** 41;
const TIMER = { generation: LONG, dueAt: LONG };
const GRANT = { agentId: asId<AgentId>(RUN_ID), bootId: LONG_ID, requestId: LONG_ID, token: LONG };

function bytesOf(actor: StoredActor): number {
  return BSON.calculateObjectSize({ [actor.id]: actor });
}

/** A job and a step with fields that are all as long as they can be. */
function longest(plan: RunPlan): { readonly job: JobState; readonly step: StepState } {
  const at = LONG;
  const job: JobState = {
    ...newJob(RUN_ID, plan.jobs[0]!),
    index: 4_999,
    cell: 1_023,
    attempt: 10,
    retryOf: newJob(RUN_ID, plan.jobs[0]!).jobId,
    leaseMs: at,
    state: "cancelling",
    reason: "approval_rejected",
    place: { groupId: `grp_${"0".repeat(32)}` as never, name: "€".repeat(200), held: true },
    gaveWayTo: RUN_ID,
    attemptsBefore: LONG,
    reusedFrom: newJob(RUN_ID, plan.jobs[0]!).jobId,
    queuedAt: at,
    waits: { reason: "no_agent_matches", clause: "" },
    startedAt: at,
    deployment: {
      projectId: LONG_ID as never,
      pipelineId: LONG_ID as never,
      environment: "€".repeat(200),
      job: "€".repeat(200),
      startedAt: at,
    },
    endedAt: at,
    grant: GRANT,
    quotas: [LONG_ID],
    fence: LONG,
    stepIndex: 4_999,
    failing: "condition_failed",
    stepAttempt: 10,
    firstStep: 4_999,
    cleanup: "running",
    generation: LONG,
    queueTimer: TIMER,
    queueLeftMs: LONG,
    timeoutTimer: TIMER,
    retryTimer: TIMER,
  };
  const step: StepState = {
    ...newStep(job, 4_999, 10),
    state: "cancelling",
    reason: `dispatch_failed: ${"€".repeat(REASON_CHARS.least)}`,
    grant: GRANT,
    queuedAt: at,
    startedAt: at,
    endedAt: at,
    exitCode: LONG,
    attemptsBefore: LONG,
    reusedFrom: newStep(job, 0).stepRunId,
    lastLine: LONG,
    usage: { cpuMs: LONG, maxRssBytes: LONG },
  };
  return { job, step };
}

const sketch: fc.Arbitrary<JobSketch> = fc.record({
  steps: fc.array(
    fc.record({
      retry: fc.option(
        fc.nat({ max: 3 }).map((more) => ({ ...retryOf(1 + more), on: ["failed" as const] })),
        { nil: null },
      ),
    }),
    { minLength: 1, maxLength: 4 },
  ),
  retry: fc.integer({ min: 1, max: 4 }).map((attempts) => retryOf(attempts)),
  approval: fc.option(fc.constant(approvalOf({ message: "please" })), { nil: null }),
  timeoutMs: fc.option(fc.constant(100_000), { nil: null }),
});

describe("the bound on the snapshot of a run", () => {
  it("holds for a job, a step and an approval whose fields are all as long as they can be", () => {
    const plan = planOf([[{ retry: retryOf(1) }]]);
    const { job, step } = longest(plan);
    const group = { name: "g", limit: 1, definedBy: "", onConflict: "queue" as const };
    const empty = snapshotBytes([], [], []);
    const size = sizedJob({ ...plan.jobs[0]!, group, environment: "e" });
    const ofJob = snapshotBytes([{ ...size, steps: 0 }], [], []) - empty;
    const ofStep = snapshotBytes([size], [], []) - empty - ofJob;
    const stored = (kind: "job" | "step", id: string, state: JobState | StepState) =>
      kind === "job"
        ? { kind, id, state, index: jobActor.index(state as JobState) }
        : { kind, id, state, index: stepActor.index(state as StepState) };
    expect(ofJob).to.be.within(bytesOf(stored("job", job.jobId, job)), 1.2 * bytesOf(stored("job", job.jobId, job)));
    const bytesOfStep = bytesOf(stored("step", step.stepRunId, step));
    expect(ofStep).to.be.within(bytesOfStep, 1.2 * bytesOfStep);

    const gate = approvalOf({ required: ["ann"], count: 3 });
    const vote = { userId: asId<UserId>(RUN_ID), name: "€".repeat(64), at: LONG, comment: "€".repeat(2_000) };
    const request = {
      runId: RUN_ID,
      gate: { job: 4_999 },
      message: "€".repeat(APPROVAL_MESSAGE_CHARS),
      timeoutMs: LONG,
    };
    const approval = {
      ...newApproval(request, LONG, { ...plan, projectId: asId<ProjectId>("p".repeat(64)) }),
      approvals: [vote, vote, vote],
      rejection: vote,
    };
    const index = { position: 4_999, jobId: null, status: "cancelled", attempt: 1, agentId: null };
    const ofApproval = snapshotBytes([], [gate], []) - empty;
    expect(bytesOf({ kind: "approval", id: approval.approvalId, state: approval, index })).to.be.at.most(ofApproval);
  });

  it("holds for any run that is retried until no attempt is left", () => {
    fc.assert(
      fc.property(
        fc.array(sketch, { minLength: 1, maxLength: 6 }),
        fc.boolean(),
        fc.boolean(),
        (sketches, late, lose) => {
          const cells = { axes: [["n", [1, 2, 3]] as const], include: [], exclude: [] };
          const plan = planOf([sketches.map((job, at) => (late && at === 0 ? { ...job, cells } : job))]);
          const run = new LargeRun(plan);
          const left = new Set<string>();
          run.onSaved = (_head, _changed, ended) => {
            for (const { id } of ended) left.add(id);
          };
          run.approveAll();
          const reason = "€".repeat(REASON_CHARS.least);
          for (let round = 0; round < 500 && run.jobs("queued").length + run.jobs("running").length > 0; round++) {
            run.claim(run.jobs("queued"));
            // The last attempt of a step loses the agent: so the next attempt of the job has all its attempts again.
            const [step] = run.heldSteps();
            if (step === undefined) break;
            const most = plan.jobs[step.jobIndex]!.steps[step.index]!.retry?.attempts ?? 1;
            const isLast = step.index === plan.jobs[step.jobIndex]!.steps.length - 1;
            if (step.attempt < most) run.report([step], "failed", "", reason);
            else if (lose && isLast) run.report([step], "lost", "", reason);
            else run.report([step], isLast ? "failed" : "succeeded", "", reason);
          }
          // What ended in the last turn leaves the snapshot with another one.
          run.command("pause");
          const all = toStored(run.actors(), RUN_AGGREGATE);
          const actors = all.filter(({ id }) => !left.has(id));
          const attempts = actors.map(({ kind, index }) => `${kind} ${index.jobId} ${index.position}`);
          if (!late)
            expect(new Set(attempts.filter((one) => one.startsWith("step"))).size).to.equal(
              actors.filter(({ kind }) => kind === "step").length,
            );
          const { head } = sampleAggregate({ plan });
          const { rootId: _id, ...fields } = { ...head, owed: [] };
          const document = {
            ...fields,
            _id,
            changed: [],
            actors: Object.fromEntries(actors.map((one) => [one.id, one])),
          };
          const ofLate = late
            ? bytesOfCells(
                sizedJob(plan.jobs[0]!),
                [1, 2, 3].map((n) => [["n", n]]),
              )
            : 0;
          expect(BSON.calculateObjectSize(document)).to.be.at.most(
            snapshotBytesOf(plan, []) - 3 * REASON_CHARS.ofRun + ofLate,
          );
          expect(run.undecided).to.deep.equal([]);
          if (!lose) return;
          const stepRuns = plan.jobs.map(
            (job) => (job.cells === null ? 1 : 3) * job.retry.attempts * stepAttemptsOf(job.steps),
          );
          expect(run.actors("step")).to.have.length(stepRuns.reduce((sum, count) => sum + count, 0));
        },
      ),
      { numRuns: 60 },
    );
  });

  it("cuts the reasons of steps only where a run has many", () => {
    expect(reasonChars(planOf([[{ steps: 10 }]]))).to.equal(REASON_CHARS.most);
    expect(reasonChars(planOf([Array.from({ length: 5_000 }, () => ({}))]))).to.equal(30);
    const run = new LargeRun(planOf([[{ steps: 300 }]]));
    run.claim(run.jobs("queued"));
    run.report(run.heldSteps(), "failed", "", "x".repeat(4_096));
    const [failed] = run.actors("step").map(({ state }) => state as StepState);
    expect(failed!.reason).to.have.length(500);
  });
});

describe("the plan of a run that the store may not hold", () => {
  const text = (jobs: number, attempts: number, more = "") => {
    const names = Array.from(
      { length: jobs },
      (_, at) =>
        `{ name: j${at}, retry: { attempts: ${attempts} }${more}, steps: [{ uses: shell, args: { script: "true" } }] }`,
    );
    return `jobs: [${names.join(", ")}]\n`;
  };
  const subject = (definition: string, limit: number | null) => ({
    ...subjectOf(parseDefinition(definition, "yaml").definition!),
    snapshotBytes: limit,
  });

  it("is refused with both figures, by a trigger and by a dry run", () => {
    for (const outcome of [planRun(subject(text(100, 2), 500_000)), dryRun(subject(text(100, 2), 500_000))]) {
      if (outcome.ok) expect.fail("the plan was accepted");
      expect(outcome.fault).to.equal("definition");
      expect(outcome.problems.map(({ code }) => code)).to.deep.equal(["snapshot-limit"]);
      expect(outcome.problems[0]!.message).to.match(/may take \d{7} bytes, .* up to 500000 bytes/);
    }
  });

  it("is accepted with any number of attempts, and by a store without a bound", () => {
    const bytes = snapshotBytesOf((planRun(subject(text(100, 1), null)) as { plan: RunPlan }).plan, []);
    for (const [attempts, limit] of [
      [1, bytes],
      [10, bytes],
      [10, null],
    ] as const) {
      expect(planRun(subject(text(100, attempts), limit)).ok).to.equal(true);
      expect(dryRun(subject(text(100, attempts), limit)).ok).to.equal(true);
    }
    expect(planRun(subject(text(100, 1), bytes - 1)).ok).to.equal(false);
    expect(dryRun(subject(text(100, 1), bytes - 1)).ok).to.equal(false);
  });

  it("is refused when its definition is saved, unless a trigger might make it smaller", () => {
    const of = (definition: string) => parseDefinition(definition, "yaml").definition!;
    const bytesOf = (definition: string) =>
      snapshotBytesOf((planRun(subject(definition, null)) as { plan: RunPlan }).plan, []);
    const matrix = (axes: string, more = "") => `, matrix: { axes: { ${axes} }${more} }`;
    const variables = "variables: { list: '[1,2,3]', one: '[4]' }\n";
    for (const known of [
      text(100, 2),
      text(10, 2, matrix("n: [1, 2, 3]")),
      text(2, 2, ", concurrency: { group: g }"),
    ]) {
      const bytes = bytesOf(known);
      expect(findTooLargeForAll(of(known), bytes)).to.equal(undefined);
      expect(findTooLargeForAll(of(known), bytes - 1)!.message).to.include(`may take ${bytes} bytes`);
      expect(findTooLargeForAll(of(known), bytes - 1)!.path).to.deep.equal(["jobs", 0]);
    }
    // Another trigger may give a list of one value.
    const byTrigger = variables + text(10, 2, matrix("m: [1, 2], n: '${{ fromJSON(variables.list) }}'"));
    const least = variables + text(10, 2, matrix("m: [1, 2], n: '${{ fromJSON(variables.one) }}'"));
    expect(findTooLargeForAll(of(byTrigger), bytesOf(least))).to.equal(undefined);
    expect(findTooLargeForAll(of(byTrigger), bytesOf(least) - 1)).to.not.equal(undefined);
    const excluding = variables + text(10, 2, matrix("n: '${{ fromJSON(variables.list) }}'", ", exclude: [{ n: 1 }]"));
    expect(findTooLargeForAll(of(excluding), bytesOf(text(1, 2)))).to.equal(undefined);
  });

  it("leaves the cells of a late matrix as much as the rest of the run does not need", () => {
    const cells = { axes: [["n", Array.from({ length: 100 }, (_, at) => at)] as const], include: [], exclude: [] };
    const plan = planOf([[{ cells, retry: retryOf(2) }]]);
    const endOf = (lateBytes: number) => {
      const run = new LargeRun({ ...plan, lateBytes });
      return [run.run.state, run.jobs()[0]!.reason, run.jobs().length];
    };
    expect(endOf(300_000)).to.deep.equal(["running", "", 101]);
    expect(endOf(200_000)).to.deep.equal(["failed", "matrix_limit", 1]);
  });
});
