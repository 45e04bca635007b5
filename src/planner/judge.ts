/** Decides the conditions of stages, jobs and steps in a dry run, as if everything that runs before them succeeded. */
import type { DefinedStage, DefinedStep, Definition } from "../definition/definition.ts";
import type { Path } from "../definition/text/source.ts";
import type { Pairs } from "../domain/pairs.ts";
import { type PartialJson, type PartialScope, toPartialScope, UNKNOWN } from "../expressions/context-data.ts";
import { decideCondition } from "../expressions/decide-condition.ts";
import type { PartialStatus } from "../expressions/functions.ts";
import type { PlanBudget } from "./plan-budget.ts";
import { matrixOf, type PlannedCell } from "./plan-cells.ts";
import type { KnownEnv } from "./text-resolver.ts";

/** Whether a stage, a job or a step runs when everything before it succeeds. */
export interface Verdict {
  /** `unknown`: it depends on a value that is known only during the run, such as an output. */
  readonly outcome: "runs" | "skipped" | "unknown";
  /** The part of the condition that decided, as text. In a stage or job that is skipped, the part that decided about the whole. */
  readonly decidedBy: string;
  /** False when a failure before it would change the outcome: `failure()` is false only while nothing fails. */
  readonly certain: boolean;
}

export interface Judgement {
  /** The condition in full, with the implied `success()`. */
  readonly when: string;
  readonly verdict: Verdict;
}

/** What the condition of a step can read, besides the contexts of its run. */
interface StepSurroundings {
  readonly cell: PlannedCell;
  readonly env: KnownEnv;
  /** Ids of the steps before it. */
  readonly ended: readonly string[];
}

const OUTCOMES = { true: "runs", false: "skipped", unknown: "unknown" } as const;
const ALL_SUCCEEDED: PartialStatus = { success: true, failure: false, cancelled: false };
const UNKNOWN_STATUS: PartialStatus = {};

/** The contexts of a condition in two forms: where all earlier jobs and steps have succeeded, and where their results are unknown. */
interface Scopes {
  readonly assumed: PartialScope;
  readonly open: PartialScope;
}

/** Judges the conditions of one dry run. */
export class Judge {
  readonly #base: Scopes;
  readonly #budget: PlanBudget;
  readonly #parsed: Definition["source"]["parsed"];

  /** The methods throw `WorkUsedUp` once `budget` is used up. */
  constructor(definition: Definition, contexts: Readonly<Record<string, PartialJson>>, budget: PlanBudget) {
    this.#budget = budget;
    this.#parsed = definition.source.parsed;
    const jobs = definition.stages.flatMap((stage) => stage.jobs);
    const ended = (result: PartialJson): PartialJson =>
      Object.fromEntries(jobs.map(({ name, outputs }) => [name, { result, outputs: unknownFields(outputs) }]));
    this.#base = {
      assumed: toPartialScope({ ...contexts, secrets: UNKNOWN, jobs: ended("success") }),
      open: toPartialScope({ ...contexts, secrets: UNKNOWN, jobs: ended(UNKNOWN) }),
    };
  }

  stage({ path, when }: DefinedStage): Judgement {
    return this.#judge(when, [...path, "when"], this.#base);
  }

  /** The judgement of one cell of a job, or of the whole job when its cells are deferred; `stage` is the verdict of its stage. */
  job(cell: PlannedCell, stage: Verdict): Judgement {
    const { when, path } = cell.defined;
    return this.#judge(when, [...path, "when"], this.#with({ matrix: matrixOf(cell) }, {}), stage);
  }

  /** `index`: the position of the step in its job. */
  step({ when }: DefinedStep, index: number, { cell, env, ended }: StepSurroundings, job: Verdict): Judgement {
    const steps = (result: PartialJson): PartialJson =>
      Object.fromEntries(ended.map((id) => [id, { result, outputs: UNKNOWN }]));
    const known: Readonly<Record<string, PartialJson>> = { matrix: matrixOf(cell), env };
    const scopes = this.#with({ ...known, steps: steps("success") }, { steps: steps(UNKNOWN) });
    return this.#judge(when, [...cell.defined.path, "steps", index, "when"], scopes, job);
  }

  #with(assumed: Readonly<Record<string, PartialJson>>, open: Readonly<Record<string, PartialJson>>): Scopes {
    return {
      assumed: toPartialScope(assumed, this.#base.assumed),
      open: toPartialScope({ ...assumed, ...open }, this.#base.open),
    };
  }

  #judge(when: string, path: Path, { assumed, open }: Scopes, whole?: Verdict): Judgement {
    const condition = this.#parsed.condition(when);
    const { full } = condition;
    // The conditions within a skipped stage or job are not evaluated.
    if (whole?.outcome === "skipped") return { when: full, verdict: whole };
    const budget = this.#budget.at(path, when);
    const likely = decideCondition(condition, assumed, ALL_SUCCEEDED, budget);
    const sure = decideCondition(condition, open, UNKNOWN_STATUS, budget);
    const certain = likely.outcome === sure.outcome && likely.outcome !== "unknown";
    const outcome = OUTCOMES[likely.outcome];
    if (whole?.outcome === "unknown" && outcome === "runs") return { when: full, verdict: whole };
    return { when: full, verdict: { outcome, decidedBy: likely.decidedBy, certain } };
  }
}

function unknownFields(outputs: Pairs<string>): PartialJson {
  return Object.fromEntries(outputs.map(([name]) => [name, UNKNOWN]));
}
