/**
 * Ended attempts of jobs and steps: those that another attempt has followed. Nothing is decided on them, and their
 * states are final, so a store may keep them apart from the snapshot. Pure.
 */
import { stepRunId } from "../../src/domain/ids.ts";
import type { RunPlan } from "../../src/domain/plan.ts";
import { isActiveStepStatus } from "../../src/domain/status.ts";
import type { JobState } from "../job/state.ts";
import { type StepState, stepStatus } from "../step/state.ts";

interface AnyActor {
  readonly kind: string;
  readonly state: unknown;
}

/**
 * Ids of the actors of the attempts that these actors have followed: with an attempt of a job its steps, all their
 * attempts. `stateOf`: the state of an actor of the run; undefined for an attempt of an earlier run.
 */
export function attemptsBefore(
  actors: Iterable<AnyActor>,
  stateOf: (id: string) => unknown,
  plan: RunPlan,
): readonly string[] {
  const ended: string[] = [];
  for (const { kind, state } of actors) {
    if (kind === "step") {
      const { retryOf } = state as StepState;
      if (retryOf !== null && isOver(stateOf(retryOf) as StepState | undefined)) ended.push(retryOf);
    } else if (kind === "job") {
      const { retryOf } = state as JobState;
      const before = retryOf === null ? undefined : (stateOf(retryOf) as JobState | undefined);
      if (before !== undefined && before.endedAt !== null) ended.push(before.jobId, ...stepsOf(before, stateOf, plan));
    }
  }
  return ended;
}

function stepsOf(
  { runId, jobId, index: jobIndex }: JobState,
  stateOf: (id: string) => unknown,
  plan: RunPlan,
): readonly string[] {
  const found: string[] = [];
  for (let index = 0; index < plan.jobs[jobIndex]!.steps.length; index++) {
    for (let attempt = 1; ; attempt++) {
      const id = stepRunId(runId, jobId, index, attempt);
      const step = stateOf(id) as StepState | undefined;
      if (step === undefined) break;
      if (isOver(step)) found.push(id);
    }
  }
  return found;
}

function isOver(step: StepState | undefined): boolean {
  return step !== undefined && !isActiveStepStatus(stepStatus(step.state));
}
