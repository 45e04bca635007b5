/** The group aggregate: one actor, which the kernel creates when the first run or job asks for a place. */
import type { GroupId } from "../../src/domain/ids.ts";
import type { Command } from "../../src/stores/ports/inbox.ts";
import { loneAggregate } from "../kernel/lone-actor.ts";
import { decideGroup } from "./decide.ts";
import type { GroupMessage } from "./messages.ts";
import type { GroupState } from "./state.ts";

export const GROUP_AGGREGATE = loneAggregate<GroupState, GroupMessage>({
  kind: "group",
  noun: "a group",
  decide: decideGroup,
  initial: (rootId) => ({
    groupId: rootId as GroupId,
    projectId: null,
    name: "",
    state: "idle",
    limit: 1,
    definedBy: "",
    seats: [],
  }),
  messageOf,
  isFinal: ({ state }) => state === "idle",
});

function messageOf(command: Command): GroupMessage {
  if (command.kind === "enter" || command.kind === "leave") return { ...command, commandId: command.id };
  throw new Error(`the command ${command.kind} is not valid for a group`);
}
