/** Lists runs. */
import type { AggregateHead } from "../../stores/ports/aggregates.ts";
import { z } from "zod";
import type { PipelineId } from "../../domain/ids.ts";
import { RUN_STATUS_CODES, type RunStatus } from "../../domain/status.ts";
import type { Caller } from "../identity/access.ts";
import type { RunsContext } from "./context.ts";
import { reachPipeline } from "../reaching.ts";
import { readAgents } from "../agents/inventory.ts";
import { afterField, listFields, pageRequest, placedListView, sortField } from "../lists.ts";
import { cursorPageOf } from "../shapes.ts";
import { RunShape } from "./run-shapes.ts";
import { runView } from "./run-view.ts";

const RUN_STATUSES = Object.keys(RUN_STATUS_CODES) as RunStatus[];

export const listRunsQuery = z.strictObject({
  ...listFields,
  sort: sortField(["createdAt"], "-createdAt"),
  status: z.enum(RUN_STATUSES).optional(),
  /** Wins over `page`. */
  after: afterField.optional(),
});

export const RunPageShape = cursorPageOf(RunShape);

/** The runs of a pipeline. Throws `not_found` for an unknown pipeline. */
export async function listRuns(
  context: RunsContext,
  caller: Caller,
  input: z.output<typeof listRunsQuery> & { readonly pipelineId: PipelineId },
): Promise<z.infer<typeof RunPageShape>> {
  const { pipelineId, status, after } = input;
  await reachPipeline(context, caller, "readRuns", pipelineId);
  const filter = status === undefined ? { pipelineId } : { pipelineId, status };
  const found = await context.stores.aggregates.listRuns(filter, { ...pageRequest(input), after });
  const now = context.clock.now();
  const waiting = found.list.filter(({ summary }) => summary.waits?.reason === "agent");
  const agents = await readAgents(
    context,
    waiting.map(({ summary }) => summary.projectId),
  );
  const placeOf = ({ summary, rootId }: AggregateHead) => ({ at: summary.createdAt, id: rootId });
  return placedListView(found, input, placeOf, (head) => runView(head, agents, now));
}
