/** Schedules as users see them: the cron triggers of a pipeline, their next times, and what became of the last ones. */
import { z } from "zod";
import { type ScheduleState } from "../../../actors/schedule/state.ts";
import type { TimetableState } from "../../../actors/timetable/state.ts";
import { MillraceError } from "../../domain/errors.ts";
import { type PipelineId, type RunId, type ScheduleId, scheduleIdOf, timetableIdOf } from "../../domain/ids.ts";
import { CATCH_UPS, type Outcome, OVERLAPS, SKIP_REASONS } from "../../domain/schedules.ts";
import { nextOccurrences } from "../../schedules/occurrences.ts";
import type { Pipeline } from "../../stores/ports/pipelines.ts";
import type { Caller } from "../identity/access.ts";
import { reachPipeline } from "../reaching.ts";
import { fields, id, listOf, shape, time, wholeListOf, wholeNumber } from "../shapes.ts";
import { rfc3339 } from "../times.ts";
import type { SchedulesContext } from "./context.ts";

const NEXT_TIMES = 10;
/** Schedules that are read at once. */
const READ_AT_ONCE = 16;

const scheduleFields = () => ({
  pipelineId: id<PipelineId>(),
  scheduleId: id<ScheduleId>(),
  /** Of the trigger. */
  name: z.string(),
  state: z.enum(["active", "paused"]),
  schedule: z.string(),
  timezone: z.string(),
  overlap: z.enum(OVERLAPS),
  catchUp: z.enum(CATCH_UPS),
  /** The longest delay of a run behind its time, milliseconds. */
  jitter: wholeNumber,
  /** Null: the default branch of the pipeline. */
  ref: z.string().nullable(),
  /** The next ten times at most; none while it is paused. */
  next: listOf(time),
  /** Times that were due and wait for their runs, the oldest first. */
  waiting: listOf(time),
  /** Runs of the schedule that have not ended; the newest hundred. */
  activeRuns: listOf(id<RunId>()),
  /** Null while it is not paused. */
  pause: fields(() => ({ at: time, by: z.string(), reason: z.string() })).nullable(),
});

const OutcomeShape = shape("ScheduleOutcome", () => ({
  /** The time, or the first of several that were skipped in a row for one reason. */
  at: time,
  /** The last of them. */
  until: time,
  /** How many they are; null for too many to count. */
  count: wholeNumber.nullable(),
  /** Null for times without a run. */
  runId: id<RunId>().nullable(),
  /** Why they have no run; null with a run. */
  reason: z.enum(SKIP_REASONS).nullable(),
  /** For people; may be empty. */
  text: z.string(),
  decidedAt: time,
}));

export const ScheduleShape = shape("Schedule", scheduleFields);
export const ScheduleDetailShape = shape("ScheduleDetail", () => ({
  ...scheduleFields(),
  /** The last 50, the newest first. */
  outcomes: listOf(OutcomeShape),
}));
export const ScheduleListShape = wholeListOf(ScheduleShape);

export type ScheduleView = z.infer<typeof ScheduleShape>;
type ScheduleDetailView = z.infer<typeof ScheduleDetailShape>;

/** The schedules of a pipeline, in the order of its definition. Throws `not_found`. */
export async function listSchedules(
  context: SchedulesContext,
  caller: Caller,
  { pipelineId }: { readonly pipelineId: PipelineId },
): Promise<z.infer<typeof ScheduleListShape>> {
  await reachPipeline(context, caller, "readPipelines", pipelineId);
  const timetable = await stateOf<TimetableState>(context, timetableIdOf(pipelineId));
  const names = timetable?.schedules.map(({ name }) => name) ?? [];
  const list: ScheduleView[] = [];
  for (let at = 0; at < names.length; at += READ_AT_ONCE) {
    const found = await Promise.all(names.slice(at, at + READ_AT_ONCE).map((name) => find(context, pipelineId, name)));
    list.push(...found.flatMap((one) => (one === undefined ? [] : [scheduleView(one, context.clock.now())])));
  }
  return { list, total: list.length };
}

/** Throws `not_found` also for a name that no cron trigger of the definition has. */
export async function getSchedule(
  context: SchedulesContext,
  caller: Caller,
  { pipelineId, scheduleName }: ScheduleName,
): Promise<ScheduleDetailView> {
  const { found: pipeline } = await reachPipeline(context, caller, "readPipelines", pipelineId);
  const schedule = await requireSchedule(context, pipeline, scheduleName);
  const outcomes = schedule.outcomes.toReversed().map(outcomeView);
  return { ...scheduleView(schedule, context.clock.now()), outcomes };
}

export interface ScheduleName {
  readonly pipelineId: PipelineId;
  readonly scheduleName: string;
}

/** A schedule that the definition has. Throws `not_found`. */
export async function requireSchedule(
  context: SchedulesContext,
  { pipelineId }: Pick<Pipeline, "pipelineId">,
  name: string,
): Promise<DefinedSchedule> {
  const found = await find(context, pipelineId, name);
  if (found !== undefined) return found;
  throw new MillraceError(
    "not_found",
    `the definition of ${pipelineId} has no cron trigger ${JSON.stringify(name)}: GET .../schedules lists them`,
  );
}

/** A schedule whose trigger the definition has. */
type DefinedSchedule = ScheduleState & {
  readonly spec: NonNullable<ScheduleState["spec"]>;
  readonly pipelineId: PipelineId;
  readonly state: "active" | "paused";
};

async function find(
  context: SchedulesContext,
  pipelineId: PipelineId,
  name: string,
): Promise<DefinedSchedule | undefined> {
  const found = await stateOf<ScheduleState>(context, scheduleIdOf(pipelineId, name));
  return found?.state === "active" || found?.state === "paused" ? (found as DefinedSchedule) : undefined;
}

async function stateOf<State>(
  { stores }: SchedulesContext,
  rootId: ReturnType<typeof scheduleIdOf | typeof timetableIdOf>,
): Promise<State | undefined> {
  return (await stores.aggregates.load(rootId))?.actors[0]?.state as State | undefined;
}

export function scheduleView(schedule: DefinedSchedule, now: number): ScheduleView {
  const { pipelineId, scheduleId, spec, state, waiting, starting, active, pause } = schedule;
  const { name, schedule: calendar, timezone, overlap, catchUp, jitterMs: jitter, ref } = spec;
  const from = Math.max(now, schedule.decidedUntil);
  const next = state === "paused" ? [] : nextOccurrences({ schedule: calendar, timezone }, from, NEXT_TIMES);
  const times = [...(starting === null ? [] : [starting.at]), ...waiting.map(({ at }) => at)];
  return {
    pipelineId,
    scheduleId,
    name,
    state,
    schedule: calendar,
    timezone,
    overlap,
    catchUp,
    jitter,
    ref,
    next: next.map((at) => rfc3339(at)),
    waiting: times.map((at) => rfc3339(at)),
    activeRuns: active,
    pause: pause && { ...pause, at: rfc3339(pause.at) },
  };
}

function outcomeView({ at, until, decidedAt, ...shown }: Outcome): z.infer<typeof OutcomeShape> {
  return { at: rfc3339(at), until: rfc3339(until), ...shown, decidedAt: rfc3339(decidedAt) };
}
