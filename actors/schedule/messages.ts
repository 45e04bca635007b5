/** The messages of a schedule actor, and who sends each. */
import type { RunEndedCommand, ScheduleCommand, UserCommand } from "../../src/domain/commands.ts";
import type { CommandId } from "../../src/domain/ids.ts";

export type ScheduleMessage = ScheduleOrder | ScheduleTimer;

/**
 * From stored commands: of the timetable of the pipeline, of the worker that has created a run, of a run that has ended, and of
 * users who pause and resume the schedule.
 */
export type ScheduleOrder = (
  | ScheduleCommand
  | RunEndedCommand
  | (UserCommand & { readonly kind: "pause" | "resume" })
) & { readonly commandId: CommandId };

/** From the kernel: a time is due, or the jitter of one is over. */
export interface ScheduleTimer {
  readonly kind: "timer";
}
