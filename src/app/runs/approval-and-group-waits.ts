/** Waits for an approval and for a place in a concurrency group, as users read them. Pure. */
import type { z } from "zod";
import {
  type ApprovalState,
  type GatedPlan,
  gateName,
  missingApprovals,
  plannedApproval,
} from "../../../actors/approval/state.ts";
import { type GroupState, holderOf } from "../../../actors/group/state.ts";
import { type GroupMember, memberKey, type Place } from "../../domain/groups.ts";
import type { ApprovalId, GroupId } from "../../domain/ids.ts";
import type { QueueFacts } from "./queue-facts.ts";
import type { ApprovalWaitShape, GroupWaitShape } from "./run-shapes.ts";

/** Approvals and groups that a run waits for: they tell more about a wait than the state of the job that waits. */
export interface WaitFacts {
  readonly approvals: ReadonlyMap<ApprovalId, ApprovalState>;
  /** Groups in which the run or a job of it waits; a group that the store does not have is left out. */
  readonly groups: ReadonlyMap<GroupId, GroupState>;
  /** Absent where it is not asked for. */
  readonly queue?: QueueFacts;
}

export type ApprovalWait = z.infer<typeof ApprovalWaitShape>;
export type GroupWait = z.infer<typeof GroupWaitShape>;

export function approvalWait(approval: ApprovalState, plan: GatedPlan): ApprovalWait {
  const planned = plannedApproval(approval.gate, plan);
  const missing = missingApprovals(approval, planned);
  const by = missing.users.length > 0 ? ` (${missing.users.join(", ")} must)` : "";
  const count = missing.count === 1 ? "1 approval is" : `${missing.count} approvals are`;
  return {
    reason: "approval",
    text: `waits for the approval of ${gateName(approval.gate, plan)}: ${count} missing${by}`,
    approvalId: approval.approvalId,
  };
}

export function groupWait({ groupId, name }: Place, member: GroupMember, { groups }: WaitFacts): GroupWait {
  const group = groups.get(groupId);
  const holder = group === undefined ? null : holderOf(group);
  const key = memberKey(member);
  const ahead = group?.seats.filter((seat) => !seat.held && seat.supersededBy === null && seat.key < key).length ?? 0;
  const has = holder === null ? "" : `: run ${holder} has it`;
  const before = ahead === 0 ? "" : `, and ${ahead} ${ahead === 1 ? "waits" : "wait"} before`;
  return {
    reason: "concurrency",
    text: `waits for a place in the group ${JSON.stringify(name)}${has}${before}`,
    group: name,
    holder,
    ahead,
  };
}
