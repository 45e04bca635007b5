/** What MongoDB's `explain` answers. Pure. */
import type { Document } from "mongodb";

/** The stages of the plan that the server takes, and of each other plan that it has weighed. */
export function stagesOf(explained: Document): readonly (readonly string[])[] {
  const planner = explained["queryPlanner"] as Document;
  return [planner["winningPlan"], ...((planner["rejectedPlans"] ?? []) as unknown[])].map(stagesIn);
}

/** All stages of a plan, which servers nest in fields of several names. */
function stagesIn(plan: unknown): readonly string[] {
  if (typeof plan !== "object" || plan === null) return [];
  const { stage } = plan as Document;
  return [...(typeof stage === "string" ? [stage] : []), ...Object.values(plan).flatMap(stagesIn)];
}
