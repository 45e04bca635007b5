/**
 * A definition after validation. Both shapes (`stages`, and `jobs` alone) have become stages, durations are in milliseconds, and
 * absent keys have their defaults.
 */
import { parseDuration } from "../domain/durations.ts";
import { type ContainerSpec, parseMemory, type ServiceSpec } from "../domain/containers/containers.ts";
import type { AgentSelector } from "../domain/labels.ts";
import type { Pairs } from "../domain/pairs.ts";
import type { PlannedRetry, Scalar } from "../domain/plan.ts";
import type { Matrix } from "./matrix.ts";
import type {
  RawApproval,
  RawConcurrency,
  RawContainer,
  RawInput,
  RawJob,
  RawJobRetry,
  RawMatrix,
  RawNotification,
  RawPermissions,
  RawPipeline,
  RawService,
  RawSource,
  RawStage,
  RawStep,
  RawStepRetry,
  RawTarget,
  RawTriggers,
} from "./schema/pipeline.ts";
import type { Path, Source } from "./text/source.ts";

/** Keys that have no default are empty, null or an empty list when they are absent. */
export interface Definition {
  readonly namespace: string;
  readonly version: string;
  readonly description: string;
  readonly variables: Pairs<Scalar>;
  /** The inputs that a manual trigger may give, and those that it must give. */
  readonly inputs: Pairs<RawInput>;
  readonly env: Pairs<Scalar>;
  readonly timeoutMs: number | null;
  readonly concurrency: RawConcurrency | null;
  readonly notify: readonly RawNotification[];
  readonly triggers: {
    readonly cron: NonNullable<RawTriggers["cron"]>;
    readonly event: NonNullable<RawTriggers["event"]>;
  };
  readonly stages: readonly DefinedStage[];
  /** The text of the definition: gives the places of problems that are found later, and the parsed expressions. */
  readonly source: Pick<Source, "find" | "locate" | "parsed" | "value">;
}

export interface DefinedStage {
  /** Its place in the definition as written; for the `jobs` shorthand, the place of the pipeline. */
  readonly path: Path;
  readonly name: string;
  /** The condition as written; empty for none. */
  readonly when: string;
  /** The stage's own; for a first stage that has none, the approval of the pipeline. */
  readonly approval: RawApproval | null;
  readonly jobs: readonly DefinedJob[];
}

export interface DefinedJob {
  readonly path: Path;
  readonly name: string;
  readonly needs: readonly string[];
  readonly when: string;
  readonly matrix: Matrix | null;
  readonly env: Pairs<Scalar>;
  readonly timeoutMs: number | null;
  readonly queueTimeoutMs: number | null;
  readonly cancelGraceMs: number;
  readonly leaseMs: number;
  readonly priority: number;
  readonly retry: PlannedRetry<"agent_lost" | "dispatch_failed">;
  readonly continueOnError: boolean;
  readonly selector: AgentSelector;
  readonly concurrency: RawConcurrency | null;
  readonly approval: RawApproval | null;
  /** The `source` of the job, else that of the pipeline. */
  readonly code: RawSource | null;
  readonly target: RawTarget | null;
  /** Those of the job, else those of the pipeline; null for none. */
  readonly permissions: RawPermissions | null;
  readonly notify: readonly RawNotification[];
  /** Null for none. */
  readonly container: DefinedContainer | null;
  readonly services: readonly DefinedService[];
  readonly outputs: Pairs<string>;
  readonly steps: readonly DefinedStep[];
}

/** A container as written: its texts may have expressions, and `credential` is the name of a secret; empty for none. */
export type DefinedContainer = Omit<ContainerSpec, "env" | "late"> & { readonly env: Pairs<Scalar> };

/** As {@link DefinedContainer}. */
export type DefinedService = Omit<ServiceSpec, "env" | "late"> & { readonly env: Pairs<Scalar> };

