/** Arbitrary plans, and arbitrary orders of messages to a run. */
import fc from "fast-check";
import type { JobTimer } from "../../actors/job/messages.ts";
import type { ApprovalState } from "../../actors/approval/state.ts";
import type { JobState } from "../../actors/job/state.ts";
import { isHeld } from "../../actors/step/state.ts";
import type { ReportPhase } from "../../actors/step/messages.ts";
import type { AgentWait } from "../../src/domain/agent-wait.ts";
import { memberKey } from "../../src/domain/groups.ts";
import { asId, type CommandId, type RunId, type UserId } from "../../src/domain/ids.ts";
import type { PlannedApproval, PlannedCondition, PlannedGroup, PlannedStep, RunPlan } from "../../src/domain/plan.ts";
import { type JobSketch, planOf, retryOf } from "../support/plans.ts";
import { AGENT, OTHER_AGENT, type SimulatedRun } from "../support/simulated-run.ts";

/**
 * One message to a run; repeats and stale messages are among them. An index is taken modulo the number of such actors.
 */
export type Action =
  | { readonly do: "start" | "stop" | "pause" | "resume" }
  | {
      readonly do: "claim";
      readonly job: number;
      readonly attempt: number;
      readonly other: boolean;
      readonly request: number;
    }
  | { readonly do: "report"; readonly step: number; readonly phase: ReportPhase; readonly staleness: number }
  | { readonly do: "cancelJob"; readonly job: number }
  | { readonly do: "cancelStep"; readonly step: number }
  | { readonly do: "updateStep"; readonly step: number; readonly priority: number | null }
  | { readonly do: "pushEvents"; readonly step: number; readonly through: number; readonly staleness: number }
  | { readonly do: "waits"; readonly job: number; readonly reason: AgentWait["reason"] }
  | { readonly do: "lost"; readonly job: number; readonly attempt: number; readonly other: boolean }
  | {
      readonly do: "timer";
      readonly job: number;
      readonly timer: JobTimer;
      readonly staleness: number;
    }
  | { readonly do: "vote"; readonly approval: number; readonly voter: number; readonly approve: boolean }
  | { readonly do: "expire"; readonly approval: number; readonly staleness: number }
  | { readonly do: "place"; readonly job: number; readonly kind: "placed" | "superseded" | "placeRefused" }
  | { readonly do: "pass"; readonly ms: number };

const small = fc.nat({ max: 7 });
export const action: fc.Arbitrary<Action> = fc.oneof(
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
  fc.record({ do: fc.constant("cancelJob" as const), job: small }),
  fc.record({ do: fc.constant("cancelStep" as const), step: fc.nat({ max: 40 }) }),
  fc.record({
    do: fc.constant("updateStep" as const),
    step: fc.nat({ max: 40 }),
    priority: fc.option(fc.integer({ min: -1, max: 1 })),
  }),
  fc.record({
    do: fc.constant("pushEvents" as const),
    step: fc.nat({ max: 40 }),
    through: fc.integer({ min: 1, max: 5 }),
    staleness: fc.constantFrom(0, 0, 0, 1),
  }),
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
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("vote" as const),
      approval: small,
      voter: fc.nat({ max: 2 }),
      approve: fc.constantFrom(true, true, true, false),
    }),
  },
  fc.record({ do: fc.constant("expire" as const), approval: small, staleness: fc.nat({ max: 1 }) }),
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("place" as const),
      job: fc.integer({ min: -1, max: 11 }),
      kind: fc.constantFrom("placed" as const, "placed" as const, "superseded" as const, "placeRefused" as const),
    }),
  },
  fc.record({ do: fc.constant("pass" as const), ms: fc.nat({ max: 5_000 }) }),
);

const approval: fc.Arbitrary<PlannedApproval | null> = fc.oneof(
  { weight: 3, arbitrary: fc.constant(null) },
  fc.record({
    required: fc.constantFrom<string[]>([], ["voter-0"]),
    count: fc.integer({ min: 1, max: 2 }),
    users: fc.constant<string[]>([]),
    roles: fc.constant([]),
    timeoutMs: fc.constant(60_000),
    preventSelf: fc.constant(false),
    message: fc.constant("ready?"),
  }),
);

const group: fc.Arbitrary<PlannedGroup | null> = fc.oneof(
  { weight: 3, arbitrary: fc.constant(null) },
  fc.constantFrom("deploy", "${{ jobs.job-0.result }}", "${{ '' }}").map((name) => ({
    name,
    limit: 1,
    definedBy: "",
    onConflict: "queue" as const,
  })),
);

/** A condition of a stage, a job or a step. */
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
  /**
   * A job with such cells is spread when it begins, also when all axes are lists; the cells of the last one cannot be
   * made.
   */
  cells: fc.oneof(
    { weight: 4, arbitrary: fc.constant(null) },
    fc.constantFrom([1], [1, 2, 3], "${{ fromJSON('[]') }}").map((values) => ({
      axes: [["v", values] as const],
      include: [],
      exclude: [],
    })),
  ),
  approval,
  group,
  failFast: fc.boolean(),
  maxParallel: fc.constantFrom(null, 1, 2),
  continueOnError: fc.boolean(),
  timeoutMs: fc.constantFrom(null, 1_000),
  queueTimeoutMs: fc.constantFrom(null, 1_000),
  retry: fc
    .tuple(fc.integer({ min: 1, max: 3 }), fc.constantFrom(0, 500))
    .map(([attempts, ms]) => retryOf(attempts, ms)),
});

