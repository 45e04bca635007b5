/** The dry run: every job and step that a trigger would make, whether each runs, and why. Pure. */
import type { Diagnostic } from "../definition/text/diagnostics.ts";
import type { AgentSelector } from "../domain/labels.ts";
import type { Pairs } from "../domain/pairs.ts";
import { cellName, type JobSpec, type Scalar } from "../domain/plan.ts";
import { type Scope, toScope, UNKNOWN } from "../expressions/context-data.ts";
import { findTooLarge } from "./definition-size.ts";
import { Judge, type Judgement, type Verdict } from "./judge.ts";
import { PlanBudget } from "./plan-budget.ts";
import { planCells, type PlannedCell } from "./plan-cells.ts";
import { refuseUncontained } from "./plan-containers.ts";
import { keptTexts, type PlanContexts, planContexts, plannedSelector, type Subject } from "./plan-contexts.ts";
import { planPermissions } from "./plan-permissions.ts";
import { pinPlugins } from "./plan-plugins.ts";
import type { PlanRefusal } from "./plan-run.ts";
import { knownEnv, TextResolver } from "./text-resolver.ts";

export interface DryStep {
  readonly name: string;
  /** Empty when the definition gives none. */
  readonly id: string;
  /** As written, or with the exact version of a plugin that the registry knows. */
  readonly uses: string;
  /** The condition in full, with the implied `success()`. */
  readonly when: string;
  readonly verdict: Verdict;
}

export interface DryJob {
  /** Unique within the run: `test (node=20)`. */
  readonly name: string;
  readonly baseName: string;
  readonly matrix: Pairs<Scalar>;
  /** The expression that gives a deferred axis once the jobs that it reads have ended; null when the cells are known. */
  readonly cellsFrom: string | null;
  /** Names of jobs as in the definition, without matrix values. */
  readonly needs: readonly string[];
  readonly when: string;
  readonly verdict: Verdict;
  /** The job waits for an approval before it is offered to agents. */
  readonly approval: boolean;
  readonly selector: AgentSelector;
  readonly steps: readonly DryStep[];
}

export interface DryStage {
  readonly name: string;
  readonly when: string;
  readonly verdict: Verdict;
  readonly approval: boolean;
  readonly jobs: readonly DryJob[];
}

export interface DryRun {
  readonly trigger: { readonly kind: "manual" | "cron" | "event"; readonly ref: string };
  readonly stages: readonly DryStage[];
  readonly jobsCount: number;
  readonly stepsCount: number;
  /** Names of all secrets that the steps of the run would receive. */
  readonly secrets: readonly string[];
  readonly warnings: readonly Diagnostic[];
}

export type DryRunResult = { readonly ok: true; readonly plan: DryRun } | PlanRefusal;

/**
 * Plans without a run; the same input gives the same answer. The problems are those with which a trigger would be refused.
 */
export function dryRun(input: Subject, budget = new PlanBudget()): DryRunResult {
  const { contexts, problems: unfit } = planContexts(input);
  if (unfit.length > 0) return { ok: false, fault: "trigger", problems: unfit };
  const base = toScope({ ...contexts, run: { id: RUN_ID, attempt: 1 } });
  const { source } = input.definition;
  const { repoUrl, inGit } = input;
  const resolver = new TextResolver(source, base, { deferred: "keep", repoUrl, inGit, budget });
  try {
    return planWith(resolver, input, base, contexts, budget);
  } catch (error) {
    resolver.refuseWork(error);
    return { ok: false, fault: "definition", problems: resolver.problems };
  }
}

/** Throws `WorkUsedUp`. */
function planWith(
  resolver: TextResolver,
  input: Subject,
  base: Scope,
  contexts: PlanContexts["contexts"],
  budget: PlanBudget,
): DryRunResult {
  const { definition, trigger } = input;
  const cells = planCells(definition, base, budget, (code, path, message) => resolver.refuse(code, path, message));
  const judge = new Judge(definition, { ...contexts, run: { id: UNKNOWN, attempt: 1 } }, budget);
  const stages: DryStage[] = [];
  const secrets = new Set<string>();
  for (const [index, stage] of definition.stages.entries()) {
    const verdict = judge.stage(stage);
    const jobs: DryJob[] = [];
    for (const cell of cells) {
      if (cell.stage !== index) continue;
      const resolved = pinPlugins(resolver.resolveJob(definition.env, cell), cell.defined, input.plugins, resolver);
      const spec = { ...resolved, ...planPermissions(cell.defined, resolver) };
      if (input.demandsContainers === true) {
        refuseUncontained(cell.defined, spec, (path, message) => resolver.refuse("container-required", path, message));
      }
      for (const step of spec.steps) for (const name of step.secrets) secrets.add(name);
      jobs.push(dryJob(cell, spec, verdict, judge, plannedSelector(input, cell.defined, spec)));
      if (resolver.isFull) return { ok: false, fault: "definition", problems: resolver.problems };
    }
    stages.push({
      name: stage.name,
      when: verdict.when,
      verdict: verdict.verdict,
      approval: stage.approval !== null,
      jobs,
    });
  }
  const limit = input.snapshotBytes ?? null;
  const large = limit === null ? undefined : findTooLarge(definition, cells, keptTexts(input), limit, budget);
  if (large !== undefined) resolver.refuse("snapshot-limit", large.path, large.message);
  const { problems, warnings } = resolver;
  if (problems.length > 0) return { ok: false, fault: "definition", problems };
  return {
    ok: true,
    plan: {
      trigger: { kind: trigger.kind, ref: trigger.ref },
      stages,
      jobsCount: cells.length,
      stepsCount: cells.reduce((sum, { defined }) => sum + defined.steps.length, 0),
      secrets: [...secrets].toSorted(),
      warnings,
    },
  };
}

/** In texts, this id takes the place of the id that a run will get. */
const RUN_ID = "run_0";

function dryJob(cell: PlannedCell, spec: JobSpec, stage: Judgement, judge: Judge, selector: AgentSelector): DryJob {
  const { defined, matrix, cellsFrom } = cell;
  const { when, verdict } = judge.job(cell, stage.verdict);
  const env = knownEnv(spec.env, spec.late);
  const ended: string[] = [];
  const steps = defined.steps.map((step, index): DryStep => {
    const judged = judge.step(step, index, { cell, env, ended }, verdict);
    if (step.id !== "") ended.push(step.id);
    return { name: spec.steps[index]!.name, id: step.id, uses: spec.steps[index]!.uses, ...judged };
  });
  return {
    name: cellName(defined.name, matrix),
    baseName: defined.name,
    matrix,
    cellsFrom,
    needs: [...new Set(defined.needs)],
    when,
    verdict,
    approval: defined.approval !== null,
    selector,
    steps,
  };
}
