/**
 * The approval's whole state machine.
 *
 *   pending ──▶ approved │ rejected │ expired
 *      └──────▶ cancelled (no job waits for it any more)
 */
import type { TransitionTable } from "../../src/domain/transition-table.ts";
import type { ApprovalStatus } from "../../src/domain/status.ts";

/**
 * Each input, and the situation in which `inputOf` (decide.ts) looks it up. A vote on an approval that has ended is
 * `late`: the approval answers that it is refused, with the approval's status.
 */
// prettier-ignore
export const APPROVAL_INPUTS = [
  "approve",      // A user approves, and others have to approve as well.
  "approveAgain", // A user approves who has approved before.
  "lastApproval", // A user approves, and no other approval is missing.
  "reject",       // A user rejects.
  "expire",       // The time for an answer is over.
  "withdraw",     // The run or a job no longer waits for the approval, and no other job does.
  "stillNeeded",  // A job no longer waits for the approval, and another job behind the same gate does.
  "staleTimer",   // A timer fires that the approval has since cleared.
] as const;
export type ApprovalInput = (typeof APPROVAL_INPUTS)[number];

/** What each input does in each state; for the words `same`, `late` and `never` see transition-table.ts. */
// prettier-ignore
export const APPROVAL_TRANSITIONS = {
  approve:      { pending: "pending",   approved: "late",  rejected: "late",  expired: "late",  cancelled: "late"  },
  approveAgain: { pending: "same",      approved: "same",  rejected: "late",  expired: "late",  cancelled: "late"  },
  lastApproval: { pending: "approved",  approved: "late",  rejected: "late",  expired: "late",  cancelled: "late"  },
  reject:       { pending: "rejected",  approved: "late",  rejected: "late",  expired: "late",  cancelled: "late"  },
  expire:       { pending: "expired",   approved: "never", rejected: "never", expired: "never", cancelled: "never" },
  withdraw:     { pending: "cancelled", approved: "late",  rejected: "late",  expired: "late",  cancelled: "late"  },
  stillNeeded:  { pending: "same",      approved: "late",  rejected: "late",  expired: "late",  cancelled: "late"  },
  staleTimer:   { pending: "late",      approved: "late",  rejected: "late",  expired: "late",  cancelled: "late"  },
} as const satisfies TransitionTable<ApprovalStatus, ApprovalInput>;
