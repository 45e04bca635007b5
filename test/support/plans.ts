/** Plans for tests, with the shape that the planner makes. */
import { asId, type PipelineId, type ProjectId } from "../../src/domain/ids.ts";
import { ANY_AGENT } from "../../src/domain/labels.ts";
import type { JobSpec, PlannedApproval, PlannedJob, PlannedStep, RunPlan } from "../../src/domain/plan.ts";
import type { RunOrigin } from "../../src/stores/ports/aggregates.ts";

/** The origin of a first run that a user triggered by hand. */
export const MANUAL_ORIGIN: RunOrigin = {
  trigger: { kind: "manual", ref: "main" },
  variables: [],
  triggeredBy: "someone",
  actor: "someone",
  revisionId: "rev_1",
  commitSha: "rev_1",
  attempt: 1,
  retryOf: null,
  firstRunId: null,
};

export interface JobSketch extends Partial<Omit<PlannedJob, "steps" | "needs">> {
  /** The number of steps, or the fields in which each step differs from a plain one. */
  readonly steps?: number | readonly Partial<PlannedStep>[];
  readonly needs?: readonly number[];
}

/** A plan of one stage per inner list. */
export function planOf(stages: readonly (readonly JobSketch[])[], timeoutMs: number | null = null): RunPlan {
  const sketches = stages.flatMap((jobs, stage) => jobs.map((job) => ({ ...job, stage })));
  const dependents = sketches.map((): number[] => []);
  sketches.forEach(({ needs }, at) => new Set(needs).forEach((need) => dependents[need]?.push(at)));
  const jobs = sketches.map((sketch, index): PlannedJob => ({
    name: `job-${index}`,
    baseName: `job-${index}`,
    matrix: [],
    cells: null,
    failFast: false,
    maxParallel: null,
    continueOnError: false,
    timeoutMs: null,
    queueTimeoutMs: null,
    cancelGraceMs: 10_000,
    leaseMs: 30_000,
    priority: 0,
    retry: retryOf(2),
    selector: ANY_AGENT,
    outputs: [],
    ...sketch,
    index,
    needs: sketch.needs ?? [],
    when: sketch.when ?? null,
    approval: sketch.approval ?? null,
    group: sketch.group ?? null,
    dependents: dependents[index]!,
    steps: stepsOf(sketch.steps ?? 1),
  }));
  return {
    pipelineId: asId<PipelineId>("pl_TEST"),
    projectId: asId<ProjectId>("default"),
    namespace: "test",
    timeoutMs,
    group: null,
    stages: stages.map((_, stage) => ({ name: `stage-${stage}`, when: null, approval: null })),
    jobs,
  };
}

/** The same plan with an approval before one of its stages. */
export function withStageApproval(plan: RunPlan, stage: number, approval = approvalOf()): RunPlan {
  return { ...plan, stages: plan.stages.map((planned, at) => (at === stage ? { ...planned, approval } : planned)) };
}

/** One approval within an hour, from any user who may operate the project. */
export function approvalOf(overrides: Partial<PlannedApproval> = {}): PlannedApproval {
  return {
    required: [],
    count: 1,
    users: [],
    roles: ["owner", "admin", "maintainer", "operator"],
    timeoutMs: 3_600_000,
    preventSelf: false,
    message: "",
    ...overrides,
  };
}

/** The retry settings of a job that may have `attempts` attempts in all. */
export function retryOf(attempts: number, delayMs = 0): PlannedJob["retry"] {
  return { attempts, on: ["agent_lost", "dispatch_failed"], exitCodes: [], delayMs, backoff: 1, maxDelayMs: delayMs };
}

/** One specification per job: the names of its steps, and empty values for everything else. */
export function jobSpecsOf(plan: RunPlan): readonly JobSpec[] {
  return plan.jobs.map((job) => ({
    env: [],
    late: [],
    steps: job.steps.map(({ name }) => ({
      name,
      uses: "shell",
      action: "",
      args: { script: "true" },
      env: [],
      workingDirectory: "",
      artifacts: [],
      plugin: null,
      late: [],
      secrets: [],
    })),
  }));
}

function stepsOf(steps: number | readonly Partial<PlannedStep>[]): readonly PlannedStep[] {
  const sketches = typeof steps === "number" ? Array.from({ length: steps }, () => ({})) : steps;
  return sketches.map((sketch, index) => ({
    name: `step-${index}`,
    id: "",
    when: null,
    retry: null,
    continueOnError: false,
    timeoutMs: null,
    ...sketch,
  }));
}
