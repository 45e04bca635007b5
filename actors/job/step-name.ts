/** The name of a step as users see it. Pure. */
import type { PlannedStep } from "../../src/domain/plan.ts";
import { nameInCell } from "../../src/planner/step-name.ts";
import type { JobState } from "./state.ts";

/** `matrix`: that of the job of the step. The name of a step that the plan does not have is empty. */
export function stepName(step: Pick<PlannedStep, "name"> | undefined, matrix: JobState["matrix"]): string {
  return step === undefined ? "" : nameInCell(step, matrix);
}