export interface DefinedStep {
  /** As written, else what the step uses. Two steps of a job may have the same name: `id` is what identifies a step. */
  readonly name: string;
  /** Empty for none. */
  readonly id: string;
  readonly uses: string;
  readonly action: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly env: Pairs<Scalar>;
  readonly when: string;
  readonly timeoutMs: number | null;
  readonly retry: PlannedRetry<"failed" | "timeout">;
  readonly continueOnError: boolean;
  /** The step's own; null for that of its job. */
  readonly container: DefinedContainer | null;
  readonly workingDirectory: string;
  readonly artifacts: NonNullable<RawStep["artifacts"]>;
  /** Patterns of JUnit XML files; empty for none. */
  readonly junit: readonly string[];
  /** Names of outputs, or null when any may be written. */
  readonly outputs: readonly string[] | null;
}

/** The name of the only stage of a definition that has the `jobs` shorthand. */
export const DEFAULT_STAGE = "default";
const DEFAULT_CANCEL_GRACE_MS = 10_000;
const DEFAULT_LEASE_MS = 30_000;
const DEFAULT_MAX_DELAY_MS = 3_600_000;
const DEFAULT_HEALTH_INTERVAL_MS = 1_000;
const DEFAULT_HEALTH_TIMEOUT_MS = 5_000;
const DEFAULT_HEALTH_RETRIES = 60;
/** How often a job whose agent is lost is attempted in all. */
const DEFAULT_JOB_ATTEMPTS = 2;

/** Makes the definition of a text without errors. */
export function toDefinition(raw: RawPipeline, source: Source): Definition {
  const isFull = raw.stages !== undefined;
  const stages: readonly RawStage[] = raw.stages ?? [{ name: DEFAULT_STAGE, jobs: raw.jobs ?? [] }];
  const approval = raw.approval ?? raw.Approval ?? null;
  const triggers = raw.triggers ?? raw.Triggers;
  return {
    namespace: raw.namespace ?? "",
    version: raw.version ?? "",
    description: raw.description ?? "",
    variables: pairs(raw.variables),
    inputs: pairs(triggers?.manual?.inputs),
    env: pairs(raw.env),
    timeoutMs: toMs(raw.timeout),
    concurrency: raw.concurrency ?? null,
    notify: raw.notify ?? raw.Notify ?? [],
    triggers: { cron: triggers?.cron ?? [], event: triggers?.event ?? [] },
    stages: stages.map((stage, index): DefinedStage => {
      const path: Path = isFull ? ["stages", index] : [];
      return {
        path,
        name: stage.name,
        when: toText(stage.when),
        approval: stage.approval ?? stage.Approval ?? (index === 0 ? approval : null),
        jobs: stage.jobs.map((job, at) => toJob(job, [...path, "jobs", at], raw)),
      };
    }),
    source,
  };
}

/** A valid matrix with its maps as pairs. */
export function toMatrix({ axes, include, exclude, failFast, maxParallel }: RawMatrix): Matrix {
  const all = pairs(axes);
  return {
    axes: all,
    include: (include ?? []).map(pairs),
    exclude: (exclude ?? []).map(pairs),
    failFast: failFast ?? true,
    maxParallel: maxParallel ?? null,
  };
}

function toJob(raw: RawJob, path: Path, pipeline: RawPipeline): DefinedJob {
  const { matchLabels, matchExpressions, trusted } = raw.agentSelector ?? {};
  const target = raw.target ?? raw.Target ?? pipeline.target ?? pipeline.Target ?? null;
  return {
    path,
    name: raw.name,
    needs: raw.needs ?? [],
    when: toText(raw.when),
    matrix: raw.matrix === undefined ? null : toMatrix(raw.matrix),
    env: pairs(raw.env),
    timeoutMs: toMs(raw.timeout),
    queueTimeoutMs: toMs(raw.queueTimeout),
    cancelGraceMs: toMs(raw.cancelGrace) ?? DEFAULT_CANCEL_GRACE_MS,
    leaseMs: toMs(raw.agentLeaseTimeout) ?? DEFAULT_LEASE_MS,
    priority: raw.priority ?? 0,
    // A deployment may be half done when its agent is lost, so a person decides whether it begins again.
    retry: toRetry(raw.retry, target === null ? DEFAULT_JOB_ATTEMPTS : 1, ["agent_lost", "dispatch_failed"]),
    continueOnError: raw.continueOnError ?? false,
    selector: {
      matchLabels: pairs(matchLabels),
      matchExpressions: (matchExpressions ?? []).map(({ key, operator, values }) => ({
        key,
        operator,
        values: values ?? [],
      })),
      ...(trusted === true && { trusted }),
    },
    concurrency: raw.concurrency ?? null,
    approval: raw.approval ?? raw.Approval ?? null,
    code: raw.source ?? raw.Source ?? pipeline.source ?? pipeline.Source ?? null,
    target,
    permissions: raw.permissions ?? pipeline.permissions ?? null,
    notify: raw.notify ?? raw.Notify ?? [],
    container: toContainer(raw.container),
    services: Object.entries(raw.services ?? {}).map(([name, service]) => toService(name, service)),
    outputs: pairs(raw.outputs),
    steps: raw.steps.map(toStep),
  };
}

