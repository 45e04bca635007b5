/** The jobs and steps of two runs beside each other. Pure. */
import type { Job, Run, Step } from "../run/run-view.ts";

/** What a row shows of one run. */
export interface Side {
  readonly status: string;
  readonly exitCode: number | null;
  /** Null for what has not waited or not run. */
  readonly waitedMs: number | null;
  readonly ranMs: number | null;
}

export interface PairRow {
  readonly key: string;
  readonly kind: "job" | "step";
  readonly name: string;
  /** The job and the step, for readers who see the row alone. */
  readonly fullName: string;
  readonly a: Side | null;
  readonly b: Side | null;
  readonly stepA: Step | null;
  readonly stepB: Step | null;
  readonly jobA: Job | null;
  readonly jobB: Job | null;
  readonly differs: boolean;
}

/** A duration differs when it differs by so much of the longer one, and by more than the least. */
const PART = 0.25;
const LEAST_MS = 1_000;

/** A row for each job of either run, in the order of the first, each followed by its steps. */
export function pairRows(a: readonly Job[], b: readonly Job[]): readonly PairRow[] {
  return pairs(a, b, jobKey).flatMap(([jobA, jobB]) => {
    const job = (jobA ?? jobB)!;
    const key = jobKey(job);
    const steps = pairs(stepsOf(jobA), stepsOf(jobB), ({ name }) => name).map(([stepA, stepB]) => {
      const sides = { a: sideOfStep(stepA), b: sideOfStep(stepB) };
      const name = (stepA ?? stepB)!.name;
      return {
        key: `${key}/${name}/${stepA?.stepRunId ?? ""}/${stepB?.stepRunId ?? ""}`,
        kind: "step" as const,
        name,
        fullName: `${job.name} / ${name}`,
        ...sides,
        stepA,
        stepB,
        jobA,
        jobB,
        differs: differ(sides.a, sides.b),
      };
    });
    const sides = { a: sideOfJob(jobA), b: sideOfJob(jobB) };
    const differs = differ(sides.a, sides.b) || steps.some((step) => step.differs);
    const row: PairRow = {
      key,
      kind: "job",
      name: job.name,
      fullName: job.name,
      ...sides,
      stepA: null,
      stepB: null,
      jobA,
      jobB,
      differs,
    };
    return [row, ...steps];
  });
}

/** Elements of two lists with the same key; the n-th of a key belongs to the n-th of that key. */
function pairs<T>(
  a: readonly T[],
  b: readonly T[],
  keyOf: (element: T) => string,
): readonly (readonly [a: T | null, b: T | null])[] {
  const left = new Map<string, T[]>();
  for (const element of b) {
    const key = keyOf(element);
    left.set(key, [...(left.get(key) ?? []), element]);
  }
  const found = a.map((element) => [element, left.get(keyOf(element))?.shift() ?? null] as const);
  const taken = new Set<T | null>(found.map(([, element]) => element));
  return [...found, ...b.filter((element) => !taken.has(element)).map((element) => [null, element] as const)];
}

const jobKey = ({ stage, name }: Job): string => `${stage}/${name}`;

/** The newest attempt of each step. */
function stepsOf(job: Job | null): readonly Step[] {
  return job?.steps.filter(({ retriedBy }) => retriedBy === null) ?? [];
}

function sideOfJob(job: Job | null): Side | null {
  if (job === null) return null;
  const waits = Object.values(job.steps[0]?.timing.waits ?? {}).filter((ms) => ms !== null);
  return {
    status: job.status,
    exitCode: null,
    waitedMs: waits.length === 0 || job.reusedFrom !== null ? null : waits.reduce((sum, ms) => sum + ms, 0),
    ranMs: job.startTime === null ? null : job.duration,
  };
}

function sideOfStep(step: Step | null): Side | null {
  if (step === null) return null;
  return {
    status: step.status,
    exitCode: step.exitCode,
    waitedMs: step.timing.waits.start,
    ranMs: step.startTime === null ? null : step.duration,
  };
}

function differ(a: Side | null, b: Side | null): boolean {
  if (a === null || b === null) return true;
  return a.status !== b.status || a.exitCode !== b.exitCode || isLonger(a.ranMs, b.ranMs);
}

/** True when two durations differ by enough to matter. */
export function isLonger(a: number | null, b: number | null): boolean {
  const [one, other] = [a ?? 0, b ?? 0];
  return Math.abs(one - other) >= Math.max(LEAST_MS, PART * Math.max(one, other));
}

/** The row whose logs one wants to see first: a step that failed in the first run and not in the second. */
export function rowToShow(rows: readonly PairRow[]): PairRow | undefined {
  const steps = rows.filter(({ stepA, stepB }) => stepA !== null && stepB !== null);
  const failed = (status: string | undefined): boolean => status === "failed" || status === "timeout";
  return (
    steps.find(({ stepA, stepB }) => failed(stepA?.status) && !failed(stepB?.status)) ??
    steps.find(({ stepA, stepB }) => failed(stepA?.status) || failed(stepB?.status)) ??
    steps.find(({ differs }) => differs)
  );
}

/** What a run was started with, by names that both runs may have. */
export function startedWith(
  run: Pick<Run, "variables" | "inheritedVariables" | "uploads">,
  names: {
    readonly variable: (name: string) => string;
    readonly inherited: (name: string) => string;
    readonly upload: (name: string) => string;
  },
): ReadonlyMap<string, string> {
  return new Map([
    ...Object.entries(run.variables).map(([name, value]) => [names.variable(name), value] as const),
    ...Object.entries(run.inheritedVariables).map(([name, value]) => [names.inherited(name), value] as const),
    ...Object.entries(run.uploads).map(
      ([name, { name: file, sha256 }]) => [names.upload(name), `${file} (${sha256.slice(0, 12)})`] as const,
    ),
  ]);
}
