/** The environment to which a planned job deploys. Pure. */
import type { DefinedJob } from "../definition/definition.ts";
import type { ParsedTexts } from "../definition/text/parsed-texts.ts";
import type { PlannedJob } from "../domain/plan.ts";
import type { WorkBudget } from "../domain/work/work-budget.ts";
import type { PartialScope } from "../expressions/context-data.ts";
import { foldTemplate } from "../expressions/fold.ts";

/**
 * Nothing for a job without a target. A name that is made of secrets is left out: it would stand in lists. `scope` is that of the
 * job.
 */
export function planEnvironment(
  target: DefinedJob["target"],
  scope: PartialScope,
  parsed: ParsedTexts,
  budget: WorkBudget,
): Pick<PlannedJob, "environment"> {
  if (target === null || target === undefined) return {};
  const template = parsed.template(target.environment);
  if (template.references.some(({ context }) => context === "secrets")) return {};
  return { environment: foldTemplate(template, scope, budget) };
}