function toStep(raw: RawStep): DefinedStep {
  return {
    name: raw.name ?? raw.uses,
    id: raw.id ?? "",
    uses: raw.uses,
    action: raw.action ?? "",
    args: raw.args ?? {},
    env: pairs(raw.env),
    when: toText(raw.when),
    timeoutMs: toMs(raw.timeout),
    retry: toRetry(raw.retry, 1, ["failed", "timeout"]),
    continueOnError: raw.continueOnError ?? false,
    container: toContainer(raw.container),
    workingDirectory: raw.workingDirectory ?? "",
    artifacts: raw.artifacts ?? [],
    junit: raw.reports?.junit ?? [],
    outputs: raw.outputs ?? null,
  };
}

function toContainer(raw: RawContainer | undefined): DefinedContainer | null {
  if (raw === undefined) return null;
  const { image, env, user, entrypoint, network, cpus, memory, pids, credential, pull }: Exclude<RawContainer, string> =
    typeof raw === "string" ? { image: raw } : raw;
  return {
    image,
    env: pairs(env),
    user: user ?? "",
    entrypoint: entrypoint ?? [],
    network: network ?? "default",
    cpus: cpus ?? null,
    memoryBytes: memory === undefined ? null : parseMemory(memory)!,
    pids: pids ?? null,
    credential: credential ?? "",
    pull: pull ?? "missing",
  };
}

function toService(name: string, { image, env, ports, health, credential, pull }: RawService): DefinedService {
  const check = typeof health === "string" ? { command: health } : health;
  return {
    name,
    image,
    env: pairs(env),
    ports: ports ?? [],
    health:
      check === undefined
        ? null
        : {
            command: check.command,
            intervalMs: toMs(check.interval) ?? DEFAULT_HEALTH_INTERVAL_MS,
            timeoutMs: toMs(check.timeout) ?? DEFAULT_HEALTH_TIMEOUT_MS,
            retries: check.retries ?? DEFAULT_HEALTH_RETRIES,
          },
    credential: credential ?? "",
    pull: pull ?? "missing",
  };
}

function toRetry<Cause extends string>(
  raw: ((RawStepRetry | RawJobRetry) & { readonly on?: readonly Cause[] | undefined }) | undefined,
  attempts: number,
  causes: readonly Cause[],
): PlannedRetry<Cause> {
  return {
    attempts: raw?.attempts ?? attempts,
    on: raw?.on ?? causes,
    exitCodes: raw !== undefined && "exitCodes" in raw ? (raw.exitCodes ?? []) : [],
    delayMs: toMs(raw?.delay) ?? 0,
    backoff: raw?.backoff ?? 1,
    maxDelayMs: toMs(raw?.maxDelay) ?? DEFAULT_MAX_DELAY_MS,
  };
}

function toText(when: string | boolean | undefined): string {
  return when === undefined ? "" : String(when);
}

function toMs(text: string | undefined): number | null {
  return text === undefined ? null : parseDuration(text)!;
}

function pairs<V>(map: Readonly<Record<string, V>> | undefined): Pairs<V> {
  return Object.entries(map ?? {});
}
