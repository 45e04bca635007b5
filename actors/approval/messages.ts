/** What an approval actor is told, and by whom. */
import type { CommandId, UserId } from "../../src/domain/ids.ts";

/** How an approval ended for what waits for it. */
export type ApprovalResult = "approved" | "rejected" | "expired";

/** Whoever approves or rejects, as authenticated; that they may has been checked. */
export interface Voter {
  readonly userId: UserId;
  readonly name: string;
}

export type ApprovalMessage =
  /** From a stored command. */
  | (Vote & { readonly type: "approve" | "reject" })
  /** From the run or a job that waited: it does so no more. */
  | { readonly type: "withdraw" }
  | { readonly type: "timer"; readonly timer: "expiry"; readonly generation: number };

export interface Vote {
  readonly commandId: CommandId;
  readonly voter: Voter;
  /** For people; may be empty. */
  readonly comment: string;
}
