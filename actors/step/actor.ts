/** Binds the step actor to the kernel. */
import type { RunPlan } from "../../src/domain/plan.ts";
import { reasonChars } from "../../src/planner/plan-index.ts";
import type { ActorKind } from "../kernel/actor-kind.ts";
import { decideStep, outstandingStep } from "./decide.ts";
import type { StepMessage } from "./messages.ts";
import { isHeld, type StepState, stepStatus } from "./state.ts";

export const stepActor: ActorKind<StepState, StepMessage> = {
  decide: (step, message, now, plan) => decideStep(step, withShortReason(message, plan), now),
  index: (step) => ({
    position: step.index,
    jobId: step.jobId,
    status: stepStatus(step.state),
    attempt: step.attempt,
    agentId: isHeld(step) ? step.grant!.agentId : null,
  }),
  timers: () => [],
  outstanding: (step, plan) => outstandingStep(step, plan.jobs[step.jobIndex]!.cancelGraceMs),
  // The job holds the lease: all its steps run on the agent to which the job is bound.
  waitsForAgent: () => null,
  heldBy: () => null,
};

/** A report with as much of its reason as the run keeps. */
function withShortReason(message: StepMessage, plan: RunPlan): StepMessage {
  if (message.type !== "reported") return message;
  const most = reasonChars(plan);
  return message.reason.length <= most ? message : { ...message, reason: message.reason.slice(0, most) };
}
