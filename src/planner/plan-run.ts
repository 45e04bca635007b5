/** From a definition and a trigger to a plan: jobs with their matrix cells, their needs, and resolved arguments. Pure. */
import type { DefinedJob } from "../definition/definition.ts";
import type { Diagnostic } from "../definition/text/diagnostics.ts";
import type { ParsedTexts } from "../definition/text/parsed-texts.ts";
import { LIMITS } from "../definition/schema/limits.ts";
import type { Matrix } from "../definition/matrix.ts";
import type { Path } from "../definition/text/source.ts";
import type { Problem } from "../domain/errors.ts";
import type { RunId } from "../domain/ids.ts";
import {
  cellName,
  type JobSpec,
  type DeferredCells,
  type PlannedApproval,
  type PlannedJob,
  type RunPlan,
} from "../domain/plan.ts";
import { foldTemplate } from "../expressions/fold.ts";
import { type PartialScope, type Scope, toPartialScope, toScope, UNKNOWN } from "../expressions/context-data.ts";
import type { Reference } from "../expressions/template.ts";
import { tooLarge } from "./definition-size.ts";
import { linkCells } from "./link-cells.ts";
import { matrixOf, planCells, type PlannedCell } from "./plan-cells.ts";
import { refuseUncontained } from "./plan-containers.ts";
import { planCondition } from "./plan-condition.ts";
import { keptTexts, planContexts, plannedSelector, type Subject } from "./plan-contexts.ts";
import { planApproval, planGroup, planRunGroup } from "./plan-gates.ts";
import { planNotifications } from "./plan-notifications.ts";
import { planPermissions } from "./plan-permissions.ts";
import { PlanBudget } from "./plan-budget.ts";
import { pinPlugins } from "./plan-plugins.ts";
import { planEnvironment } from "./plan-environment.ts";
import { type DefaultBranch, protectTarget } from "./protected-target.ts";
import { snapshotBytesOf } from "./snapshot-size.ts";
import { knownEnv, TextResolver } from "./text-resolver.ts";
import { plannedName } from "./step-name.ts";

export interface PlanInput extends Subject {
  readonly runId: RunId;
  readonly attempt: number;
  /** The revision of the definition; empty when the definition is not saved. */
  readonly revisionId: string;
  /** Absent where it is not known: then no job deploys to a protected target. */
  readonly defaultBranch?: DefaultBranch;
  /** The approval that the run needs before it begins; absent for none. */
  readonly approval?: PlannedApproval;
  /** Of a run of a fork: the commit that it builds; absent where the sender has named none. */
  readonly forkCommit?: string;
}

export type PlanResult =
  | {
      readonly ok: true;
      readonly plan: RunPlan;
      /** One for each of the plan's jobs, in their order. */
      readonly jobs: readonly JobSpec[];
      readonly warnings: readonly Diagnostic[];
    }
  | PlanRefusal;

export interface PlanRefusal {
  readonly ok: false;
  /** What has to be changed: the definition, or the body of the trigger. */
  readonly fault: "definition" | "trigger";
  readonly problems: readonly Problem[];
}

/**
 * Plans a run; the same input gives the same plan. A value that cannot be evaluated is a problem. An absent value becomes empty,
 * with a warning. A plan that would be larger than the bounds of `limits.ts`, or would cost more than `budget`, is a problem.
 */
export function planRun(input: PlanInput, budget = new PlanBudget()): PlanResult {
  const { definition, runId, attempt } = input;
  const { contexts, problems: unfit } = planContexts(input);
  if (unfit.length > 0) return { ok: false, fault: "trigger", problems: unfit };
  const base = toScope({ ...contexts, run: { id: runId, attempt } });
  const resolver = new TextResolver(definition.source, base, {
    deferred: "fold",
    repoUrl: input.repoUrl,
    inGit: input.inGit,
    forkCommit: input.forkCommit,
    budget,
  });
  try {
    return planWith(resolver, input, base, budget);
  } catch (error) {
    resolver.refuseWork(error);
    return { ok: false, fault: "definition", problems: resolver.problems };
  }
}

