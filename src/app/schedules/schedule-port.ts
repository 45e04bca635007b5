/** What the kernel asks of the use cases for schedules. */
import type { SchedulePort } from "../../../actors/kernel/performer.ts";
import type { SchedulesContext } from "./context.ts";
import { planStart } from "./plan-start.ts";
import { readTriggers } from "./read-triggers.ts";
import { startScheduledRun } from "./start-run.ts";

export function schedulePort(context: SchedulesContext): SchedulePort {
  return {
    startRun: (effect) => startScheduledRun(context, effect, (...start) => planStart(context, ...start)),
    readTriggers: (effect) => readTriggers(context, effect),
  };
}
