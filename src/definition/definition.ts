/** A definition after validation: both shapes made one, durations in milliseconds, nothing optional. */
import { parseDuration } from "../domain/durations.ts";
import type { AgentSelector } from "../domain/labels.ts";
import type { Pairs, Scalar } from "../domain/plan.ts";
import type { Matrix } from "./matrix.ts";
import type { RawJob, RawMatrix, RawPipeline, RawStep } from "./schema.ts";
import type { Path, Source } from "./source.ts";

export interface Definition {
  readonly namespace: string;
  readonly version: string;
  readonly description: string;
  readonly variables: Pairs<Scalar>;
  readonly env: Pairs<Scalar>;
  readonly timeoutMs: number | null;
  readonly stages: readonly DefinedStage[];
  /** Gives its place in the text to what is found later. */
  readonly source: Pick<Source, "locate">;
}

export interface DefinedStage {
  readonly name: string;
  readonly jobs: readonly DefinedJob[];
}

export interface DefinedJob {
  /** Where it stands in the definition as written. */
  readonly path: Path;
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

/** The definition that a text without errors holds. */
export function toDefinition(raw: RawPipeline, source: Source): Definition {
  const stages = raw.stages ?? [{ name: DEFAULT_STAGE, jobs: raw.jobs ?? [] }];
  const jobsPath = (stage: number): Path => (raw.stages === undefined ? ["jobs"] : ["stages", stage, "jobs"]);
  return {
    namespace: raw.namespace ?? "",
    version: raw.version ?? "",
    description: raw.description ?? "",
    variables: pairs(raw.variables),
    env: pairs(raw.env),
    timeoutMs: toMs(raw.timeout),
    stages: stages.map(({ name, jobs }, stage) => ({
      name,
      jobs: jobs.map((job, index) => toJob(job, [...jobsPath(stage), index])),
    })),
    source,
  };
}

/** A matrix of the right shape, its maps as pairs. */
export function toMatrix({ axes, include, exclude }: RawMatrix): Matrix {
  return { axes: pairs(axes), include: (include ?? []).map(pairs), exclude: (exclude ?? []).map(pairs) };
}

function toJob(raw: RawJob, path: Path): DefinedJob {
  const { matchLabels, matchExpressions } = raw.agentSelector ?? {};
  return {
    path,
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
