/** Conditions as a plan holds them: with everything put in that is known when a run is planned. */
import { CONTEXTS } from "../definition/expression-places.ts";
import type { PlannedCondition } from "../domain/plan.ts";
import { type Condition, parseCondition } from "../expressions/condition.ts";
import type { PartialScope } from "../expressions/context-data.ts";
import { foldCondition } from "../expressions/fold.ts";

export class ConditionPlanner {
  /** Cells share their conditions. */
  readonly #parsed = new Map<string, Condition>();

  /** Of a `when` as written, without problems; null for none. `scope` knows all contexts but `jobs` and `steps`. */
  plan(when: string, scope: PartialScope): PlannedCondition | null {
    if (when === "") return null;
    const condition = this.#parse(when);
    return { written: condition.full, folded: foldCondition(condition, scope) };
  }

  #parse(when: string): Condition {
    let condition = this.#parsed.get(when);
    if (condition === undefined) this.#parsed.set(when, (condition = parseCondition(when, CONTEXTS)));
    return condition;
  }
}
