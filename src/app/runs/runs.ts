/** Lists runs. */
import { z } from "zod";
import type { PipelineId } from "../../domain/ids.ts";
import { RUN_STATUS_CODES, type RunStatus } from "../../domain/status.ts";
import type { Caller } from "../identity/access.ts";
import type { RunsContext } from "./context.ts";
import { reachPipeline } from "../reaching.ts";
import { readAgents } from "../agents/inventory.ts";
import { listFields, type ListView, listView, pageRequest, sortField } from "../lists.ts";
import { type RunView, runView } from "./run-view.ts";

const RUN_STATUSES = Object.keys(RUN_STATUS_CODES) as RunStatus[];

export const listRunsQuery = z.strictObject({
  ...listFields,
  sort: sortField(["createdAt"], "-createdAt"),
  status: z.enum(RUN_STATUSES).optional(),
});

/** The runs of a pipeline. Throws `not_found` for an unknown pipeline. */
export async function listRuns(
  context: RunsContext,
  caller: Caller,
  input: z.output<typeof listRunsQuery> & { readonly pipelineId: PipelineId },
): Promise<ListView<RunView>> {
  const { pipelineId, status } = input;
  await reachPipeline(context, caller, "readRuns", pipelineId);
  const filter = status === undefined ? { pipelineId } : { pipelineId, status };
  const found = await context.stores.aggregates.listRuns(filter, pageRequest(input));
  const now = context.clock.now();
  const waiting = found.list.filter(({ summary }) => summary.waits?.reason === "agent");
  const agents = await readAgents(
    context,
    waiting.map(({ summary }) => summary.projectId),
  );
  return listView(found, input, (head) => runView(head, agents, now));
}
