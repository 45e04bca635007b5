/** Conditions as a plan holds them: with everything put in that is known when a run is planned. */
import type { ParsedTexts } from "../definition/text/parsed-texts.ts";
import type { PlannedCondition } from "../domain/plan.ts";
import type { PartialScope } from "../expressions/context-data.ts";
import { foldCondition } from "../expressions/fold.ts";

/** Of a `when` as written, without problems; null for none. `scope` knows all contexts but `jobs` and `steps`. */
export function planCondition(when: string, scope: PartialScope, parsed: ParsedTexts): PlannedCondition | null {
  if (when === "") return null;
  const condition = parsed.condition(when);
  return { written: condition.full, folded: foldCondition(condition, scope) };
}
