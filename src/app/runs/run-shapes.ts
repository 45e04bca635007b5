/** The shapes of runs, jobs and steps as users read them. */
import { z } from "zod";
import type {
  AgentId,
  ApprovalId,
  DeliveryId,
  JobRunId,
  PipelineId,
  ProjectId,
  RunId,
  StepRunId,
  UploadId,
} from "../../domain/ids.ts";
import { JOB_STATUS_CODES, RUN_STATUS_CODES, STEP_STATUS_CODES } from "../../domain/status.ts";
import { HeldJobShape } from "../agents/inventory.ts";
import { CommitStatusShape } from "../commit-statuses/commit-statuses.ts";
import { ApprovalShape } from "../approvals/approval-shape.ts";
import { fields, id, keyOf, listOf, mapOf, scalar, shape, time, timingFields, wholeNumber } from "../shapes.ts";
import { TestCountsShape } from "./test-counts.ts";

export const TRIGGER_KINDS = ["manual", "cron", "event"] as const;

export const triggerShape = fields(() => ({
  kind: z.enum(TRIGGER_KINDS),
  ref: z.string(),
  /** Only of a run that a delivery of a hook has started. */
  event: fields(() => ({
    deliveryId: id<DeliveryId>(),
    /** The trigger in the definition: its name, or its number. */
    name: z.string(),
    /** The commit; empty for none. */
    sha: z.string(),
    /** True for an event from a fork: the run gets no secrets. */
    untrusted: z.boolean(),
  })).exactOptional(),
}));

const PLAIN_REASONS = [
  "worker",
  "paused",
  "stage",
  "needs",
  "retry",
  "parallel",
  "no_agent_online",
  "no_agent_matches",
  "all_busy",
  "quota",
  "agent",
  "approval",
  "concurrency",
  "job",
  "step",
  "start",
  "token",
] as const;

/** The agents that are online and may take jobs of the project, as a waiting job sees them. Of many, the first five are named. */
export const AgentFactsShape = shape("AgentFacts", () => ({
  online: wholeNumber,
  matching: wholeNumber,
  /** Each clause of the selector that agents fail, with how many fail it. */
  failing: listOf(fields(() => ({ clause: z.string(), agents: wholeNumber, agentIds: listOf(id<AgentId>()) }))),
  /** The agent that fails the fewest clauses, and these; null while an agent matches. */
  nearest: fields(() => ({ agentId: id<AgentId>(), failing: listOf(z.string()) })).nullable(),
  /** Agents that match and take no job now; `takesNoJobs` says why when it is not their slots. */
  busy: listOf(
    fields(() => ({
      agentId: id<AgentId>(),
      busy: wholeNumber,
      slots: wholeNumber,
      takesNoJobs: z.string(),
      /** Jobs that hold its slots, as far as the caller may see them; at most five. Only in the answer for one run. */
      jobs: listOf(HeldJobShape).exactOptional(),
    })),
  ),
}));

export const PlainWaitShape = shape("PlainWait", () => ({
  reason: z.enum(PLAIN_REASONS),
  /** For people. */
  text: z.string(),
  /** Names of the needed jobs that have not ended; only for the reason `needs`. */
  needs: listOf(z.string()).exactOptional(),
  /** Only for a wait for an agent, while presence can be read. */
  agents: AgentFactsShape.exactOptional(),
  /** Only for the reason `quota`. */
  quota: fields(() => ({
    name: z.string(),
    taken: wholeNumber,
    limit: wholeNumber,
    /** Jobs that have a place in it, as far as the caller may see them; at most five. Only in the answer for one run. */
    jobs: listOf(HeldJobShape).exactOptional(),
  })).exactOptional(),
  /**
   * Offers that go before this one, when no other comes: those that the matching agents could take, by priority, then in
   * turn by project, then by age. Quotas that are reached hold some of them up, so it may be this job's turn earlier. Only
   * for a job that waits for an agent, and absent while its place is not known.
   */
  ahead: wholeNumber.exactOptional(),
}));

export const ApprovalWaitShape = shape("ApprovalWait", () => ({
  reason: z.literal("approval"),
  text: z.string(),
  approvalId: id<ApprovalId>(),
}));

export const GroupWaitShape = shape("GroupWait", () => ({
  reason: z.literal("concurrency"),
  text: z.string(),
  group: z.string(),
  /** The run that has held a place longest; null while no run holds one. */
  holder: id<RunId>().nullable(),
  /** Waiting members that get a place earlier. */
  ahead: wholeNumber,
}));

export const waitingForShape = z.union([PlainWaitShape, ApprovalWaitShape, GroupWaitShape]);

const runFields = () => ({
  runId: id<RunId>(),
  pipelineId: id<PipelineId>(),
  projectId: id<ProjectId>(),
  status: keyOf(RUN_STATUS_CODES),
  statusCode: wholeNumber,
  trigger: triggerShape,
  triggeredBy: z.string(),
  /** The authenticated caller, when that caller acted for another user. */
  actor: z.string(),
  commitSha: z.string(),
  attempt: wholeNumber,
  retryOf: id<RunId>().nullable(),
  /** True for a run with a definition of its own, which is no definition of the pipeline. */
  adHoc: z.boolean(),
  waitingFor: waitingForShape.nullable(),
  createdAt: time,
  ...timingFields(),
});

