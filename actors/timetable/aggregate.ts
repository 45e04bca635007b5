/** The timetable aggregate: one actor for each pipeline that has or had cron triggers. */
import type { TimetableId } from "../../src/domain/ids.ts";
import type { Command } from "../../src/stores/ports/inbox.ts";
import { loneAggregate } from "../kernel/lone-actor.ts";
import { decideTimetable } from "./decide.ts";
import type { TimetableMessage } from "./messages.ts";
import type { TimetableState } from "./state.ts";

export const TIMETABLE_AGGREGATE = loneAggregate<TimetableState, TimetableMessage | { readonly type: "timer" }>({
  kind: "timetable",
  noun: "a timetable",
  decide: (state, message, now) => decideTimetable(state, "type" in message ? { kind: "timer" } : message, now),
  initial: (rootId) => ({
    timetableId: rootId as TimetableId,
    state: "empty",
    pipelineId: null,
    projectId: null,
    generation: 0,
    schedules: [],
    lookAt: null,
  }),
  messageOf,
  isFinal: ({ state, lookAt }) => state === "empty" && lookAt === null,
  wakeAt: ({ lookAt }) => lookAt,
});

function messageOf(command: Command): TimetableMessage {
  if (command.kind === "triggersChanged" || command.kind === "triggersRead") {
    return { ...command, commandId: command.id };
  }
  throw new Error(`the command ${command.kind} is not valid for a timetable`);
}
