/**
 * What the planner makes of a definition and a trigger: an immutable graph of jobs and steps, and apart from it one
 * document per job with what an agent needs to run it. Actors read the graph; only gateways read job documents.
 */
import type { ArtifactRule } from "./artifacts.ts";
import type { AgentSelector } from "./labels.ts";
import type { PipelineId, ProjectId } from "./ids.ts";
import type { PluginPin } from "./plugins.ts";
import type { Role } from "./roles.ts";

/** A value that a matrix axis, a variable or an env entry may have. */
export type Scalar = string | number | boolean;

/** A map with names chosen by users, kept as pairs: a name may hold dots and dollar signs, which are paths to a store. */
export type Pairs<V> = readonly (readonly [name: string, value: V])[];

/** The graph of one run. Positions in `jobs` are the `index` by which ids of job runs are derived. */
export interface RunPlan {
  readonly pipelineId: PipelineId;
  readonly projectId: ProjectId;
  /** The definition's `namespace`; empty when it has none. */
  readonly namespace: string;
  /** Bound on the whole run, or null for none. */
  readonly timeoutMs: number | null;
  /** How many runs of a group work at once; this one begins when it has a place. */
  readonly group: PlannedGroup | null;
  readonly stages: readonly PlannedStage[];
  readonly jobs: readonly PlannedJob[];
}

export interface PlannedStage {
  readonly name: string;
  readonly when: PlannedCondition | null;
  /** What has to be approved before it begins. */
  readonly approval: PlannedApproval | null;
}

/** When a stage, a job or a step runs; where there is none, it runs when all before it has succeeded. */
export interface PlannedCondition {
  /** In full, as people know it: with what is implied. */
  readonly written: string;
  /** The same with the values that were known when the run was planned; it reads `jobs` and `steps` alone. */
  readonly folded: string;
}

/** A gate that people open; users are named by name or id. */
export interface PlannedApproval {
  /** Each of them has to approve. */
  readonly required: readonly string[];
  /** Approvals in all, those of `required` among them. */
  readonly count: number;
  /** Who else may approve: these, and whoever has one of the roles. */
  readonly users: readonly string[];
  readonly roles: readonly Role[];
  readonly timeoutMs: number;
  /** Whoever triggered the run may not approve. */
  readonly preventSelf: boolean;
  /** For approvers: a text whose expressions read `jobs`. */
  readonly message: string;
}

export const ON_CONFLICT = ["queue", "cancelRunning", "reject"] as const;

/** A bound on how much of a project works at once, over all of its runs. */
export interface PlannedGroup {
  /** A text whose expressions read `jobs`, and `matrix` in a job whose cells are made late. */
  readonly name: string;
  readonly limit: number;
  /** The revision that says so; revisions sort by their creation. */
  readonly definedBy: string;
  /** What becomes of one that finds the group full: it waits, ends an older one, or is refused. */
  readonly onConflict: (typeof ON_CONFLICT)[number];
}

/** A matrix of which an axis is known once the jobs have ended that it reads: a text with expressions in the place of its values. */
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
  /** From which its cells are made when it begins; null for a job that is one cell or has no matrix. */
  readonly cells: DeferredCells | null;
  /** When a cell of the matrix fails, the others are cancelled. */
  readonly failFast: boolean;
  /** Bound on the cells of the matrix at work at once, or null. */
  readonly maxParallel: number | null;
  /** Indices of jobs of the same stage that must have succeeded first. */
  readonly needs: readonly number[];
  /** Indices of the jobs that need this one. */
  readonly dependents: readonly number[];
  readonly when: PlannedCondition | null;
  /** Of the job as a whole: one approval opens it for all cells of its matrix. */
  readonly approval: PlannedApproval | null;
  readonly group: PlannedGroup | null;
  readonly continueOnError: boolean;
  /** Bound on the job from its grant on, or null. */
  readonly timeoutMs: number | null;
  /** Bound on waiting for an agent, or null. */
  readonly queueTimeoutMs: number | null;
  /** Time between the polite and the forced end of a cancelled step. */
  readonly cancelGraceMs: number;
  /** Length of the step lease. */
  readonly leaseMs: number;
  /** Larger is offered first. */
  readonly priority: number;
  /** On any agent and from the first step on. */
  readonly retry: PlannedRetry<"agent_lost" | "dispatch_failed">;
  readonly selector: AgentSelector;
  /** Texts by name, whose expressions read `steps` and `jobs`; the outputs of the job once it has ended. */
  readonly outputs: Pairs<string>;
  readonly steps: readonly PlannedStep[];
}

/** Which ends of a step or a job make a next attempt, and when. */
export interface PlannedRetry<Cause extends string> {
  /** In all, the first one included. */
  readonly attempts: number;
  readonly on: readonly Cause[];
  /** Exit codes of failures that are retried; empty for any. */
  readonly exitCodes: readonly number[];
  readonly delayMs: number;
  /** Each further wait is this many times longer. */
  readonly backoff: number;
  readonly maxDelayMs: number;
}

export interface PlannedStep {
  readonly name: string;
  /** How conditions and outputs name it; empty when nothing does. */
  readonly id: string;
  readonly when: PlannedCondition | null;
  readonly continueOnError: boolean;
  /** Bound on the step from its start on, or null. */
  readonly timeoutMs: number | null;
  /** By the same agent in the same workspace; null for none. */
  readonly retry: PlannedRetry<"failed" | "timeout"> | null;
}

/** What an agent needs to run the steps of one job; expressions are resolved as far as is known when a run is planned. */
export interface JobSpec {
  readonly env: Pairs<string>;
  /** Names in `env` whose texts hold expressions still, which read `jobs` and `secrets`. */
  readonly late: readonly string[];
  readonly steps: readonly StepSpec[];
}

export interface StepSpec {
  readonly name: string;
  /** A builtin (`shell`) or a plugin reference `<plugin_path>@<version>`; with `plugin`, the exact version. */
  readonly uses: string;
  /** The package of the plugin; null for builtins, and for plugins that the registry did not know when the run was planned. */
  readonly plugin: PluginPin | null;
  /** Empty for the default action of a plugin that the registry does not know. */
  readonly action: string;
  /** Arguments as JSON; strings are resolved. */
  readonly args: Readonly<Record<string, unknown>>;
  readonly env: Pairs<string>;
  /** Relative to the workspace; empty for its root. */
  readonly workingDirectory: string;
  readonly artifacts: readonly ArtifactRule[];
  /** JSON pointers to the texts in `env` and `args` that hold expressions still: they read `jobs`, `steps`, `env` and `secrets`. */
  readonly late: readonly string[];
  /** Names of all that these texts, and those of the job's `env`, read of `secrets`. */
  readonly secrets: readonly string[];
}

/** The name of a job's cell: `test (node=20, os=linux)`. */
export function cellName(jobName: string, cell: Pairs<Scalar>): string {
  return cell.length === 0 ? jobName : `${jobName} (${cell.map(([key, value]) => `${key}=${value}`).join(", ")})`;
}
