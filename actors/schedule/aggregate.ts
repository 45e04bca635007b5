/** The schedule aggregate: one actor, which the kernel creates when the timetable of its pipeline defines it. */
import type { ScheduleId } from "../../src/domain/ids.ts";
import type { Command } from "../../src/stores/ports/inbox.ts";
import { loneAggregate } from "../kernel/lone-actor.ts";
import { decideSchedule } from "./decide.ts";
import type { ScheduleMessage } from "./messages.ts";
import { type ScheduleState, wakeAt } from "./state.ts";

export const SCHEDULE_AGGREGATE = loneAggregate<ScheduleState, ScheduleMessage | { readonly type: "timer" }>({
  kind: "schedule",
  noun: "a schedule",
  decide: (state, message, now) => decideSchedule(state, "type" in message ? { kind: "timer" } : message, now),
  initial: (rootId) => ({
    scheduleId: rootId as ScheduleId,
    pipelineId: null,
    projectId: null,
    spec: null,
    state: "absent",
    generation: 0,
    decidedUntil: 0,
    next: null,
    waiting: [],
    starting: null,
    active: [],
    pause: null,
    outcomes: [],
  }),
  messageOf,
  isFinal: ({ state }) => state === "absent",
  wakeAt,
});

function messageOf(command: Command): ScheduleMessage {
  switch (command.kind) {
    case "define":
    case "withdraw":
    case "startAnswered":
    case "runEnded":
      return { ...command, commandId: command.id };
    case "pause":
    case "resume":
      return { ...command, kind: command.kind, commandId: command.id };
    default:
      throw new Error(`the command ${command.kind} is not valid for a schedule`);
  }
}
