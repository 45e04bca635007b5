/** The commands of a run or a job to its group. Pure. */
import type { OwedEffect } from "../../src/domain/effects.ts";
import { type GroupMember, memberKey, type Place } from "../../src/domain/groups.ts";
import { commandIdOf, groupIdOf, type ProjectId } from "../../src/domain/ids.ts";
import type { PlannedGroup } from "../../src/domain/plan.ts";

/** The place that the member asks for, and the effect that asks the group. The name of `group` is evaluated already. */
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

/** The effect that gives up a place or stops waiting for one; none for a member without a place. */
export function leaveGroup(place: Place | null, member: GroupMember): readonly OwedEffect[] {
  if (place === null) return [];
  const { groupId } = place;
  const commandId = commandIdOf("leave", groupId, memberKey(member));
  return [{ type: "command", to: groupId, commandId, body: { kind: "leave", member } }];
}
