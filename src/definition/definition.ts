/** A definition after validation: both shapes made one, durations in milliseconds, nothing optional. */
import { parseDuration } from "../domain/durations.ts";
import type { AgentSelector } from "../domain/labels.ts";
import type { Pairs, Scalar } from "../domain/plan.ts";
import { toMatrix } from "./matrix.ts";
import type { RawJob, RawPipeline, RawStep } from "./schema.ts";

export interface Definition {
  readonly namespace: string;
  readonly version: string;
  readonly description: string;
  readonly variables: Pairs<Scalar>;
  readonly env: Pairs<Scalar>;
  readonly timeoutMs: number | null;
  readonly stages: readonly DefinedStage[];
}

export interface DefinedStage {
  readonly name: string;
  readonly jobs: readonly DefinedJob[];
}

export interface DefinedJob {
  readonly name: string;
  readonly needs: readonly string[];
  readonly matrix: Matrix | null;
  readonly env: Pairs<Scalar>;
  readonly timeoutMs: number | null;
  readonly queueTimeoutMs: number | null;
  readonly cancelGraceMs: number;
  readonly leaseMs: number;
  readonly priority: number;
  readonly continueOnError: boolean;
  readonly selector: AgentSelector;
  readonly steps: readonly DefinedStep[];
}

export interface Matrix {
  readonly axes: Pairs<readonly Scalar[]>;
  readonly include: readonly Pairs<Scalar>[];
  readonly exclude: readonly Pairs<Scalar>[];
}

export interface DefinedStep {
  readonly name: string;
  readonly uses: string;
  readonly action: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly env: Pairs<Scalar>;
  readonly timeoutMs: number | null;
  readonly continueOnError: boolean;
  readonly workingDirectory: string;
}

/** Name of the stage in which the `jobs` shorthand is wrapped. */
export const DEFAULT_STAGE = "default";
const DEFAULT_CANCEL_GRACE_MS = 10_000;
const DEFAULT_LEASE_MS = 30_000;

export function toDefinition(raw: RawPipeline): Definition {
  const stages = raw.stages ?? [{ name: DEFAULT_STAGE, jobs: raw.jobs ?? [] }];
  return {
    namespace: raw.namespace ?? "",
    version: raw.version ?? "",
    description: raw.description ?? "",
    variables: pairs(raw.variables),
    env: pairs(raw.env),
    timeoutMs: toMs(raw.timeout),
    stages: stages.map(({ name, jobs }) => ({ name, jobs: jobs.map(toJob) })),
  };
}

function toJob(raw: RawJob): DefinedJob {
  const { matchLabels, matchExpressions } = raw.agentSelector ?? {};
  return {
    name: raw.name,
    needs: raw.needs ?? [],
    matrix: raw.matrix === undefined ? null : toMatrix(raw.matrix),
    env: pairs(raw.env),
    timeoutMs: toMs(raw.timeout),
    queueTimeoutMs: toMs(raw.queueTimeout),
    cancelGraceMs: toMs(raw.cancelGrace) ?? DEFAULT_CANCEL_GRACE_MS,
    leaseMs: toMs(raw.agentLeaseTimeout) ?? DEFAULT_LEASE_MS,
    priority: raw.priority ?? 0,
    continueOnError: raw.continueOnError ?? false,
    selector: {
      matchLabels: pairs(matchLabels),
      matchExpressions: (matchExpressions ?? []).map(({ key, operator, values }) => ({
        key,
        operator,
        values: values ?? [],
      })),
    },
    steps: raw.steps.map(toStep),
  };
}

function toStep(raw: RawStep, index: number): DefinedStep {
  return {
    name: raw.name ?? `step ${index + 1}`,
    uses: raw.uses,
    action: raw.action ?? "",
    args: raw.args ?? {},
    env: pairs(raw.env),
    timeoutMs: toMs(raw.timeout),
    continueOnError: raw.continueOnError ?? false,
    workingDirectory: raw.workingDirectory ?? "",
  };
}

function toMs(text: string | undefined): number | null {
  return text === undefined ? null : parseDuration(text)!;
}

function pairs<V>(map: Readonly<Record<string, V>> | undefined): Pairs<V> {
  return Object.entries(map ?? {});
}
