/** Reads what a run waits for besides agents: its approvals are its own, its groups are aggregates of their own. */
import type { ApprovalState } from "../../actors/approval/state.ts";
import type { GroupState } from "../../actors/group/state.ts";
import type { JobState } from "../../actors/job/state.ts";
import type { RunState } from "../../actors/run/state.ts";
import type { ApprovalId, GroupId } from "../domain/ids.ts";
import type { Aggregate, AggregateStore } from "../stores/aggregates.ts";
import type { Gates } from "./gate-waits.ts";

export async function readGates(store: Pick<AggregateStore, "load">, { actors }: Aggregate): Promise<Gates> {
  const approvals = new Map<ApprovalId, ApprovalState>();
  const groupIds = new Set<GroupId>();
  for (const { kind, state } of actors) {
    if (kind === "approval") approvals.set((state as ApprovalState).approvalId, state as ApprovalState);
    if (kind !== "run" && kind !== "job") continue;
    const { place } = state as RunState | JobState;
    if (place !== null && !place.held) groupIds.add(place.groupId);
  }
  const found = await Promise.all([...groupIds].map((groupId) => store.load(groupId)));
  const groups = found.flatMap((aggregate) =>
    aggregate === undefined ? [] : [aggregate.actors[0]!.state as GroupState],
  );
  return { approvals, groups: new Map(groups.map((group) => [group.groupId, group])) };
}
