/** The step as the kernel sees it. */
import type { ActorKind } from "../kernel/actor-kind.ts";
import { decideStep, outstandingStep } from "./decide.ts";
import type { StepMessage } from "./messages.ts";
import { isHeld, type StepState, stepStatus } from "./state.ts";

export const stepActor: ActorKind<StepState, StepMessage> = {
  decide: (step, message, now) => decideStep(step, message, now),
  index: (step) => ({
    position: step.index,
    jobId: step.jobId,
    status: stepStatus(step.state),
    attempt: step.attempt,
    agentId: isHeld(step) ? step.grant!.agentId : null,
  }),
  timers: () => [],
  outstanding: (step, plan) => outstandingStep(step, plan.jobs[step.jobIndex]!.cancelGraceMs),
  // The lease is held by the job, to which all its steps are bound.
  waitsForAgent: () => null,
  heldBy: () => null,
};
