/** The budget of work of one plan, which knows the place of the expression that is evaluated. Pure. */
import { spotIn } from "../definition/checks/texts.ts";
import type { Definition } from "../definition/definition.ts";
import type { Path, Spot } from "../definition/text/source.ts";
import { MAX_PLAN_WORK, WorkBudget, type WorkUsedUp } from "../domain/work/work-budget.ts";
import { OPEN } from "../expressions/template.ts";

interface Dearest {
  readonly path: Path;
  readonly work: number;
}

export class PlanBudget extends WorkBudget {
  #path: Path = [];
  #text = "";
  #begunAt = 0;
  #dearest: Dearest = { path: [], work: 0 };

  constructor(limit = MAX_PLAN_WORK) {
    super(limit);
  }

  /** This budget, for the evaluation of `text`, which stands at `path` of the definition. */
  at(path: Path, text = ""): this {
    this.#settle();
    this.#path = path;
    this.#text = text;
    return this;
  }

  /** Where the budget was used up, and what to say about it. */
  refusal({ span }: WorkUsedUp, source: Definition["source"]): { path: Path; message: string; spot?: Spot } {
    this.#settle();
    const { path, work } = this.#dearest;
    const { line, column, file } = source.locate("plan-limit", "error", path, "");
    const place = `${file === undefined ? "" : `${file}, `}line ${line}, column ${column}`;
    const why = `the expressions and texts of a run may cost ${this.limit} characters of work in all, and this run needs more`;
    const what = `the dearest one, at ${place}, costs ${work} or more`;
    const hint = "work with smaller values, or take what is needed of a large value once, in an output of a step";
    const spot =
      span === null || this.#text === ""
        ? {}
        : { spot: spotIn(this.#text, span, this.#text.includes(OPEN) ? OPEN : "") };
    return { path: this.#path, message: `${why}: it is used up here; ${what} (${hint})`, ...spot };
  }

  /** Counts what was charged since the last call for the place that was named last. */
  #settle(): void {
    const work = this.used - this.#begunAt;
    if (work > this.#dearest.work) this.#dearest = { path: this.#path, work };
    this.#begunAt = this.used;
  }
}
