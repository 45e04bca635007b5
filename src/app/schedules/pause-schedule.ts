/** Pause and resume of a schedule: commands in its inbox, which the schedule decides. */
import { z } from "zod";
import { MillraceError } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import { verdictOn } from "../commands/commands.ts";
import type { Caller } from "../identity/access.ts";
import { reachPipeline } from "../reaching.ts";
import { claimRequest } from "../request-ids.ts";
import type { SchedulesContext } from "./context.ts";
import { requireSchedule, type ScheduleName, scheduleView, type ScheduleView } from "./read-schedules.ts";

export const scheduleCommandBody = z.strictObject({
  reason: z.string().max(2_000).optional(),
  requestId: z.string().max(200).optional(),
});

type ScheduleCommand = z.output<typeof scheduleCommandBody> & ScheduleName;

/**
 * Answers when the schedule has decided. What was due before keeps its run; the times of the pause are skipped. Throws
 * `not_found`, `conflict` when the schedule is paused already, and `unavailable` when no worker has decided within 5 s: the
 * command is then stored, and safe to repeat with the same `requestId`.
 */
export function pauseSchedule(
  context: SchedulesContext,
  caller: Caller,
  input: ScheduleCommand,
): Promise<ScheduleView> {
  return command(context, caller, "pause", input);
}

/** As {@link pauseSchedule}; `conflict` when the schedule is not paused. */
export function resumeSchedule(
  context: SchedulesContext,
  caller: Caller,
  input: ScheduleCommand,
): Promise<ScheduleView> {
  return command(context, caller, "resume", input);
}

async function command(
  context: SchedulesContext,
  caller: Caller,
  kind: "pause" | "resume",
  input: ScheduleCommand,
): Promise<ScheduleView> {
  const { pipelineId, scheduleName, reason = "", requestId } = input;
  const { user, found: pipeline } = await reachPipeline(context, caller, "controlSchedules", pipelineId);
  const { scheduleId, state } = await requireSchedule(context, pipeline, scheduleName);
  const { id, repeated } = await claimRequest(context, {
    caller: user,
    scope: `${kind}/${scheduleId}`,
    requestId,
    body: input,
    freshId: () => newId("cmd"),
  });
  const known = repeated ? await context.stores.inbox.verdict(id) : undefined;
  if (known !== undefined) user.trail?.changedNothing();
  const body = { kind, reason, operator: user.name, actor: user.name } as const;
  const [before, after] = [{ state }, { state: kind === "pause" ? "paused" : "active", reason }];
  const change = { kind: "schedule", id: scheduleId, name: scheduleName, before, after } as const;
  const verdict = await verdictOn(context, { id, rootId: scheduleId, body, order: { by: user, change } }, known);
  if (verdict.outcome === "refused") {
    const rule = kind === "pause" ? "is paused already" : "is not paused";
    throw new MillraceError("conflict", `the schedule ${JSON.stringify(scheduleName)} ${rule}`);
  }
  return scheduleView(await requireSchedule(context, pipeline, scheduleName), context.clock.now());
}