export const RunShape = shape("Run", runFields);

const wait = wholeNumber.nullable();

/**
 * What a start waits for, one after the other: the plan, earlier stages, needed jobs, the end of a pause, an agent to
 * which the job is granted, and the agent's report that the step has started. A wait that goes on is counted until now.
 * Null: the wait has not begun, or there was none.
 */
export const WaitsShape = shape("Waits", () => ({
  plan: wait,
  stage: wait,
  needs: wait,
  paused: wait,
  agent: wait,
  start: wait,
}));

/** Times are null for what has not happened. All steps of a job run share its offer and its claim. */
export const StartTimingShape = shape("StartTiming", () => ({
  triggeredAt: time,
  plannedAt: time,
  /** Since when the job is on the board; null while a pause keeps the job off the board. */
  offeredAt: time.nullable(),
  /** When the grant was saved. */
  claimedAt: time.nullable(),
  dispatchedAt: time.nullable(),
  startedAt: time.nullable(),
  waits: WaitsShape,
}));

const linkFields = {
  /** The previous and the next attempt within the run. */
  retryOf: z.string().nullable(),
  retriedBy: z.string().nullable(),
};

const StepShape = shape("Step", () => ({
  stepRunId: id<StepRunId>(),
  name: z.string(),
  status: keyOf(STEP_STATUS_CODES),
  statusCode: wholeNumber,
  attempt: wholeNumber,
  ...linkFields,
  /** The step run of an earlier run whose result, outputs and log this one reuses. */
  reusedFrom: id<StepRunId>().nullable(),
  exitCode: z.number().int().nullable(),
  reason: z.string(),
  lastLine: wholeNumber.nullable(),
  usage: fields(() => ({ cpuMs: z.number(), maxRssBytes: z.number() })).nullable(),
  /** What users have noted of it; absent for nothing. */
  metadata: mapOf(z.string()).exactOptional(),
  ...timingFields(),
  timing: StartTimingShape,
  waitingFor: waitingForShape.nullable(),
}));

const conditionShape = fields(() => ({
  /** Whose condition: of the stage when it kept the stage closed, else of the job. */
  of: z.enum(["stage", "job"]),
  expression: z.string(),
  /** With the values that were known when the run was planned. */
  resolved: z.string(),
  /** Null before it is decided; `failed` when it could not be evaluated. */
  verdict: z.enum(["true", "false", "failed"]).nullable(),
}));

export const JobShape = shape("Job", () => ({
  jobId: id<JobRunId>(),
  name: z.string(),
  stage: z.string(),
  matrix: mapOf(scalar),
  /** Names of jobs. */
  needs: listOf(z.string()),
  status: keyOf(JOB_STATUS_CODES),
  statusCode: wholeNumber,
  attempt: wholeNumber,
  ...linkFields,
  reusedFrom: id<JobRunId>().nullable(),
  agentId: id<AgentId>().nullable(),
  reason: z.string(),
  /** Jobs with a larger priority are offered to agents first. */
  priority: z.number().int(),
  /** The run that has, or will get, the place that this job gave up in its group. */
  gaveWayTo: id<RunId>().nullable(),
  /** Null for a job without one, in a stage without one. */
  condition: conditionShape.nullable(),
  waitingFor: waitingForShape.nullable(),
  queuedAt: time.nullable(),
  ...timingFields(),
  /** Null when none of its steps has left test reports. */
  tests: TestCountsShape.nullable(),
  steps: listOf(StepShape),
}));

const briefFields = () => ({
  ...runFields(),
  /** The definition that it runs. */
  revisionId: z.string(),
  /** Number of the newest transition in it: what follows has larger numbers. */
  eventNumber: wholeNumber,
  /** The rerun of this run. */
  retriedBy: id<RunId>().nullable(),
  variables: mapOf(z.string()),
  /** Variables of the project and the tenant, as they were at the trigger. */
  inheritedVariables: mapOf(z.string()),
  /** The uploads that the trigger gave, by name, as they were then. */
  uploads: mapOf(fields(() => ({ uploadId: id<UploadId>(), name: z.string(), size: wholeNumber, sha256: z.string() }))),
  reason: z.string(),
  approvals: listOf(ApprovalShape),
  /** Of all jobs, whether chosen or not; null when no step has left test reports. */
  tests: TestCountsShape.nullable(),
  /** What the host of its repository is told of the run; null when it is told nothing. */
  commitStatus: CommitStatusShape.nullable(),
  /** How many jobs there are to show, whether chosen or not. */
  jobCount: wholeNumber,
});

export const RunInBriefShape = fields(briefFields);
export const RunDetailShape = shape("RunDetail", () => ({ ...briefFields(), jobs: listOf(JobShape) }));