/** A plan without a cycle: jobs need only earlier jobs of their stage. */
export const plan: fc.Arbitrary<RunPlan> = fc
  .array(
    fc.record({
      gate: when,
      approval,
      /** Its jobs are the cells of one matrix. */
      matrix: fc.option(fc.record({ failFast: fc.boolean(), maxParallel: fc.constantFrom(null, 1, 2) })),
      jobs: fc.array(fc.tuple(sketch, fc.array(fc.nat({ max: 3 }), { maxLength: 2 })), { minLength: 1, maxLength: 4 }),
    }),
    { minLength: 1, maxLength: 3 },
  )
  .chain((stages) => fc.tuple(fc.constant(stages), group))
  .map(([stages, ofRun]) => {
    let first = 0;
    const sketched = stages.map(({ jobs, matrix }, stage) => {
      const offset = first;
      first += jobs.length;
      return jobs.map(([job, needs], at) => ({
        ...job,
        // One approval opens all cells of a matrix.
        ...(matrix === null
          ? {}
          : { ...matrix, cells: null, baseName: `matrix-${stage}`, approval: jobs[0]![0].approval! }),
        needs: matrix === null ? [...new Set(needs.filter((need) => need < at).map((need) => offset + need))] : [],
      }));
    });
    const planned = planOf(sketched);
    return {
      ...planned,
      group: ofRun === null ? null : { ...ofRun, name: "runs" },
      stages: planned.stages.map((stage, index) => {
        const { gate, approval: ofStage } = stages[index]!;
        return { ...stage, when: gate, approval: ofStage };
      }),
    };
  });

export function perform(run: SimulatedRun, step: Action): void {
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
      // Mostly for steps that an agent holds, where a report has most effects.
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
    case "cancelJob": {
      const { jobId } = jobs[step.job % jobs.length]!;
      run.tell("job", jobId, { type: "cancelJob", ...ASKED });
      return;
    }
    case "cancelStep": {
      const held = run.steps().filter(isHeld);
      const states = step.step % 4 > 0 && held.length > 0 ? held : run.steps();
      const target = states[step.step % states.length];
      if (target === undefined) return;
      run.tell("job", target.jobId, { type: "cancelStep", stepRunId: target.stepRunId, ...ASKED });
      return;
    }
    case "updateStep": {
      const pending = run.steps().filter(({ state }) => state === "pending");
      const states = step.step % 4 > 0 && pending.length > 0 ? pending : run.steps();
      const target = states[step.step % states.length];
      if (target === undefined) return;
      const metadata = [["nth", `${step.step}`]] as const;
      const change = step.priority === null ? { metadata } : { metadata, priority: step.priority };
      run.tell("job", target.jobId, { type: "updateStep", stepRunId: target.stepRunId, change, ...ASKED });
      return;
    }
    case "pushEvents": {
      const held = run.steps().filter(isHeld);
      const states = step.step % 4 > 0 && held.length > 0 ? held : run.steps();
      const target = states[step.step % states.length];
      if (target === undefined) return;
      run.tellRun({
        type: "eventsPushed",
        commandId: asId<CommandId>("pushed"),
        stepRunId: target.stepRunId,
        agentId: target.grant?.agentId ?? AGENT,
        token: (target.grant?.token ?? 1) - step.staleness,
        through: step.through,
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
    case "vote": {
      const approvals = run.approvals();
      const asked = approvals[step.approval % approvals.length];
      if (asked !== undefined) vote(run, asked, step.voter, step.approve);
      return;
    }
    case "expire": {
      const approvals = run.approvals();
      const asked = approvals[step.approval % approvals.length];
      if (asked === undefined) return;
      const generation = (asked.expiryTimer?.generation ?? 1) - step.staleness;
      run.tell("approval", asked.approvalId, { type: "timer", timer: "expiry", generation });
      return;
    }
    case "place": {
      const job = step.job < 0 ? undefined : jobs[step.job % jobs.length];
      // A group answers members that have asked it for a place; some of them have left since.
      const member = { runId: run.run.runId, job: job?.index ?? null, cell: job?.cell ?? null };
      if (run.asked.has(memberKey(member))) tellPlace(run, job ?? null, step.kind);
      return;
    }
    case "pass":
      run.now += step.ms;
  }
}

const ASKED = { commandId: asId<CommandId>("cmd_cancel"), operator: "ann", reason: "" };

export function vote(run: SimulatedRun, { approvalId }: ApprovalState, voter: number, isApproval: boolean): void {
  const name = `voter-${voter}`;
  run.tell("approval", approvalId, {
    type: isApproval ? "approve" : "reject",
    commandId: asId<CommandId>("cmd_vote"),
    voter: { userId: asId<UserId>(`usr_${voter}`), name },
    comment: "",
  });
}

/** Sends an answer of a group to the run (`job` null) or to one of its jobs. */
export function tellPlace(
  run: SimulatedRun,
  job: JobState | null,
  kind: "placed" | "superseded" | "placeRefused",
): void {
  const member = { runId: run.run.runId, job: job?.index ?? null, cell: job?.cell ?? null };
  const by = kind === "placed" ? null : asId<RunId>("run_OTHER");
  run.tellRun({ type: kind, kind, commandId: asId<CommandId>("cmd_place"), member, by });
}
