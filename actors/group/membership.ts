/** What a run or a job says to its group. Pure. */
import type { OwedEffect } from "../../src/domain/effects.ts";
import { type GroupMember, memberKey, type Place } from "../../src/domain/groups.ts";
import { commandIdOf, groupIdOf, type ProjectId } from "../../src/domain/ids.ts";
import type { PlannedGroup } from "../../src/domain/plan.ts";

/** The place asked for, and the effect that asks; `group` has its final name. */
export function enterGroup(
  member: GroupMember,
  projectId: ProjectId,
  group: PlannedGroup,
): { readonly place: Place; readonly effect: OwedEffect } {
  const groupId = groupIdOf(projectId, group.name);
  return {
    place: { groupId, name: group.name, held: false },
    effect: {
      type: "command",
      to: groupId,
      commandId: commandIdOf("enter", groupId, memberKey(member)),
      body: { kind: "enter", member, projectId, group, isReservation: false },
    },
  };
}

/** Nothing for one that is in no group. */
export function leaveGroup(place: Place | null, member: GroupMember): readonly OwedEffect[] {
  if (place === null) return [];
  const { groupId } = place;
  const commandId = commandIdOf("leave", groupId, memberKey(member));
  return [{ type: "command", to: groupId, commandId, body: { kind: "leave", member } }];
}
