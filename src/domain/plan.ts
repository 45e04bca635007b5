/**
 * The plan of a run, which the planner makes from a definition and a trigger: an immutable graph of jobs and steps, and
 * one separate document for each job with what an agent needs to run it. Actors read the graph; only gateways read the
 * job documents.
 */
import type { ArtifactRule } from "./artifacts.ts";
import type { ContainerSpec, ServiceSpec } from "./containers/containers.ts";
import type { AgentSelector } from "./labels.ts";
import type { PipelineId, ProjectId } from "./ids.ts";
import type { Pairs } from "./pairs.ts";
import type { PluginPin } from "./plugins.ts";
import type { Role } from "./roles.ts";

/** A value that a matrix axis, a variable or an env entry may have. */
export type Scalar = string | number | boolean;

/** The graph of one run. Positions in `jobs` are the `index` by which ids of job runs are derived. */
export interface RunPlan {
  readonly pipelineId: PipelineId;
  readonly projectId: ProjectId;
  /** The definition's `namespace`; empty when it has none. */
  readonly namespace: string;
  /** Bound on the whole run, or null for none. */
  readonly timeoutMs: number | null;
  /** The group in which the run needs a place before it begins; null for none. */
  readonly group: PlannedGroup | null;
  /** The approval that the run needs before it begins; absent for none. */
  readonly approval?: PlannedApproval;
  /** True for a run of the default branch with a job whose target is protected; else absent. */
  readonly ofDefaultBranch?: true;
  readonly stages: readonly PlannedStage[];
  readonly jobs: readonly PlannedJob[];
  /** Whom the run tells what; absent when it tells no one. */
  readonly notifications?: readonly PlannedNotification[];
  /**
   * Bytes of the snapshot that the cells of each matrix which is known only during the run may take; absent for no bound,
   * and in plans of older nodes.
   */
  readonly lateBytes?: number;
}

export interface PlannedStage {
  readonly name: string;
  readonly when: PlannedCondition | null;
  /** The approval that the stage needs before it begins; null for none. */
  readonly approval: PlannedApproval | null;
}

/** When a stage, a job or a step runs. Without a condition, it runs when everything before it has succeeded. */
export interface PlannedCondition {
  /** The whole condition for people, with its implied part. */
  readonly written: string;
  /** The same condition, with the values that were known when the run was planned. It reads `jobs` and `steps` only. */
  readonly folded: string;
}

/** An approval: a gate that people open. Users are given by name or id. */
export interface PlannedApproval {
  /** Users who must all approve. */
  readonly required: readonly string[];
  /** Number of approvals that are needed, those of `required` included. */
  readonly count: number;
  /** Users who may approve besides `required`. */
  readonly users: readonly string[];
  /** Users with one of these roles may approve too. */
  readonly roles: readonly Role[];
  readonly timeoutMs: number;
  /** True when the user who triggered the run may not approve. */
  readonly preventSelf: boolean;
  /** A text for approvers, whose expressions read `jobs`. */
  readonly message: string;
}

export const ON_CONFLICT = ["queue", "cancelRunning", "reject"] as const;

/** A concurrency group: a bound on the runs or jobs of a project that work at once, over all runs. */
export interface PlannedGroup {
  /** A text whose expressions read `jobs`, and `matrix` in a job whose cells are made during the run. */
  readonly name: string;
  readonly limit: number;
  /** The revision that defines the limit; revisions sort by their creation. */
  readonly definedBy: string;
  /** What a run or job does when the group is full: it waits, ends an older member, or is refused. */
  readonly onConflict: (typeof ON_CONFLICT)[number];
}

/**
 * A matrix with an axis that is known only during the run. Such an axis is a text with expressions, which read jobs
 * that must end first.
 */
export interface DeferredCells {
  readonly axes: Pairs<readonly Scalar[] | string>;
  readonly include: readonly Pairs<Scalar>[];
  readonly exclude: readonly Pairs<Scalar>[];
}

