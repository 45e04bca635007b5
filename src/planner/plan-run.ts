/** From a definition and a trigger to a plan: jobs with their matrix cells, who needs whom, and resolved arguments. Pure. */
import type { DefinedJob, DefinedStep, Definition } from "../definition/definition.ts";
import { CONTEXTS } from "../definition/checks.ts";
import { expandMatrix } from "../definition/matrix.ts";
import type { Problem } from "../domain/errors.ts";
import type { PipelineId, ProjectId, RunId } from "../domain/ids.ts";
import { type JobSpec, type Pairs, PLAN_SCHEMA, type PlannedJob, type RunPlan, type Scalar } from "../domain/plan.ts";
import { asText, evaluateTemplate, type Json, parseTemplate } from "../expressions/template.ts";

/** What started the run. `fields` are what `${{ trigger.<field> }}` reads. */
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
      readonly jobs: readonly JobSpec[];
      readonly warnings: readonly Problem[];
    }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** Attempts of a job whose agent is lost, in all. */
const DEFAULT_LOST_ATTEMPTS = 2;

interface Cell {
  readonly defined: DefinedJob;
  readonly stage: number;
  readonly matrix: Pairs<Scalar>;
}

/** Plans a run. The same input gives the same plan; a value that cannot be evaluated is a problem, an absent one a warning. */
export function planRun(input: PlanInput): PlanResult {
  const { definition } = input;
  const cells = definition.stages.flatMap(({ jobs }, stage) =>
    jobs.flatMap((defined): Cell[] =>
      defined.matrix === null
        ? [{ defined, stage, matrix: [] }]
        : expandMatrix(defined.matrix).map((matrix) => ({ defined, stage, matrix })),
    ),
  );
  const resolver = new Resolver(input);
  const jobs = cells.map((cell) => resolver.resolveJob(cell));
  if (resolver.problems.length > 0) return { ok: false, problems: resolver.problems };
  const plan: RunPlan = {
    schema: PLAN_SCHEMA,
    pipelineId: input.pipelineId,
    projectId: input.projectId,
    namespace: definition.namespace,
    timeoutMs: definition.timeoutMs,
    stages: definition.stages.map(({ name }) => ({ name })),
    jobs: planJobs(cells),
  };
  return { ok: true, plan, jobs, warnings: resolver.warnings };
}

function planJobs(cells: readonly Cell[]): readonly PlannedJob[] {
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
    name: nameOf(defined.name, matrix),
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
    steps: defined.steps.map(({ name, continueOnError, timeoutMs }) => ({ name, continueOnError, timeoutMs })),
  }));
}

/** `test (node=20, os=linux)`. */
function nameOf(name: string, matrix: Pairs<Scalar>): string {
  return matrix.length === 0 ? name : `${name} (${matrix.map(([key, value]) => `${key}=${value}`).join(", ")})`;
}

/** Puts values into the texts of jobs; collects what went wrong. */
class Resolver {
  readonly problems: Problem[] = [];
  readonly warnings: Problem[] = [];
  readonly #definition: Definition;
  readonly #contexts: Readonly<Record<string, Json>>;
  readonly #warned = new Set<string>();

  constructor({ definition, runId, attempt, trigger, variables, pipelineId, pipelineName, projectId }: PlanInput) {
    this.#definition = definition;
    this.#contexts = {
      trigger: { ...Object.fromEntries(trigger.fields), kind: trigger.kind, ref: trigger.ref },
      variables: Object.fromEntries([...definition.variables, ...variables]),
      run: { id: runId, attempt },
      pipeline: { id: pipelineId, name: pipelineName },
      project: { id: projectId },
    };
  }

  resolveJob({ defined, matrix }: Cell): JobSpec {
    const contexts = { ...this.#contexts, matrix: Object.fromEntries(matrix) };
    const at = `/jobs/${defined.name}`;
    return {
      schema: PLAN_SCHEMA,
      env: [
        ...this.#resolveEnv(this.#definition.env, "/env", contexts),
        ...this.#resolveEnv(defined.env, `${at}/env`, contexts),
      ],
      steps: defined.steps.map((step) => this.#resolveStep(step, `${at}/steps/${step.name}`, contexts)),
    };
  }

  #resolveStep(step: DefinedStep, at: string, contexts: Readonly<Record<string, Json>>): JobSpec["steps"][number] {
    return {
      name: step.name,
      uses: step.uses,
      action: step.action,
      args: this.#resolve(step.args as Json, `${at}/args`, contexts) as Readonly<Record<string, unknown>>,
      env: this.#resolveEnv(step.env, `${at}/env`, contexts),
      workingDirectory: step.workingDirectory,
    };
  }

  #resolveEnv(env: Pairs<Scalar>, at: string, contexts: Readonly<Record<string, Json>>): Pairs<string> {
    return env.map(([name, value]) => [name, asText(this.#resolve(value, `${at}/${name}`, contexts))]);
  }

  #resolve(value: Json, at: string, contexts: Readonly<Record<string, Json>>): Json {
    if (typeof value === "string") return this.#resolveText(value, at, contexts);
    if (Array.isArray(value)) return value.map((item: Json, index) => this.#resolve(item, `${at}/${index}`, contexts));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, this.#resolve(item as Json, `${at}/${key}`, contexts)]),
    );
  }

  #resolveText(text: string, at: string, contexts: Readonly<Record<string, Json>>): Json {
    if (!text.includes("${{")) return text;
    const template = parseTemplate(text, CONTEXTS);
    for (const { context, field } of template.references) this.#warnIfAbsent(context, field, at, contexts);
    try {
      return evaluateTemplate(template, contexts);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.problems.push({ code: "expression-syntax", pointer: at, message: `${text}: ${message}` });
      return "";
    }
  }

  #warnIfAbsent(context: string, field: string | null, at: string, contexts: Readonly<Record<string, Json>>): void {
    const values = contexts[context];
    if (field === null || typeof values !== "object" || values === null || Object.hasOwn(values, field)) return;
    const name = `${context}.${field}`;
    if (this.#warned.has(name)) return;
    this.#warned.add(name);
    this.warnings.push({ code: "undefined-value", pointer: at, message: `\`${name}\` has no value; it is empty` });
  }
}
