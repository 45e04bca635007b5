/** Conditions as a plan holds them: with all values that are known when a run is planned. */
import type { ParsedTexts } from "../definition/text/parsed-texts.ts";
import type { PlannedCondition } from "../domain/plan.ts";
import type { PartialScope } from "../expressions/context-data.ts";
import type { WorkBudget } from "../domain/work/work-budget.ts";
import { foldCondition } from "../expressions/fold.ts";

/** The planned form of a valid `when`; null for the empty text. `scope` knows all contexts except `jobs` and `steps`. */
export function planCondition(
  when: string,
  scope: PartialScope,
  parsed: ParsedTexts,
  budget: WorkBudget,
): PlannedCondition | null {
  if (when === "") return null;
  const condition = parsed.condition(when);
  return { written: condition.full, folded: foldCondition(condition, scope, budget) };
}