/** Throws `WorkUsedUp`. */
function planWith(resolver: TextResolver, input: PlanInput, base: Scope, budget: PlanBudget): PlanResult {
  const { definition } = input;
  const refused = (): PlanRefusal => ({ ok: false, fault: "definition", problems: resolver.problems });
  const cells = planCells(definition, base, budget, (code, path, message) => resolver.refuse(code, path, message));
  const known = toPartialScope({ jobs: UNKNOWN, steps: UNKNOWN }, base);
  const { parsed } = definition.source;
  const jobs: JobSpec[] = [];
  const planned: PlannedJob[] = [];
  const links = linkCells(cells);
  for (const [index, cell] of cells.entries()) {
    const resolved = pinPlugins(resolver.resolveJob(definition.env, cell), cell.defined, input.plugins, resolver);
    // No members behind a spread, in this and other objects here: those take V8 of Node 20 up to 14 us.
    const spec = Object.assign(
      {},
      resolved,
      planPermissions(cell.defined, resolver),
      protectTarget(cell.defined, input.trigger.ref, input.defaultBranch),
    );
    jobs.push(spec);
    refuseDeferredEnv(cell.defined, spec, resolver, parsed);
    if (input.demandsContainers === true) {
      refuseUncontained(cell.defined, spec, (path, message) => resolver.refuse("container-required", path, message));
    }
    planned.push(Object.assign(planJob(cell, spec, input, known, budget), { index }, links[index]!));
    // The remaining jobs of a plan that is too large are never made.
    if (resolver.isFull) return refused();
  }
  const group = planRunGroup(
    definition.concurrency,
    base,
    parsed,
    input.revisionId,
    budget.at(["concurrency", "group"], definition.concurrency?.group),
  );
  if (typeof group === "string") resolver.refuse("evaluation-failed", ["concurrency", "group"], group);
  const isProtected = cells.some(({ defined }) => defined.target?.protected === true);
  const plan: RunPlan = {
    pipelineId: input.pipelineId,
    projectId: input.projectId,
    namespace: definition.namespace,
    timeoutMs: definition.timeoutMs,
    group: typeof group === "string" ? null : group,
    ...(isProtected && input.defaultBranch?.isBuilt === true && { ofDefaultBranch: true }),
    ...(input.approval && { approval: input.approval }),
    stages: definition.stages.map(({ name, path, when, approval }) => ({
      name,
      when: planCondition(when, known, parsed, budget.at([...path, "when"], when)),
      approval: planApproval(approval, known, parsed, budget.at([...path, "approval"])),
    })),
    jobs: planned,
    ...planNotifications(definition, base, budget),
  };
  if (JSON.stringify(plan).length > LIMITS.planGraphChars) {
    const message = `the names, matrix values and needs of a run's jobs may have ${LIMITS.planGraphChars} characters; these have more`;
    resolver.refuse("plan-limit", [], message);
  }
  const limit = input.snapshotBytes ?? null;
  const bytes = limit === null ? 0 : snapshotBytesOf(plan, keptTexts(input));
  const late = planned.filter((job) => job.cells !== null).length;
  if (limit !== null && bytes > limit) {
    const { path, message } = tooLarge(bytes, limit, cells);
    resolver.refuse("snapshot-limit", path, message);
  }
  const { problems, warnings } = resolver;
  if (problems.length > 0) return refused();
  const bounded = limit === null || late === 0 ? plan : { ...plan, lateBytes: Math.floor((limit - bytes) / late) };
  return { ok: true, plan: bounded, jobs, warnings };
}

function planJob(
  cell: PlannedCell,
  spec: JobSpec,
  input: PlanInput,
  known: PartialScope,
  budget: PlanBudget,
): Omit<PlannedJob, "index" | "needs" | "dependents"> {
  const { defined, stage, matrix, cellsFrom } = cell;
  const { definition, revisionId } = input;
  const { parsed } = definition.source;
  const ofJob = toPartialScope({ matrix: matrixOf(cell) }, known);
  const ofSteps = toPartialScope({ env: knownEnv(spec.env, spec.late) }, ofJob);
  const at = (key: string, text?: string): PlanBudget => budget.at([...defined.path, key], text);
  return {
    name: cellName(defined.name, matrix),
    baseName: defined.name,
    stage,
    matrix,
    cells: cellsFrom === null ? null : deferredCells(defined.matrix!, known, parsed, at("matrix")),
    failFast: defined.matrix?.failFast ?? false,
    maxParallel: defined.matrix?.maxParallel ?? null,
    when: planCondition(defined.when, ofJob, parsed, at("when", defined.when)),
    approval: planApproval(defined.approval, known, parsed, at("approval")),
    group: planGroup(defined.concurrency, ofJob, parsed, revisionId, at("concurrency")),
    ...planEnvironment(defined.target, ofJob, parsed, at("target")),
    continueOnError: defined.continueOnError,
    timeoutMs: defined.timeoutMs,
    queueTimeoutMs: defined.queueTimeoutMs,
    cancelGraceMs: defined.cancelGraceMs,
    leaseMs: defined.leaseMs,
    priority: defined.priority,
    retry: defined.retry,
    selector: plannedSelector(input, defined, spec),
    outputs: defined.outputs.map(([name, text]) => [
      name,
      foldTemplate(parsed.template(text), ofSteps, budget.at([...defined.path, "outputs", name], text)),
    ]),
    steps: defined.steps.map(({ id, when, continueOnError, timeoutMs, retry, junit }, index) => ({
      name: plannedName(spec.steps[index]!.name, parsed.template(defined.steps[index]!.name), cellsFrom !== null),
      id,
      when: planCondition(when, ofSteps, parsed, budget.at([...defined.path, "steps", index, "when"], when)),
      continueOnError,
      timeoutMs,
      retry: retry.attempts > 1 ? retry : null,
      ...(junit.length > 0 ? { hasTests: true as const } : {}),
    })),
  };
}

/**
 * Refuses conditions of steps and outputs of jobs that read a deferred variable of `env`: they are evaluated by the job actor,
 * which does not know the environment of a step.
 */
function refuseDeferredEnv(
  job: DefinedJob,
  { late: deferred }: JobSpec,
  resolver: TextResolver,
  parsed: ParsedTexts,
): void {
  if (deferred.length === 0) return;
  const refuse = (references: readonly Reference[], path: Path): void => {
    const found = references.find(
      ({ context, field }) => context === "env" && (field === null || deferred.includes(field)),
    );
    if (found === undefined) return;
    const what = found.field === null ? "`env`" : `\`env.${found.field}\``;
    const why = "its value is made of `jobs` or `secrets`, and only the step receives it";
    resolver.refuse("evaluation-failed", path, `${what} cannot be read here: ${why}`);
  };
  for (const [name, text] of job.outputs) refuse(parsed.template(text).references, [...job.path, "outputs", name]);
  for (const [index, { when }] of job.steps.entries()) {
    if (when !== "") refuse(parsed.condition(when).references, [...job.path, "steps", index, "when"]);
  }
}

function deferredCells(
  { axes, include, exclude }: Matrix,
  known: PartialScope,
  parsed: ParsedTexts,
  budget: PlanBudget,
): DeferredCells {
  return {
    axes: axes.map(([name, values]) => [
      name,
      typeof values === "string" ? foldTemplate(parsed.template(values), known, budget) : values,
    ]),
    include,
    exclude,
  };
}
