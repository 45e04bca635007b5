/** Finds which artifacts a granted step declares. */
import type { StepState } from "../../actors/step/state.ts";
import type { ArtifactRule } from "../domain/artifacts.ts";
import { hasDeferredFiles } from "../domain/plan.ts";
import { resolveFiles } from "../planner/deferred-texts.ts";
import type { Stores } from "../stores/ports/stores.ts";
import { withStepFacts } from "./step-facts.ts";

/** The artifacts of the step with the names and paths that its dispatch has. */
export async function declaredArtifacts(
  stores: Pick<Stores, "aggregates" | "outputs" | "plans">,
  step: StepState,
): Promise<readonly ArtifactRule[]> {
  const spec = (await stores.plans.loadJob(step.runId, step.jobIndex))?.steps[step.index];
  if (spec === undefined || !hasDeferredFiles(spec)) return spec?.artifacts ?? [];
  const plan = await stores.plans.loadPlan(step.runId);
  if (plan === undefined) return [];
  const { value } = await withStepFacts(stores, step, plan, (facts) => resolveFiles(spec, facts));
  return value.artifacts;
}
