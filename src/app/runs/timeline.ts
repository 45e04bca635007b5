/** The timeline of a run: every transition with its cause, page by page. */
import { z } from "zod";
import { EVENT_OBJECTS, LIFECYCLES, type RunEvent } from "../../domain/events.ts";
import type { JobRunId, RunId, StepRunId } from "../../domain/ids.ts";
import type { RunPlan } from "../../domain/plan.ts";
import type { AggregateHead } from "../../stores/ports/aggregates.ts";
import { isLastPage } from "../../stores/ports/events.ts";
import type { Caller } from "../identity/access.ts";
import type { RunsContext } from "./context.ts";
import { requireKeptEvents } from "./kept-parts.ts";
import { noRun } from "../lookups.ts";
import { contentView } from "../events/pushed-content.ts";
import { id, listOf, shape, time, wholeNumber } from "../shapes.ts";
import { authoriseOnRun } from "../reaching.ts";
import { rfc3339 } from "../times.ts";

const MAX_LIMIT = 1_000;

export const timelineQuery = z.strictObject({
  /** Only transitions with a larger number are listed. */
  after: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(MAX_LIMIT).default(200),
});

const content = z.record(z.string(), z.unknown());

/** A transition has further fields with texts, numbers and truth values; which ones depends on the transition. */
export const TransitionShape = z
  .object({
    /** Counts the transitions of the run from 1. */
    number: wholeNumber,
    time,
    object: z.enum(EVENT_OBJECTS),
    lifecycle: z.enum(LIFECYCLES),
    status: z.string(),
    jobId: id<JobRunId>().nullable(),
    stepRunId: id<StepRunId>().nullable(),
    /** Of the job, or of the step after the name of its job; empty for the run. */
    name: z.string(),
    cause: z.string(),
    /** A user's name, an agent's id, or empty. */
    by: z.string(),
    /** The type, of a pushed event only. */
    type: z.string().optional(),
    /** What the agent or the step has sent, of a pushed event only. */
    payload: content.optional(),
  })
  .catchall(z.union([z.string(), z.number(), z.boolean(), z.null(), content]))
  .readonly()
  .meta({ id: "Transition" });

export const TimelineShape = shape("Timeline", () => ({
  runId: id<RunId>(),
  /** In the order of `number`. */
  list: listOf(TransitionShape),
  /** The `after` of the next page; null when this page is the last one so far. */
  next: wholeNumber.nullable(),
}));

export type TimelineView = z.infer<typeof TimelineShape>;
type TransitionView = z.infer<typeof TransitionShape>;

/** Throws `not_found`, also when retention has deleted the events of the run. */
export async function readTimeline(
  context: RunsContext,
  caller: Caller,
  input: z.output<typeof timelineQuery> & { readonly runId: RunId },
): Promise<TimelineView> {
  const { runId, after, limit } = input;
  await authoriseOnRun(context, caller, "readRuns", runId);
  const { stores } = context;
  const [head, plan, events] = await Promise.all([
    stores.aggregates.loadHead(runId),
    stores.plans.loadPlan(runId),
    stores.events.read(runId, after, limit),
  ]);
  if (head === undefined) throw noRun(runId, undefined);
  if (events.length === 0 && after < head.eventNumber) await requireKeptEvents(context, runId);
  const list = events.map((event) => transitionView(event, head, plan));
  return { runId, list, next: isLastPage(events, limit) ? null : list.at(-1)!.number };
}

function transitionView(event: RunEvent, { origin }: AggregateHead, plan: RunPlan | undefined): TransitionView {
  const { number, timeMs, object, lifecycle, jobId, stepRunId, status, data, pushed } = event;
  const { cause = "", by = "", index: _, jobIndex: _j, runId: _r, ...rest } = data;
  return {
    number,
    time: rfc3339(timeMs),
    object,
    lifecycle,
    status,
    jobId,
    stepRunId,
    name: nameOf(event, plan),
    cause: String(cause),
    by: String(cause === "trigger" ? origin.triggeredBy : by),
    ...rest,
    ...(pushed && { type: pushed.type, ...contentView(pushed) }),
  };
}

/** The name in the plan. */
function nameOf({ object, data }: RunEvent, plan: RunPlan | undefined): string {
  const job = plan?.jobs[Number(object === "step" ? data["jobIndex"] : data["index"])];
  if (object === "pipeline" || job === undefined) return "";
  return object === "job" ? job.name : `${job.name}/${job.steps[Number(data["index"])]?.name ?? ""}`;
}
