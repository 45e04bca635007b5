/** What becomes of stages, jobs and steps in a dry run: their conditions, decided as if all that runs before them succeeds. */
import type { DefinedStep, Definition } from "../definition/definition.ts";
import type { Pairs } from "../domain/plan.ts";
import { type PartialJson, type PartialScope, toPartialScope, UNKNOWN } from "../expressions/context-data.ts";
import { decideCondition } from "../expressions/decide-condition.ts";
import type { PartialStatus } from "../expressions/functions.ts";
import { matrixOf, type PlannedCell } from "./plan-cells.ts";
import type { KnownEnv } from "./text-resolver.ts";

/** What becomes of a stage, a job or a step when all that runs before it succeeds. */
export interface Verdict {
  /** `unknown`: it depends on what only the run will know, such as an output. */
  readonly outcome: "runs" | "skipped" | "unknown";
  /** The sub-expression that decided, printed; of a part of what is skipped as a whole, that of the whole. */
  readonly decidedBy: string;
  /** False when another outcome of what runs before would change it: `failure()` is false only while nothing fails. */
  readonly certain: boolean;
}

export interface Judgement {
  /** The condition in full, with what is implied. */
  readonly when: string;
  readonly verdict: Verdict;
}

/** What is around a step. */
interface StepSurroundings {
  readonly cell: PlannedCell;
  readonly env: KnownEnv;
  /** Ids of the steps before it. */
  readonly ended: readonly string[];
}

const OUTCOMES = { true: "runs", false: "skipped", unknown: "unknown" } as const;
const ALL_WELL: PartialStatus = { success: true, failure: false, cancelled: false };
const ANYTHING: PartialStatus = {};

/** Results that are assumed, and those of which nothing is. */
interface Scopes {
  readonly assumed: PartialScope;
  readonly open: PartialScope;
}

export class Judge {
  readonly #base: Scopes;
  readonly #parsed: Definition["source"]["parsed"];

  constructor(definition: Definition, contexts: Readonly<Record<string, PartialJson>>) {
    this.#parsed = definition.source.parsed;
    const jobs = definition.stages.flatMap((stage) => stage.jobs);
    const ended = (result: PartialJson): PartialJson =>
      Object.fromEntries(jobs.map(({ name, outputs }) => [name, { result, outputs: unknownFields(outputs) }]));
    this.#base = {
      assumed: toPartialScope({ ...contexts, secrets: UNKNOWN, jobs: ended("success") }),
      open: toPartialScope({ ...contexts, secrets: UNKNOWN, jobs: ended(UNKNOWN) }),
    };
  }

  stage(when: string): Judgement {
    return this.#judge(when, this.#base);
  }

  /** Of one cell; of all of them when they are not known. */
  job(cell: PlannedCell, stage: Verdict): Judgement {
    return this.#judge(cell.defined.when, this.#with({ matrix: matrixOf(cell) }, {}), stage);
  }

  step({ when }: DefinedStep, { cell, env, ended }: StepSurroundings, job: Verdict): Judgement {
    const steps = (result: PartialJson): PartialJson =>
      Object.fromEntries(ended.map((id) => [id, { result, outputs: UNKNOWN }]));
    const known: Readonly<Record<string, PartialJson>> = { matrix: matrixOf(cell), env };
    return this.#judge(when, this.#with({ ...known, steps: steps("success") }, { steps: steps(UNKNOWN) }), job);
  }

  #with(assumed: Readonly<Record<string, PartialJson>>, open: Readonly<Record<string, PartialJson>>): Scopes {
    return {
      assumed: toPartialScope(assumed, this.#base.assumed),
      open: toPartialScope({ ...assumed, ...open }, this.#base.open),
    };
  }

  #judge(when: string, { assumed, open }: Scopes, whole?: Verdict): Judgement {
    const condition = this.#parsed.condition(when);
    const { full } = condition;
    // Nothing of what is skipped as a whole is asked for.
    if (whole?.outcome === "skipped") return { when: full, verdict: whole };
    const likely = decideCondition(condition, assumed, ALL_WELL);
    const sure = decideCondition(condition, open, ANYTHING);
    const certain = likely.outcome === sure.outcome && likely.outcome !== "unknown";
    const outcome = OUTCOMES[likely.outcome];
    if (whole?.outcome === "unknown" && outcome === "runs") return { when: full, verdict: whole };
    return { when: full, verdict: { outcome, decidedBy: likely.decidedBy, certain } };
  }
}

function unknownFields(outputs: Pairs<string>): PartialJson {
  return Object.fromEntries(outputs.map(([name]) => [name, UNKNOWN]));
}
