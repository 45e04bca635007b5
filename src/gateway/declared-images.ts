/** Finds which images a granted step has. */
import type { StepState } from "../../actors/step/state.ts";
import { imageUsesOf, resolveImages } from "../planner/deferred-texts.ts";
import type { Stores } from "../stores/ports/stores.ts";
import { withStepFacts } from "./step-facts.ts";

/** The images of the step's container and services, by the references that its dispatch has. */
export async function declaredImages(
  stores: Pick<Stores, "aggregates" | "outputs" | "plans">,
  step: StepState,
): Promise<readonly string[]> {
  const spec = await stores.plans.loadJob(step.runId, step.jobIndex);
  const stepSpec = spec?.steps[step.index];
  if (spec === undefined || stepSpec === undefined) return [];
  const uses = imageUsesOf(spec, stepSpec);
  if (uses.every(({ late }) => !late.includes("/image"))) return uses.map(({ image }) => image);
  const plan = await stores.plans.loadPlan(step.runId);
  if (plan === undefined) return [];
  return (await withStepFacts(stores, step, plan, (facts) => resolveImages(spec, stepSpec, facts))).value;
}
