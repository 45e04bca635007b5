/** What a change by a user changes of a step that waits. Pure. */
import type { StepChange } from "../../src/domain/commands.ts";
import type { RunPlan } from "../../src/domain/plan.ts";
import type { StepState } from "../step/state.ts";
import { type JobState, priorityOf } from "./state.ts";

/** The part of the values that the step or its job does not have already; null when it has them all. */
export function changedPart(
  job: JobState,
  step: StepState,
  { priority, metadata }: StepChange,
  plan: RunPlan,
): StepChange | null {
  const hasPriority = priority === undefined || priority === priorityOf(job, plan);
  const hasMetadata = metadata === undefined || JSON.stringify(metadata) === JSON.stringify(step.metadata ?? []);
  if (hasPriority && hasMetadata) return null;
  return { ...(!hasPriority && { priority }), ...(!hasMetadata && { metadata }) };
}
