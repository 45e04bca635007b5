/** Lists of runs in the embedded store. */
import type { ApprovalFilter, RunFilter, RunPage, RunPageRequest } from "../../ports/aggregates.ts";
import { MAX_COUNTED } from "../../ports/pages.ts";
import type { Database, Row } from "../database.ts";
import { readPage } from "../pages.ts";

/** The columns of a head without what it owes: a new run owes several kilobytes, and no list shows them. */
export const LISTED = `root_id, shard, schema, version, final, settled, 0 AS owes, bound, event_number, next_due_at, pipeline_id,
  project_id, status, created_at, started_at, ended_at, waits, origin`;

interface RunRows extends Omit<RunPage, "list"> {
  readonly rows: readonly Row[];
}

/** The rows of the heads of a page. */
export async function listRuns(db: Database, filter: RunFilter, request: RunPageRequest): Promise<RunRows> {
  // A filter by pipeline leaves groups out by itself: their pipeline is empty.
  const { where, values } = whereOf(filter.pipelineId === undefined ? ["pipeline_id <> ''"] : [], filter);
  const list = { table: "aggregates", columns: LISTED, where, values, order: ["created_at", "root_id"] };
  const { rows, total } = await readPage(db, list, request);
  return { rows, total: Math.min(total, MAX_COUNTED), totalIsExact: total <= MAX_COUNTED };
}

/** The condition of rows that meet all of `clauses` and the filter. */
export function whereOf(
  clauses: readonly string[],
  { pipelineId, projectId, projectIds, status }: RunFilter | ApprovalFilter,
): { readonly where: string; readonly values: readonly string[] } {
  const filters = Object.entries({
    "pipeline_id = ?": pipelineId,
    "project_id = ?": projectId,
    "project_id IN (SELECT value FROM json_each(?))": projectIds && JSON.stringify(projectIds),
    "status = ?": status,
  }).flatMap(([clause, value]) => (value === undefined ? [] : [{ clause, value }]));
  const all = [...clauses, ...filters.map(({ clause }) => clause)].join(" AND ");
  return { where: all, values: filters.map(({ value }) => value) };
}