export interface PlannedJob {
  readonly index: number;
  /** Unique within the run, for people: `test` or `test (node=20, os=linux)`. */
  readonly name: string;
  /** The job's name in the definition; cells of one matrix share it. */
  readonly baseName: string;
  /** Position in `stages`. A job begins only after every job of the stages before it has ended. */
  readonly stage: number;
  readonly matrix: Pairs<Scalar>;
  /** The matrix from which the job makes its cells when it begins; null for a job that is one cell or has no matrix. */
  readonly cells: DeferredCells | null;
  /** True when the failure of a cell cancels the other cells of the matrix. */
  readonly failFast: boolean;
  /** Bound on the cells of the matrix that work at once, or null. */
  readonly maxParallel: number | null;
  /** Indices of jobs of the same stage that must have succeeded first. */
  readonly needs: readonly number[];
  /** Indices of the jobs that need this one. */
  readonly dependents: readonly number[];
  readonly when: PlannedCondition | null;
  /** The approval of the job as a whole: one approval is for all cells of its matrix. */
  readonly approval: PlannedApproval | null;
  readonly group: PlannedGroup | null;
  /**
   * The name of the environment to which the job deploys: a text whose expressions read `jobs`, and `matrix` in a job whose cells
   * are made during the run. Absent for a job without a target, and for a name that is made of secrets.
   */
  readonly environment?: string;
  readonly continueOnError: boolean;
  /** Bound on the job, counted from its grant; null for none. */
  readonly timeoutMs: number | null;
  /** Bound on waiting for an agent, or null. */
  readonly queueTimeoutMs: number | null;
  /** Time between the polite and the forced end of a cancelled step. */
  readonly cancelGraceMs: number;
  /** Length of the step lease. */
  readonly leaseMs: number;
  /** Jobs with a larger priority are offered first. */
  readonly priority: number;
  /** Retries of the whole job: from its first step, on any agent. */
  readonly retry: PlannedRetry<"agent_lost" | "dispatch_failed">;
  readonly selector: AgentSelector;
  /** The outputs of the job: texts by name, whose expressions read `steps` and `jobs` once the job has ended. */
  readonly outputs: Pairs<string>;
  readonly steps: readonly PlannedStep[];
}

/** What the run of a job with a target is found by, from its start on. The fields never change. */
export interface DeploymentIndex {
  readonly projectId: ProjectId;
  readonly pipelineId: PipelineId;
  readonly environment: string;
  /** The name of the job, for people. */
  readonly job: string;
  /** Unix milliseconds. */
  readonly startedAt: number;
}

/** Which ends of a step or a job lead to another attempt, and when. */
export interface PlannedRetry<Cause extends string> {
  /** Greatest number of attempts, the first one included. */
  readonly attempts: number;
  readonly on: readonly Cause[];
  /** Exit codes of failures that are retried; empty for any. */
  readonly exitCodes: readonly number[];
  readonly delayMs: number;
  /** Factor by which each wait is longer than the one before. */
  readonly backoff: number;
  readonly maxDelayMs: number;
}

export interface PlannedStep {
  readonly name: string;
  /** The id by which conditions and outputs name the step; empty when none does. */
  readonly id: string;
  readonly when: PlannedCondition | null;
  readonly continueOnError: boolean;
  /** Bound on the step, counted from its start; null for none. */
  readonly timeoutMs: number | null;
  /** Retries of the step: by the same agent, in the same workspace; null for none. */
  readonly retry: PlannedRetry<"failed" | "timeout"> | null;
  /** True for a step with test reports; else absent. */
  readonly hasTests?: true;
}

/** What the job's own token for the API may do in its project, the least first; each contains the ones before it. */
export const JOB_API_WORDS = ["read", "trigger", "write"] as const;

export interface JobPermissions {
  /** True for a job that may ask for OpenID Connect tokens of this installation. */
  readonly idToken: boolean;
  /**
   * What the job's own token for the API may do. Null when the definition does not say: a job with `idToken` then reads its
   * project.
   */
  readonly api: (typeof JOB_API_WORDS)[number] | "none" | null;
  /** The environment of the job's target; null for none. */
  readonly environment: string | null;
}

/**
 * What an agent needs to run the steps of one job. Expressions are evaluated as far as their values are known when the
 * run is planned.
 */
export interface JobSpec {
  /** What the job may do with an identity of its own; absent for a job without one. */
  readonly permissions?: JobPermissions;
  /** Why no step of the job may run, for people; absent for a job that may. */
  readonly refusal?: string;
  /** The services of the job; absent for none. */
  readonly services?: readonly ServiceSpec[];
  /** The container that the steps of the job share; absent for none. */
  readonly container?: ContainerSpec;
  readonly env: Pairs<string>;
  /**
   * Names in `env` of the deferred texts: their expressions read `jobs` and `secrets`. `late` is the name of the stored
   * field.
   */
  readonly late: readonly string[];
  readonly steps: readonly StepSpec[];
}

