/** From a definition and a trigger to a plan: jobs with their matrix cells, who needs whom, and resolved arguments. Pure. */
import type { DefinedJob, Definition } from "../definition/definition.ts";
import type { Diagnostic } from "../definition/diagnostics.ts";
import { LIMITS } from "../definition/limits.ts";
import { cellName, expandMatrix } from "../definition/matrix.ts";
import type { Problem } from "../domain/errors.ts";
import type { PipelineId, ProjectId, RunId } from "../domain/ids.ts";
import { type JobSpec, type Pairs, type PlannedJob, type RunPlan, type Scalar } from "../domain/plan.ts";
import { TextResolver } from "./text-resolver.ts";

/** What started the run. `fields` are what `${{ trigger.<field> }}` reads, besides `kind` and `ref`. */
export interface TriggerContext {
  readonly kind: "manual" | "cron" | "event";
  readonly ref: string;
  readonly fields: Pairs<Scalar>;
}

export interface PlanInput {
  readonly definition: Definition;
  readonly runId: RunId;
  readonly attempt: number;
  readonly trigger: TriggerContext;
  /** Override those of the definition. */
  readonly variables: Pairs<string>;
  readonly pipelineId: PipelineId;
  readonly pipelineName: string;
  readonly projectId: ProjectId;
}

export type PlanResult =
  | {
      readonly ok: true;
      readonly plan: RunPlan;
      /** One for each of the plan's jobs, in their order. */
      readonly jobs: readonly JobSpec[];
      readonly warnings: readonly Diagnostic[];
    }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** Attempts of a job whose agent is lost, in all. */
const DEFAULT_LOST_ATTEMPTS = 2;

interface Cell {
  readonly defined: DefinedJob;
  readonly stage: number;
  readonly matrix: Pairs<Scalar>;
}

/**
 * Plans a run; the same input gives the same plan. A value that cannot be evaluated is a problem, an absent one is
 * empty and a warning; a plan that would be larger than the bounds of `limits.ts` is a problem too.
 */
export function planRun(input: PlanInput): PlanResult {
  const { definition, trigger } = input;
  const cells = definition.stages.flatMap(({ jobs }, stage) =>
    jobs.flatMap((defined): Cell[] =>
      defined.matrix === null
        ? [{ defined, stage, matrix: [] }]
        : expandMatrix(defined.matrix).map((matrix) => ({ defined, stage, matrix })),
    ),
  );
  const resolver = new TextResolver(definition.source, {
    trigger: { ...Object.fromEntries(trigger.fields), kind: trigger.kind, ref: trigger.ref },
    variables: Object.fromEntries([...definition.variables, ...input.variables]),
    run: { id: input.runId, attempt: input.attempt },
    pipeline: { id: input.pipelineId, name: input.pipelineName },
    project: { id: input.projectId },
  });
  const jobs: JobSpec[] = [];
  for (const { defined, matrix } of cells) {
    jobs.push(resolver.resolveJob(definition.env, defined, matrix));
    // Most of a plan that is too large is never made.
    if (resolver.isFull) return { ok: false, problems: resolver.problems };
  }
  const plan: RunPlan = {
    pipelineId: input.pipelineId,
    projectId: input.projectId,
    namespace: definition.namespace,
    timeoutMs: definition.timeoutMs,
    stages: definition.stages.map(({ name }) => ({ name })),
    jobs: planJobs(cells, jobs),
  };
  if (JSON.stringify(plan).length > LIMITS.planGraphChars) {
    resolver.refuse("plan-limit", [], "the names, matrix values and needs of this run's jobs are too much in all");
  }
  const { problems, warnings } = resolver;
  return problems.length > 0 ? { ok: false, problems } : { ok: true, plan, jobs, warnings };
}

function planJobs(cells: readonly Cell[], jobs: readonly JobSpec[]): readonly PlannedJob[] {
  const indices = new Map<string, number[]>();
  cells.forEach(({ defined }, index) => {
    const found = indices.get(defined.name);
    if (found === undefined) indices.set(defined.name, [index]);
    else found.push(index);
  });
  const needs = cells.map(({ defined }) => [...new Set(defined.needs)].flatMap((name) => indices.get(name) ?? []));
  const dependents = cells.map((): number[] => []);
  needs.forEach((list, index) => {
    for (const need of list) dependents[need]!.push(index);
  });
  return cells.map(({ defined, stage, matrix }, index) => ({
    index,
    name: cellName(defined.name, matrix),
    baseName: defined.name,
    stage,
    matrix,
    needs: needs[index]!,
    dependents: dependents[index]!,
    continueOnError: defined.continueOnError,
    timeoutMs: defined.timeoutMs,
    queueTimeoutMs: defined.queueTimeoutMs,
    cancelGraceMs: defined.cancelGraceMs,
    leaseMs: defined.leaseMs,
    priority: defined.priority,
    lostAttempts: DEFAULT_LOST_ATTEMPTS,
    selector: defined.selector,
    steps: defined.steps.map(({ continueOnError, timeoutMs }, at) => ({
      name: jobs[index]!.steps[at]!.name,
      continueOnError,
      timeoutMs,
    })),
  }));
}
