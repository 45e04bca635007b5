/** The timeline of a run: every transition with its cause, page by page. */
import { z } from "zod";
import type { RunEvent } from "../../domain/events.ts";
import type { RunId } from "../../domain/ids.ts";
import type { RunPlan } from "../../domain/plan.ts";
import type { AggregateHead } from "../../stores/ports/aggregates.ts";
import { authoriseUser, type Caller } from "../identity/access.ts";
import type { RunsContext } from "./context.ts";
import { requireKeptEvents } from "./kept-parts.ts";
import { noRun } from "../lookups.ts";
import { rfc3339 } from "../times.ts";

const MAX_LIMIT = 1_000;

export const timelineQuery = z.strictObject({
  /** Only transitions with a larger number are listed. */
  after: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(MAX_LIMIT).default(200),
});

export interface TimelineView {
  readonly runId: RunId;
  readonly list: readonly TransitionView[];
  /** The `after` of the next page; null when this page is the last one so far. */
  readonly next: number | null;
}

/** In the order of `number`, which counts the transitions of the run from 1. */
export type TransitionView = ReturnType<typeof transitionView>;

/** Throws `not_found`, also when retention has deleted the events of the run. */
export async function readTimeline(
  context: RunsContext,
  caller: Caller,
  input: z.output<typeof timelineQuery> & { readonly runId: RunId },
): Promise<TimelineView> {
  authoriseUser(caller, "readRuns");
  const { runId, after, limit } = input;
  const { stores } = context;
  const [head, plan, events] = await Promise.all([
    stores.aggregates.loadHead(runId),
    stores.plans.loadPlan(runId),
    stores.events.read(runId, after, limit),
  ]);
  if (head === undefined) throw noRun(runId, undefined);
  if (events.length === 0 && after < head.eventNumber) await requireKeptEvents(context, runId);
  const list = events.map((event) => transitionView(event, head, plan));
  return { runId, list, next: list.length === limit ? list.at(-1)!.number : null };
}

function transitionView(event: RunEvent, { origin }: AggregateHead, plan: RunPlan | undefined) {
  const { number, timeMs, object, lifecycle, jobId, stepRunId, status, data } = event;
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
    cause,
    /** A user's name, an agent's id, or empty. */
    by: cause === "trigger" ? origin.triggeredBy : by,
    ...rest,
  };
}

/** The name in the plan: of a job, or of a step after the name of its job; empty for the run. */
function nameOf({ object, data }: RunEvent, plan: RunPlan | undefined): string {
  const job = plan?.jobs[Number(object === "step" ? data["jobIndex"] : data["index"])];
  if (object === "pipeline" || job === undefined) return "";
  return object === "job" ? job.name : `${job.name}/${job.steps[Number(data["index"])]?.name ?? ""}`;
}