export interface StepSpec {
  readonly name: string;
  /** A builtin (`shell`) or a plugin reference `<plugin_path>@<version>`; with `plugin`, the exact version. */
  readonly uses: string;
  /**
   * The package of the plugin; null for builtins, and for plugins that the registry did not know when the run was
   * planned.
   */
  readonly plugin: PluginPin | null;
  /** Empty for the default action of a plugin that the registry does not know. */
  readonly action: string;
  /** Arguments as JSON; expressions in strings are evaluated, except in the deferred texts. */
  readonly args: Readonly<Record<string, unknown>>;
  readonly env: Pairs<string>;
  /** Relative to the workspace; empty for its root. */
  readonly workingDirectory: string;
  readonly artifacts: readonly ArtifactRule[];
  /** The step's own container; absent for none. */
  readonly container?: ContainerSpec;
  /** Patterns of JUnit XML files; absent for a step without test reports. */
  readonly junit?: readonly string[];
  /**
   * JSON pointers to the deferred texts in `env`, `args`, `artifacts` and `junit`: their expressions read `jobs`, `steps`,
   * `env` and `secrets`, and the `matrix` of a cell that is made during the run. `late` is the name of the stored field.
   */
  readonly late: readonly string[];
  /** Names of all secrets that these texts, and the deferred texts of the job's `env`, read. */
  readonly secrets: readonly string[];
}

/** True when a name or a path of the step's artifacts or reports has a value only during the run. */
export function hasDeferredFiles({ late }: Pick<StepSpec, "late">): boolean {
  return late.some((pointer) => pointer.startsWith("/artifacts/") || pointer.startsWith("/junit/"));
}

export const NOTIFICATION_REASONS = [
  "success",
  "failure",
  "partial",
  "cancelled",
  "fixed",
  "approval",
  "waiting",
] as const;
export type NotificationReason = (typeof NOTIFICATION_REASONS)[number];
/** What users may choose to be told of. */
export const CHOSEN_REASONS = [
  "failure",
  "fixed",
  "success",
  "approval",
  "waiting",
] as const satisfies readonly NotificationReason[];
export type ChosenReason = (typeof CHOSEN_REASONS)[number];

export const NOTIFICATION_CHANNELS = ["webhook", "slack", "email"] as const;
export type NotificationChannel = (typeof NOTIFICATION_CHANNELS)[number];

/**
 * A notification of a definition as the plan of a run holds it. The expressions of its texts read `jobs`, `secrets` and
 * `notification`; all other values are put in.
 */
export interface PlannedNotification {
  /** The name of the job that it is about, for all cells of a matrix; null for the run. */
  readonly job: string | null;
  readonly on: readonly NotificationReason[];
  /** How long a wait has to last, milliseconds; null when no wait is told. */
  readonly longerThanMs: number | null;
  readonly channel: NotificationChannel;
  readonly message: NotificationMessage;
}

/** What is sent, and to where. A part that is absent has a default. */
export interface NotificationMessage {
  /** Of a webhook, and of a service like Slack. */
  readonly url?: string;
  /** The name of the secret that signs a webhook. */
  readonly secret?: string;
  /** Of a webhook: a JSON object. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** Of a service like Slack. */
  readonly channel?: string;
  /** Addresses of an e-mail. */
  readonly to?: readonly string[];
  readonly subject?: string;
  readonly text?: string;
}

/** What the expressions of a notification read as `notification`. */
export interface NotificationValues {
  readonly on: NotificationReason;
  /** The status of the run or the job. */
  readonly status: string;
  /** Why it ended so; empty when its status says it. */
  readonly reason: string;
  /** The default subject and the default text. */
  readonly subject: string;
  readonly text: string;
  /** Where the run is seen; empty while the installation does not know its own address. */
  readonly url: string;
  /** The name of the job; empty when it is about the run. */
  readonly job: string;
  /** Names of failed jobs, at most {@link MAX_FAILED_JOBS}. */
  readonly failedJobs: readonly string[];
  readonly triggeredBy: string;
  readonly ref: string;
  readonly commit: string;
  /** Seconds from the start of the run or the job; of a wait, how long it has lasted. */
  readonly duration: number;
  /** The approval, the place or the agent that is waited for; empty otherwise. */
  readonly waitingFor: string;
}

export const MAX_FAILED_JOBS = 20;

/** The name of a cell: `test (node=20, os=linux)`. */
export function cellName(jobName: string, cell: Pairs<Scalar>): string {
  return cell.length === 0 ? jobName : `${jobName} (${cell.map(([key, value]) => `${key}=${value}`).join(", ")})`;
}
