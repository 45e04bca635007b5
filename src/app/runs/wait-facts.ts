/** Reads what a run waits for besides agents. Approvals are part of the run; groups are aggregates of their own. */
import type { GroupState } from "../../../actors/group/state.ts";
import type { JobState } from "../../../actors/job/state.ts";
import type { RunState } from "../../../actors/run/state.ts";
import type { GroupId } from "../../domain/ids.ts";
import type { Aggregate, AggregateStore } from "../../stores/ports/aggregates.ts";
import { approvalsOf } from "../approvals/approval-view.ts";
import type { WaitFacts } from "./approval-and-group-waits.ts";

export async function readWaitFacts(store: Pick<AggregateStore, "load">, aggregate: Aggregate): Promise<WaitFacts> {
  const groupIds = new Set<GroupId>();
  for (const { kind, state } of aggregate.actors) {
    if (kind !== "run" && kind !== "job") continue;
    const { place } = state as RunState | JobState;
    if (place !== null && !place.held) groupIds.add(place.groupId);
  }
  const found = await Promise.all([...groupIds].map((groupId) => store.load(groupId)));
  const groups = found.flatMap((group) => (group === undefined ? [] : [group.actors[0]!.state as GroupState]));
  const approvals = new Map(approvalsOf(aggregate).map((approval) => [approval.approvalId, approval]));
  return { approvals, groups: new Map(groups.map((group) => [group.groupId, group])) };
}
