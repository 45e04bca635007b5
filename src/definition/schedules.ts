/** The schedules of a definition: its cron triggers, with the defaults of what they leave out. Pure. */
import { parseDuration } from "../domain/durations.ts";
import { DEFAULT_CATCH_UP_MS, type ScheduleSpec } from "../domain/schedules.ts";
import type { Definition } from "./definition.ts";

/** A trigger without a name has its number, from 1, for a name; the first of two equal names counts. */
export function schedulesOf({ triggers }: Pick<Definition, "triggers">): readonly ScheduleSpec[] {
  const schedules = new Map<string, ScheduleSpec>();
  for (const [index, cron] of triggers.cron.entries()) {
    const { name = String(index + 1), schedule, timezone = "UTC", overlap = "allow", catchUp = "latest" } = cron;
    const { jitter, ref = null, variables = {} } = cron;
    if (schedules.has(name)) continue;
    schedules.set(name, {
      name,
      schedule,
      timezone,
      overlap,
      catchUp,
      catchUpMs: DEFAULT_CATCH_UP_MS,
      jitterMs: jitter === undefined ? 0 : parseDuration(jitter)!,
      ref,
      variables: Object.entries(variables).map(([variable, value]) => [variable, String(value)]),
    });
  }
  return [...schedules.values()];
}
