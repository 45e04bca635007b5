/** Whose the bounded things are that a caller holds: connections, subscriptions, large answers. */
import type { Caller } from "./callers.ts";

/** Whose what a caller holds is: the user, or the token or agent of other callers. */
export function holderOf(caller: Caller): string {
  if (caller.kind === "user") return caller.userId;
  if (caller.kind === "job") return caller.jobId;
  if (caller.kind === "agent") return caller.agentId;
  return "tokenId" in caller.proof ? caller.proof.tokenId : caller.proof.workload.id;
}
