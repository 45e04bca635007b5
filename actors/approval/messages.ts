/** The messages of an approval actor, and who sends each. */
import type { CommandId, UserId } from "../../src/domain/ids.ts";

/** How an approval ended, for the run or the jobs that wait for it. */
export type ApprovalResult = "approved" | "rejected" | "expired";

/** The authenticated user who approves or rejects. The edge has checked that this user may. */
export interface Voter {
  readonly userId: UserId;
  readonly name: string;
}

export type ApprovalMessage =
  /** From a stored command. */
  | (Vote & { readonly type: "approve" | "reject" })
  /** From the run, or from a job: it no longer waits for the approval. */
  | { readonly type: "withdraw" }
  | { readonly type: "timer"; readonly timer: "expiry"; readonly generation: number };

export interface Vote {
  readonly commandId: CommandId;
  readonly voter: Voter;
  /** For people; may be empty. */
  readonly comment: string;
}
