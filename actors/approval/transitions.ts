/**
 * The approval's whole state machine.
 *
 *   pending ──▶ approved │ rejected │ expired
 *      └──────▶ cancelled (nothing waits for it any more)
 */
import type { TransitionTable } from "../../src/domain/transition-table.ts";
import type { ApprovalStatus } from "../../src/domain/status.ts";

/**
 * `approve`: others have to approve as well; `lastApproval`: nobody has to. A command to one that has ended is `late`:
 * answered as refused, with the status that stood in its way.
 */
export const APPROVAL_INPUTS = [
  "approve",
  "approveAgain",
  "lastApproval",
  "reject",
  "expire",
  "withdraw",
  "stillWanted",
  "staleTimer",
] as const;
export type ApprovalInput = (typeof APPROVAL_INPUTS)[number];

// prettier-ignore
export const APPROVAL_TRANSITIONS = {
  approve:      { pending: "pending",   approved: "late",  rejected: "late",  expired: "late",  cancelled: "late"  },
  approveAgain: { pending: "same",      approved: "same",  rejected: "late",  expired: "late",  cancelled: "late"  },
  lastApproval: { pending: "approved",  approved: "late",  rejected: "late",  expired: "late",  cancelled: "late"  },
  reject:       { pending: "rejected",  approved: "late",  rejected: "late",  expired: "late",  cancelled: "late"  },
  expire:       { pending: "expired",   approved: "never", rejected: "never", expired: "never", cancelled: "never" },
  withdraw:     { pending: "cancelled", approved: "late",  rejected: "late",  expired: "late",  cancelled: "late"  },
  stillWanted:  { pending: "same",      approved: "late",  rejected: "late",  expired: "late",  cancelled: "late"  },
  staleTimer:   { pending: "late",      approved: "late",  rejected: "late",  expired: "late",  cancelled: "late"  },
} as const satisfies TransitionTable<ApprovalStatus, ApprovalInput>;
