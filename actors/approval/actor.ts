/** Binds the approval actor to the kernel. */
import type { ActorKind } from "../kernel/actor-kind.ts";
import { decideApproval, outstandingApproval } from "./decide.ts";
import type { ApprovalMessage } from "./messages.ts";
import type { ApprovalState } from "./state.ts";

export const approvalActor: ActorKind<ApprovalState, ApprovalMessage> = {
  decide: decideApproval,
  index: ({ gate, state, pipelineId, projectId, requestedAt }) => ({
    position: "run" in gate ? 0 : "stage" in gate ? gate.stage : gate.job,
    jobId: null,
    status: state,
    attempt: 1,
    agentId: null,
    approval: { pipelineId, projectId, requestedAt },
  }),
  timers: ({ expiryTimer }) => [["expiry", expiryTimer]],
  outstanding: outstandingApproval,
  waitsForAgent: () => null,
  heldBy: () => null,
};
